"""What CUDA C++ says otherwise than C: threads, barriers, memory of a block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from perfdojo.backends.cuda.tensor import ALIAS, TensorPrinter
from perfdojo.backends.emission import nested
from perfdojo.backends.names import Names
from perfdojo.backends.scalar import ATOM, ScalarPrinter
from perfdojo.compiler.dtypes import F32, DType
from perfdojo.compiler.emitted import C_TYPES
from perfdojo.compiler.ir import BLOCK
from perfdojo.compiler.lowering.lir import (
    Allocate,
    Barrier,
    Call,
    Copy,
    Kernel,
    Tensor,
    Threads,
    Value,
    Var,
    Wait,
    thread_number,
)

UNITS = {"grid": "blockIdx", "block": "threadIdx"}


_COMBINED = """\
/* of the values of all threads of a warp, in each of them */
static __device__ inline {type} {name}({type} mine) {{
  for (int apart = 16; apart > 0; apart /= 2) {{
    const {type} other = __shfl_xor_sync(0xffffffffu, mine, apart);
    mine = {both};
  }}
  return mine;
}}"""


_WAIT = """\
/* until all that this thread began to copy is there */
static __device__ inline void pd_wait(void) {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}"""

_WIDE = {"f32": "float", "f64": "double", "i32": "int", "i64": "longlong"}


def wide_type(dtype: DType, size: int) -> str:
    """Return the CUDA type of an access of `size` bytes."""
    if dtype.name in _WIDE and size > dtype.bytes:
        return f"{_WIDE[dtype.name]}{size // dtype.bytes}"
    return f"uint{size // 4}" if size > 4 else "uint32_t"


def _operand(pointer: str) -> str:
    return f"({pointer})" if " " in pointer else pointer


class CudaPrinter(ScalarPrinter):
    """Prints what `ScalarPrinter` does not know; `size`: threads of the block along x, y and z."""

    size = (1, 1, 1)
    shared: frozenset[str] = frozenset()
    """Temporaries in shared memory."""
    wide: Mapping[str, int] = MappingProxyType({})
    """Buffers that are accessed several elements at a time: bytes that they begin at multiples of."""
    near: frozenset[str] = frozenset()
    """Buffers in shared memory or of a thread, from which nothing is copied while the thread goes on."""
    alone: frozenset[str] = frozenset()
    """Temporaries of one element, which are variables."""
    tensors: TensorPrinter | None = None
    """Prints what the kernel has tensor cores do, where it has."""

    def __init__(self, names: Names, elements: Mapping[str, DType]) -> None:
        super().__init__(names, elements, None)
        self.unroll = "unroll"
        self.combined: dict[str, str] = {}
        """Functions in which the threads of a warp combine their values, by name."""

    def begin(self, kernel: Kernel) -> list[str]:
        """Return the lines that a kernel begins with: its block's place in the grid, shared memory."""
        inside = nested(kernel.body)
        self.tensors = None
        if any(isinstance(s, Tensor) for s in inside):
            self.tensors = TensorPrinter(
                self.names, self.elements, inside, self.pointer, self.value, lambda x: self.constant(x, F32)
            )
        lines = [f"  {ALIAS}"] if self.tensors else []
        lines += [f"  {self._counter(var.name, dimension)}" for var, dimension, _ in kernel.blocks]
        lines += [f"  __shared__ {self._array(a)};" for a in kernel.shared]
        number = "blockIdx.x + (int64_t)gridDim.x * (blockIdx.y + (int64_t)gridDim.y * blockIdx.z)"
        for a in (a for a in kernel.each if a.copies > 1):
            name, type = self.names.give("buffer", a.buffer), C_TYPES[a.dtype.name]
            lines.append(f"  {type} *const {name} = {self.copies(a)} + ({number}) * {a.elems};")
        return lines

    def _counter(self, var: str, dimension: str) -> str:
        unit, axis = dimension.split("_")
        return f"const {self.counter} {self.names.give('variable', var)} = {UNITS[unit]}.{axis};"

    def numbers(self, body: Iterable[str]) -> list[str]:
        """Return the lines that name the numbers of a thread which a body uses."""
        text = "\n".join(body)
        used = (d for d in BLOCK if re.search(rf"\b{thread_number(d)}\b", text))
        return [f"  {self._counter(thread_number(d), d)}" for d in used]

    def copies(self, a: Allocate) -> str:
        """Return the C variable of the memory that has a copy for each block."""
        return self.names.give("copies", f"{self.names.give('buffer', a.buffer)}_all")

    def _array(self, a: Allocate) -> str:
        align = f"__align__({self.wide[a.buffer]}) " if a.buffer in self.wide else ""
        return f"{align}{C_TYPES[a.dtype.name]} {self.names.give('buffer', a.buffer)}[{a.elems}]"

    def threads(self, s: Threads) -> str:
        """Return the condition under which a thread does something, "" where all do it."""
        there = dict(zip(BLOCK, self.size, strict=True))
        return " && ".join(
            f"threadIdx.{d[-1]} < {n}" if n > 1 else f"threadIdx.{d[-1]} == 0"
            for d, n in s.below
            if n < there[d]
        )

    def stack(self, s: Allocate) -> str:
        """Return the line that declares a temporary of a thread."""
        if s.space == "fragment":
            assert self.tensors is not None
            return self.tensors.declaration(s)
        if s.buffer in self.alone:
            return f"{C_TYPES[s.dtype.name]} {self.names.give('buffer', s.buffer)};"
        return f"{self._array(s)};"

    def _element(self, buffer: str, offset: Value) -> str:
        if buffer in self.alone:
            return self.names.give("buffer", buffer)
        return super()._element(buffer, offset)

    def _call(self, value: Call) -> tuple[str, int]:
        op = value.op.removeprefix("warp_")
        if op == value.op:
            return super()._call(value)
        name, type = f"pd_{value.op}_{value.type.dtype}", value.type
        if name not in self.combined:
            both = self.value(Call(op, (Var("mine", type), Var("other", type)), type))
            self.combined[name] = _COMBINED.format(name=name, type=self.type_name(type), both=both)
        return f"{name}({self.value(value.args[0])})", ATOM

    def tensor(self, s: Tensor) -> list[str]:
        """Return the lines by which a warp does something with matrices that it holds."""
        assert self.tensors is not None
        return self.tensors.lines(s)

    def order(self, s: Barrier | Wait | Copy) -> str:
        """Return the statement at which threads wait, or by which one copies."""
        if isinstance(s, Barrier):
            return "__syncthreads();"
        if isinstance(s, Wait):
            self.combined["pd_wait"] = _WAIT
            return "pd_wait();"
        to, source = self.pointer(s.to, s.to_offset), self.pointer(s.source, s.from_offset)
        if s.asynchronous and s.to in self.shared and s.source not in self.near:
            return f"__pipeline_memcpy_async({to}, {source}, {s.bytes});"
        type = wide_type(self.element_type(s.to), s.bytes)
        return f"*({type} *){_operand(to)} = *(const {type} *){_operand(source)};"
