"""What CUDA C++ says otherwise than C: threads, barriers, memory of a block."""

from __future__ import annotations

from collections.abc import Mapping

from perfdojo.backends.names import Names
from perfdojo.backends.scalar import ScalarPrinter
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.emitted import C_TYPES
from perfdojo.compiler.lowering.lir import Allocate, Barrier, Copy, Kernel, Threads, Var, Wait

UNITS = {"grid": "blockIdx", "block": "threadIdx"}


class CudaPrinter(ScalarPrinter):
    """Prints what `ScalarPrinter` does not know; `size`: threads of the block along x, y and z."""

    size = (1, 1, 1)

    def __init__(self, names: Names, elements: Mapping[str, DType]) -> None:
        super().__init__(names, elements, None)
        self.unroll = "unroll"

    def begin(self, kernel: Kernel) -> list[str]:
        """Return the lines that a kernel begins with: its block's place in the grid, shared memory."""
        lines = [f"  {self._counter(var, dimension)}" for var, dimension, _ in kernel.blocks]
        lines += [f"  __shared__ {self._array(a)};" for a in kernel.shared]
        number = "blockIdx.x + (int64_t)gridDim.x * (blockIdx.y + (int64_t)gridDim.y * blockIdx.z)"
        for a in (a for a in kernel.each if a.copies > 1):
            name, type = self.names.give("buffer", a.buffer), C_TYPES[a.dtype.name]
            lines.append(f"  {type} *const {name} = {self.copies(a)} + ({number}) * {a.elems};")
        return lines

    def _counter(self, var: Var, dimension: str) -> str:
        unit, axis = dimension.split("_")
        name = self.names.give("variable", var.name)
        return f"const {self.counter} {name} = {UNITS[unit]}.{axis};"

    def copies(self, a: Allocate) -> str:
        """Return the C variable of the memory that has a copy for each block."""
        return self.names.give("copies", f"{self.names.give('buffer', a.buffer)}_all")

    def _array(self, a: Allocate) -> str:
        return f"{C_TYPES[a.dtype.name]} {self.names.give('buffer', a.buffer)}[{a.elems}]"

    def threads(self, s: Threads) -> str:
        """Return what stands in front of the brace of what threads do."""
        axes = {d.split("_")[1]: n for _, d, n in s.scopes}
        tests = []
        for axis, there in zip("xyz", self.size, strict=True):
            needed = axes.get(axis, 1)
            if needed < there:
                tests.append(f"threadIdx.{axis} < {needed}" if needed > 1 else f"threadIdx.{axis} == 0")
        return f"if ({' && '.join(tests)}) " if tests else ""

    def counters(self, s: Threads) -> list[str]:
        """Return the lines that give each thread its iterations."""
        return [self._counter(var, dimension) for var, dimension, _ in s.scopes]

    def stack(self, s: Allocate) -> str:
        """Return the line that declares a temporary of a thread."""
        return f"{self._array(s)};"

    def order(self, s: Barrier | Wait | Copy) -> str:
        """Return the statement at which all threads of a block wait for each other."""
        assert isinstance(s, Barrier), s
        return "__syncthreads();"
