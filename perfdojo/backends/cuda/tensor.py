"""Tensor cores in CUDA C++: matrices of a warp as fragments of nvcuda::wmma."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from perfdojo.backends.names import Names
from perfdojo.compiler.analysis.tensor import DEPTH, SIDE
from perfdojo.compiler.dtypes import BF16, F16, F32, DType
from perfdojo.compiler.lowering.lir import Allocate, Stmt, Stored, Tensor, Value

ALIAS = "namespace wmma = nvcuda::wmma;"
WORDS = ("wmma",)
"""Names in the code of a kernel that uses tensor cores."""
ALIGNED = 32
"""Bytes that arrays with matrices begin at multiples of: load_matrix_sync wants 256 bits."""
_ELEMENTS = {F16: "__half", BF16: "__nv_bfloat16", F32: "float"}
_FACTORS = {**_ELEMENTS, F32: "wmma::precision::tf32"}


class TensorPrinter:
    """Prints the instructions of one kernel.

    Args:
        inside: all statements of it.
        pointer: the C expression of an address.
        value: that of a value.
        constant: a literal of f32.
    """

    def __init__(
        self,
        names: Names,
        elements: Mapping[str, DType],
        inside: Sequence[Stmt],
        pointer: Callable[[str, Value], str],
        value: Callable[[Value], str],
        constant: Callable[[float], str],
    ) -> None:
        self.names, self.elements = names, elements
        self.pointer, self.value, self.constant = pointer, value, constant
        found = [s for s in inside if isinstance(s, Tensor)]
        self._depths = {s.fragment: s.depth for s in found if s.kind == "product"}
        self._factors = {s.fragment: s for s in found if s.kind in ("left", "right")}

    def declaration(self, a: Allocate) -> str:
        """Return the line that declares matrices that a warp holds."""
        load = self._factors.get(a.buffer)
        if load is None:
            depth = self._depths.get(a.buffer, max(DEPTH.values()))
            type = f"accumulator, {SIDE}, {SIDE}, {depth}, float"
        else:
            use, element = "a" if load.kind == "left" else "b", _FACTORS[a.dtype]
            layout = f"wmma::{_order(load.memory[0])}_major"
            type = f"matrix_{use}, {SIDE}, {SIDE}, {load.depth}, {element}, {layout}"
        return f"wmma::fragment<wmma::{type}> {self._array(a.buffer)}[{a.elems}];"

    def lines(self, s: Tensor) -> list[str]:
        """Return the lines of one instruction."""
        held = self._matrix(s.fragment, s.number)
        if s.kind == "fill":
            return [f"wmma::fill_fragment({held}, {self.constant(s.value)});"]
        if s.kind == "product":
            left, right = (self._matrix(*f) for f in s.factors)
            return [f"wmma::mma_sync({held}, {left}, {right}, {held});"]
        (m,) = s.memory
        at = self.pointer(m.buffer, m.offset)
        if s.kind in ("left", "right"):
            return self._factor(held, at, m)
        operands = f"{held}, {at}" if s.kind == "load" else f"{at}, {held}"
        return [f"wmma::{s.kind}_matrix_sync({operands}, {m.step}, wmma::mem_{_order(m)}_major);"]

    def _factor(self, held: str, at: str, m: Stored) -> list[str]:
        dtype = self.elements[m.buffer]
        if dtype != F32:
            return [f"wmma::load_matrix_sync({held}, (const {_ELEMENTS[dtype]} *)({at}), {m.step});"]
        return [
            f"wmma::load_matrix_sync({held}, {at}, {m.step});",
            f"for (int e = 0; e < {held}.num_elements; ++e) {{",
            f"  {held}.x[e] = wmma::__float_to_tf32({held}.x[e]);",
            "}",
        ]

    def _array(self, name: str) -> str:
        return self.names.give("local" if name in self._factors else "buffer", name)

    def _matrix(self, name: str, number: Value) -> str:
        return f"{self._array(name)}[{self.value(number)}]"


def _order(m: Stored) -> str:
    return "row" if m.by_rows else "col"
