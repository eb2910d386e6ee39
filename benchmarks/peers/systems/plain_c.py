"""Plain C of the same kernel by gcc -O3 -march=native -ffast-math, one thread, called through ctypes."""

from __future__ import annotations

import ctypes

from benchmarks.baseline import built_library
from benchmarks.naive import FLAGS, naive_sources
from benchmarks.peers.peer import Peer, Prepared, Task
from benchmarks.peers.systems.from_c import loop_in_c
from perfdojo.compiler.bind import bind
from perfdojo.finding import read_kernel
from perfdojo.toolchains.host import find_host


class PlainC(Peer):
    """The loops of the kernel's text; the faster of the two spellings of a reduction."""

    def __init__(self) -> None:
        self.host = find_host()

    def version(self) -> str:
        return f"{self.host.compiler.version} {' '.join(FLAGS)}, one thread"

    def prepare(self, task: Task, threads: int) -> Prepared:
        program = bind(read_kernel(task.benchmark.kernel), task.benchmark.sizes)
        given = {**task.inputs, **dict.fromkeys(task.benchmark.outputs, task.output)}
        buffers = [given[a.name] for a in program.arguments]
        made = []
        for source in naive_sources(program):
            library = built_library("plain", (("plain.c", source),), FLAGS, self.host)
            made.append(loop_in_c(ctypes.CDLL(str(library.path)).perfdojo_call, buffers, self.host))
        call, _ = min(made, key=lambda m: min(m[1](1) for _ in range(3))) if len(made) > 1 else made[0]
        return Prepared(call, lambda: task.output)
