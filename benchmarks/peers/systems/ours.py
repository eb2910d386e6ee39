"""Our code: with the shipped schedule, called from Python or from C, and as it is planned without one."""

from __future__ import annotations

import ctypes
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import perfdojo
from benchmarks.baseline import best_target
from benchmarks.buffers import Array
from benchmarks.peers.peer import Peer, Prepared, Task
from benchmarks.peers.systems.from_c import loop_in_c
from benchmarks.schedules import scheduled
from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.verify import verify
from perfdojo.finding import read_kernel
from perfdojo.toolchains.host import build, find_host, shared_library
from perfdojo.toolchains.results import Failure


class Planned(Peer):
    """No schedule; as all our columns that Python calls, through `perfdojo.load(..).on(arrays)`."""

    wants_schedule: ClassVar[bool] = False

    def __init__(self) -> None:
        self.host = find_host()
        self.target = best_target(self.host)

    def version(self) -> str:
        return f"{perfdojo.__version__} for {self.target}, {self.host.compiler.version}"

    def prepare(self, task: Task, threads: int) -> Prepared:
        emitted, note = self.emitted(task, threads)
        with TemporaryDirectory() as folder:
            made = shared_library(emitted, Path(folder) / "kernel.so", self.host)
            if isinstance(made, Failure):
                raise RuntimeError(made.text)
            kernel = perfdojo.load(made)
        arrays = self.arrays(task, emitted)
        return Prepared(kernel.on(*arrays), lambda: task.output, note=note)

    def emitted(self, task: Task, threads: int) -> tuple[EmittedSource, str]:
        """Return the source, and why it is not that of the schedule."""
        program = bind(read_kernel(task.benchmark.kernel), task.benchmark.sizes)
        verify(program)
        if not self.wants_schedule:
            return emit(program, self.target, threads=threads), ""
        made, note = scheduled(program, task.benchmark.kernel, self.target)
        return emit(program, self.target, threads=threads, scheduled=made), note

    @staticmethod
    def arrays(task: Task, emitted: EmittedSource) -> list[Array]:
        """Return the buffers in the order of the arguments and the kernel's shapes: H x W may be one."""
        given = {**task.inputs, **dict.fromkeys(task.benchmark.outputs, task.output)}
        return [given[a.name].reshape(tuple(map(int, a.shape))) for a in emitted.arguments]


class Scheduled(Planned):
    """The shipped schedule; where there is none for the target, or it does not fit, a note says so."""

    wants_schedule = True


class ScheduledFromC(Scheduled):
    """The same, called in a loop in C: what a call from Python costs is not in it."""

    def prepare(self, task: Task, threads: int) -> Prepared:
        emitted, note = self.emitted(task, threads)
        made = build(emitted, self.host)
        if isinstance(made, Failure):
            raise RuntimeError(made.text)
        kernel = ctypes.CDLL(str(made.native)).perfdojo_call
        call, seconds = loop_in_c(kernel, self.arrays(task, emitted), self.host)
        return Prepared(call, lambda: task.output, seconds, note)
