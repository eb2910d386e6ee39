"""What lowering and planning need to know about a target: its description, told by the backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from perfdojo.compiler.dtypes import DType

FpLevel = Literal["strict", "contract", "reassoc", "fast"]
FP_LEVELS: tuple[FpLevel, ...] = ("strict", "contract", "reassoc", "fast")


@dataclass(frozen=True, slots=True)
class Target:
    """A machine that code is emitted for.

    Attributes:
        vector_bits: width of a vector register; 0 when there is none.
        registers: number of vector registers.
        masked_memory: loads and stores take lane masks cheaply, so tails are masked; else tails are scalar.
        supports: tells whether `op` exists for an element type in `lanes` lanes. `op` is an operation of
            `lir.Call` (comparisons and select: asked with the type of their numbers; and, or, not of masks:
            with bool), "load", "store", "stream" (a store past the caches), "masked_load", "masked_store",
            "gather", "masked_gather" (asked with the type in memory), or "cast:<from>" (asked with the type
            of the result; <from> is bool for a mask). Lowering leaves a scope scalar when something in it is
            not supported.
        features: CPU flags that the emitted code needs, as /proc/cpuinfo names them.
        marks: ways to run a scope that it has hardware and code for; moves give no others.
        spaces: memory spaces for temporaries that it has; moves choose no others.
        isa: extensions that differ from those of its default machine, as they were asked for.
        machine: the kind of machine that runs it, as `uname -m` prints it; "" where any does.
        compilers: which take its C code, in words, where that is not gcc alone.
        min_lanes: fewer are not worth a vector.
        accumulates: a multiply-add in lanes adds to its own register; two operations may be shorter.
        half_lanes: f16 is computed in lanes of 16 bits, not as f32.
        stack_buffer_bytes, stack_bytes: limits of one temporary and of all together on the stack; threads
            of a host have 2 MiB or more (glibc: 8 MiB).
        shared_bytes: of the shared memory of a block of a GPU.
        cores: that run a function together and share its @core scopes.
        wide_copies: a @vector scope is one access of several elements, copied by one thread; @async ones too.
        rolls: its compiler writes out loops that it is told to, so that the code need not.
    """

    name: str
    title: str
    vector_bits: int
    registers: int
    masked_memory: bool
    supports: Callable[[str, DType, int], bool]
    features: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset(("parallel", "unroll"))
    spaces: frozenset[str] = frozenset(("heap", "stack"))
    machine: str = ""
    compilers: str = ""
    isa: str = ""
    min_lanes: int = 4
    half_lanes: bool = False
    accumulates: bool = False
    stack_buffer_bytes: int = 16 << 10
    stack_bytes: int = 256 << 10
    shared_bytes: int = 0
    cores: int = 1
    wide_copies: bool = False
    rolls: bool = False

    @property
    def spelled(self) -> str:
        """The name with the extensions behind a colon, as targets are asked for."""
        return f"{self.name}:{self.isa}" if self.isa else self.name


def at_least(level: FpLevel, needed: FpLevel) -> bool:
    """Tell whether floating-point level `level` allows what `needed` allows."""
    return FP_LEVELS.index(level) >= FP_LEVELS.index(needed)
