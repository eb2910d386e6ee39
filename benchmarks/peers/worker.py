"""The process of one system: told over a pipe what to prepare and when to run, it answers with times.

    python -m benchmarks.peers.worker SYSTEM THREADS CPU,CPU...

One JSON object a line each way. Only NumPy and the system are imported here, in the interpreter of that
system's environment.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.buffers import aligned
from benchmarks.peers.peer import Peer, Prepared, Task, Unsupported
from benchmarks.peers.references import TOLERANCE, WRONG, error
from benchmarks.peers.registry import find, load
from benchmarks.suite import named

SAMPLE_S = 1e-4
"""A sample is as many calls as take this long."""

WARM_UP = 0.25
"""Part of a slot before its samples are taken."""

SETTLE_S, SETTLED, FEW_PAGES = 2.0, 3, 16
"""Memory has settled after so many calls in a row that touch fewer new pages; at most so many seconds."""

LONG_S = 0.2
"""A call that takes longer is not warmed up for."""

LONGEST_TEXT = 300
"""Letters of what an exception says; the end is the cause."""


Answer = dict[str, Any]


def main(arguments: list[str]) -> None:
    """Answer until the pipe is closed."""
    name, threads, cpus = arguments[0], int(arguments[1]), set(map(int, arguments[2].split(",")))
    os.sched_setaffinity(0, cpus)  # before the import: pools of threads are made as large as this
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a system prints is not an answer
    service = Service(name, threads)
    actions: dict[str, Callable[..., Answer]] = {
        "prepare": service.prepare,
        "run": service.run,
        "drop": service.drop,
    }
    told = attempted(service.start)
    print(json.dumps(told), file=answers, flush=True)
    for line in sys.stdin if told["ok"] else ():
        asked = json.loads(line)
        action = actions[asked.pop("do")]
        print(json.dumps(attempted(action, **asked)), file=answers, flush=True)


def attempted(action: Callable[..., Answer], **asked: Any) -> Answer:
    """Return what an action tells, or why it failed: a system may fail in any way."""
    try:
        return {"ok": True, **action(**asked)}
    except Unsupported as reason:
        return {"ok": False, "why": f"no way to do it: {reason}"}
    except Exception as failure:
        text = " ".join(str(failure).split())[-LONGEST_TEXT:]
        return {"ok": False, "why": f"{type(failure).__name__}: {text}"}


class Service:
    """What a worker does when asked, each answer a dictionary."""

    def __init__(self, name: str, threads: int) -> None:
        self.name, self.threads = name, threads
        self.peer: Peer
        self.prepared: Prepared | None = None

    def start(self) -> Answer:
        self.peer = load(find(self.name))()
        return {"version": self.peer.version()}

    def prepare(self, benchmark: str, folder: str) -> Answer:
        """Prepare a kernel, run it and compare the result with the reference."""
        b = named(benchmark)
        inputs = {n: aligned(np.load(Path(folder) / f"{n}.npy", mmap_mode="r")) for n in b.inputs}
        (shape,) = b.outputs.values()
        task = Task(b, inputs, aligned(np.full(shape, np.nan, np.float32)))
        start = time.perf_counter()
        prepared = self.peer.prepare(task, self.threads)
        prepared.call()
        took = time.perf_counter() - start
        worst = error(prepared.result(), np.load(Path(folder) / "expected.npy"))
        if not worst <= TOLERANCE:
            raise ArithmeticError(f"{WRONG}, error {worst:.2g} of the largest value")
        self.prepared = prepared
        settle(prepared.call)
        once = timed(prepared, 1)
        return {"prepare_s": took, "call_s": once, "error": worst, "note": prepared.note}

    def run(self, slot_s: float) -> Answer:
        assert self.prepared
        return {"seconds": slot(self.prepared, slot_s)}

    def drop(self) -> Answer:
        """Free what the last kernel took, for the memory of the others."""
        self.prepared = None
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        return {}


def settle(call: Callable[[], object]) -> None:
    """Call until new pages are touched no more: a system that allocates its results does so for some time."""
    quiet, end = 0, time.monotonic() + SETTLE_S
    while quiet < SETTLED and time.monotonic() < end:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        call()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        quiet = quiet + 1 if faults < FEW_PAGES else 0


def timed(prepared: Prepared, calls: int) -> float:
    """Return the seconds of one call, of so many in a row."""
    if prepared.seconds:
        return prepared.seconds(calls) / calls
    call = prepared.call
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def slot(prepared: Prepared, slot_s: float) -> float:
    """Run for a slot and return the median time of a call; of a single one where that takes longer.

    The first quarter warms up: other processes had the caches, clocks and pools of threads are slow to rise.
    """
    once = timed(prepared, 1)
    if once > LONG_S:
        return once
    begin = time.perf_counter()
    while time.perf_counter() < begin + WARM_UP * slot_s:
        once = timed(prepared, calls_for(once))
    calls = calls_for(once)
    samples: list[float] = []
    while not samples or time.perf_counter() < begin + slot_s:
        samples.append(timed(prepared, calls))
    return float(np.median(samples))


def calls_for(once_s: float) -> int:
    """Return how many calls make a sample."""
    return max(1, round(SAMPLE_S / max(once_s, 1e-9)))


if __name__ == "__main__":
    with suppress(BrokenPipeError, KeyboardInterrupt):
        main(sys.argv[1:])
