"""What of CuPy is used here, without a GPU: memory of the host, and its clock."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any


class Array:
    def __init__(self, values: Any) -> None:
        self.values = values
        self.data = SimpleNamespace(ptr=values.ctypes.data)

    def __getitem__(self, part: slice) -> Array:
        return Array(self.values[part])

    def get(self) -> Any:
        return self.values


class Device:
    compute_capability = "90"

    def __init__(self, _: int) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class Event:
    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass


class OutOfMemoryError(Exception):
    pass


def asarray(values: Any) -> Array:
    if values.size > 1 << 24:
        raise OutOfMemoryError("more than there is")
    return Array(values.copy())


cuda = SimpleNamespace(
    Device=Device,
    Event=Event,
    get_elapsed_time=lambda a, b: 1e3 * (b.at - a.at),
    get_current_stream=lambda: SimpleNamespace(ptr=7, synchronize=lambda: None),
    runtime=SimpleNamespace(
        getDeviceCount=lambda: 1,
        getDeviceProperties=lambda _: {"name": b"a stand-in"},
        driverGetVersion=lambda: 13020,
    ),
)
