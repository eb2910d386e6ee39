"""C code that all harts of a cluster run: conditions of their shares, barriers, orders for the DMA engine."""

from __future__ import annotations

import math
from dataclasses import replace

from perfdojo.backends.emission import environment, nested
from perfdojo.backends.scalar import ATOM, ScalarPrinter
from perfdojo.compiler.dtypes import F32, DType
from perfdojo.compiler.emitted import C_TYPES, MARKER
from perfdojo.compiler.ir import CONCURRENT_MARKS, Program
from perfdojo.compiler.lowering.lir import Allocate, Barrier, Const, Copy, For, Function, Share, Value, Wait
from perfdojo.compiler.lowering.nests.limits import TCDM_BYTES
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.walk import scopes

HEADER = "snitch_cluster.h"
STACK_BYTES = 384
"""Of temporaries on the stack of each of several harts, which is 1 KiB."""
BANKS, BANK_BYTES, APART = 32, 8, 4
"""Of the TCDM; copies of a temporary start so many banks apart, where streams of all cores meet in none."""


def target_for(program: Program, target: Target) -> Target:
    """Return the target with the stacks that there are where several harts run a program."""
    shared = any(s.mark in CONCURRENT_MARKS or s.mark == "dma" for s in scopes(program))
    return replace(target, stack_buffer_bytes=STACK_BYTES, stack_bytes=STACK_BYTES) if shared else target


def shares_of(function: Function) -> list[Share]:
    """Return what harts share, in the order of the text."""
    return [s for s in nested(function.body) if isinstance(s, Share)]


def header_text(dma: bool) -> str:
    """Return the text of the header that the code includes."""
    return environment("snitch").get_template(f"{HEADER}.j2").render(marker=MARKER, file=HEADER, dma=dma)


class ClusterPrinter(ScalarPrinter):
    """Prints what `ScalarPrinter` does not know.

    Attributes:
        cores: that call the function.
        dma: the hart of the DMA engine calls it too.
        divides: the FPU does.
    """

    cores = 1
    dma = False
    divides = False

    @property
    def hart(self) -> str:
        """The C variable with the number of the hart."""
        return self.names.give("hart", "hart")

    def start(self) -> str:
        """Return the line that the function begins with."""
        return f"  const int32_t {self.hart} = snitch_hart();"

    def share(self, s: Share) -> tuple[str, list[str]]:
        """Return what stands in front of the brace of a share, and the lines behind it."""
        if s.who == "first":
            return f"if ({self.hart} == 0) ", []
        if s.who == "dma":
            return f"if ({self.hart} == SNITCH_DMA_HART) ", []
        own = []
        for buffer in s.private:
            name, type = self.names.give("buffer", buffer), C_TYPES[self.element_type(buffer).name]
            own.append(f"{type} *restrict const {name} = {self._copies(buffer)}[{self.hart}];")
        return (f"if ({self.hart} < {self.cores}) " if self.dma else ""), own

    def _arithmetic(self, op: str, dtype: DType, args: tuple[Value, ...]) -> tuple[str, int]:
        by = args[-1]
        # gcc multiplies where the divisor is a power of two
        if op != "div" or self.divides or (isinstance(by, Const) and abs(math.frexp(by.value)[0]) == 0.5):
            return super()._arithmetic(op, dtype, args)
        listed = ", ".join(self.value(a) for a in args)
        return f"{'snitch_divf' if dtype == F32 else 'snitch_div'}({listed})", ATOM

    def core_loop(self, s: For) -> str:
        """Return what stands in front of the brace of a loop whose iterations cores share."""
        name = self.names.give("variable", s.var.name)
        stop = self.value(s.stop, 11)
        return f"for ({self.counter} {name} = {self.hart}; {name} < {stop}; {name} += {s.cores}) "

    def order(self, s: Barrier | Wait | Copy) -> str:
        """Return the C statement that all harts, or the DMA engine, are given."""
        if isinstance(s, Barrier):
            return f"snitch_barrier({self.hart if self.dma else ''});"
        if isinstance(s, Wait):
            return "snitch_dma_wait();"
        to, source = self.pointer(s.to, s.to_offset), self.pointer(s.source, s.from_offset)
        return f"snitch_dma_copy({to}, {source}, {s.bytes}, {s.rows}, {s.to_step}, {s.from_step});"

    def static(self, s: Allocate, alignment: int) -> str:
        """Return the line that declares a temporary in static memory, or the copies of all cores.

        What is larger than the TCDM lies in main memory.
        """
        type = C_TYPES[s.dtype.name]
        if s.copies == 1:
            name = self.names.give("buffer", s.buffer)
            far = s.elems * s.dtype.bytes > TCDM_BYTES
            section = '__attribute__((section(".main"))) ' if far else ""
            return f"  static {section}_Alignas({alignment}) {type} {name}[{s.elems}];"
        words = -(-s.elems * s.dtype.bytes // BANK_BYTES)
        words += (APART - words) % BANKS
        elems = words * BANK_BYTES // s.dtype.bytes
        return f"  static _Alignas(64) {type} {self._copies(s.buffer)}[{s.copies}][{elems}];"

    def _copies(self, buffer: str) -> str:
        return self.names.give("copies", f"{self.names.give('buffer', buffer)}_all")
