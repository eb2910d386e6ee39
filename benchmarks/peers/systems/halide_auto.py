"""Halide's autoschedulers: all sizes known, scheduled and compiled ahead of time, the libraries kept."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from benchmarks.buffers import Array
from benchmarks.peers.peer import Peer, Prepared, Task, Unsupported
from benchmarks.peers.systems.halide_kernels import Algorithm

FLOAT_CODE, FLOAT_BITS = 2, 32
"""Of `halide_type_t`."""


class Dimension(ctypes.Structure):
    """`halide_dimension_t` of HalideRuntime.h."""

    _fields_ = (
        ("min", ctypes.c_int32),
        ("extent", ctypes.c_int32),
        ("stride", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    )


class Buffer(ctypes.Structure):
    """`halide_buffer_t`, the type of its elements in three parts."""

    _fields_ = (
        ("device", ctypes.c_uint64),
        ("device_interface", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(Dimension)),
        ("padding", ctypes.c_void_p),
    )


class Adams(Peer):
    """Beam search with a trained model of costs; nothing is measured. It may take minutes."""

    modules = ("halide",)
    distribution = "halide"
    scheduler: ClassVar[str] = "Adams2019"

    def __init__(self) -> None:
        self.halide: Any = import_module("halide")
        found = find_spec("halide")
        assert found
        assert found.origin
        plugin = f"libautoschedule_{self.scheduler.lower()}.so"
        self.halide.load_plugin(str(Path(found.origin).parent / "lib64" / plugin))

    def prepare(self, task: Task, threads: int) -> Prepared:
        name = f"{task.benchmark.name}-{self.scheduler.lower()}-{self.version()}"
        library = Path(os.environ["PERFDOJO_PEERS"]) / "halide" / f"{name}.so"
        begun = library.with_suffix(".begun")
        if not library.exists():
            if begun.exists():
                raise Unsupported(f"given up before, it took too long; without {begun} it is tried again")
            library.parent.mkdir(parents=True, exist_ok=True)
            begun.touch()
            try:
                self._compile(task, library)
            finally:
                begun.unlink()  # it stays where the process is killed
        kernel = ctypes.CDLL(str(library)).kernel
        arrays = [*task.inputs.values(), task.output]
        arguments = [ctypes.byref(_buffer(a)) for a in arrays]
        return Prepared(lambda: kernel(*arguments), lambda: (task.output, arrays)[0])

    def _compile(self, task: Task, library: Path) -> None:
        """Schedule for all cores, for any number of threads: for one the search takes many times longer."""
        hl, inputs = self.halide, task.benchmark.inputs
        images = [hl.ImageParam(hl.Float(32), len(shape), n) for n, shape in inputs.items()]
        out = Algorithm(hl, task.benchmark, images).written()
        for image, shape in zip(images, inputs.values(), strict=True):
            _fix(image, shape)
            for n, extent in enumerate(reversed(shape)):
                image.dim(n).set_estimate(0, extent)
        _fix(out.output_buffer(), task.output.shape)
        out.set_estimates([(0, n) for n in reversed(task.output.shape)])
        pipeline, target = hl.Pipeline(out), hl.get_host_target()
        parameters = hl.AutoschedulerParams(self.scheduler, {"parallelism": str(os.cpu_count())})
        pipeline.apply_autoscheduler(target, parameters)
        with TemporaryDirectory(dir=library.parent) as folder:
            made = Path(folder) / "kernel"
            pipeline.compile_to_static_library(str(made), images, "kernel", target)
            whole = ["-Wl,--whole-archive", f"{made}.a", "-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm"]
            shared = made.with_suffix(".so")
            subprocess.run(["gcc", "-shared", "-o", shared, *whole], check=True, capture_output=True)
            shared.replace(library)


class Mullapudi(Adams):
    """Greedy grouping and tiling with an analytic model."""

    scheduler = "Mullapudi2016"


def _fix(image: Any, shape: Sequence[int]) -> None:
    """Tell Halide the extents and strides, as a user who wants the fastest code does."""
    stride = 1
    for n, extent in enumerate(reversed(shape)):
        image.dim(n).set_bounds(0, extent)
        if n:
            image.dim(n).set_stride(stride)
        stride *= extent


def _buffer(a: Array) -> Buffer:
    """Describe an array as Halide sees it: its last dimension first."""
    steps = [s // a.itemsize for s in a.strides]
    each = [Dimension(0, n, s, 0) for n, s in zip(reversed(a.shape), reversed(steps), strict=True)]
    dims = (Dimension * a.ndim)(*each)
    return Buffer(0, None, a.ctypes.data, 0, FLOAT_CODE, FLOAT_BITS, 1, a.ndim, dims, None)
