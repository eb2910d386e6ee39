"""A function as a straight line of primitive operations, each one instruction on most machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Type = Literal["f32", "i32", "mask"]


@dataclass(frozen=True, slots=True)
class Primitive:
    """Types of the operands and of the result; an `immediate` one has its number in `Step.value`."""

    operands: tuple[Type, ...]
    result: Type
    immediate: bool = False


_F, _I, _M = ("f32",), ("i32",), ("mask",)

PRIMITIVES: dict[str, Primitive] = {
    "const_f32": Primitive((), "f32", immediate=True),
    "const_i32": Primitive((), "i32", immediate=True),
    **{op: Primitive(("f32", "f32"), "f32") for op in ("add", "sub", "mul", "div", "min_raw", "max_raw")},
    "scale": Primitive(("f32", "f32"), "f32"),
    **{op: Primitive(("f32", "f32", "f32"), "f32") for op in ("fma", "fms", "fnma")},
    **{op: Primitive(("f32",), "f32") for op in ("sqrt", "neg", "abs", "round_even", "floor")},
    **{op: Primitive(("f32", "f32"), "mask") for op in ("lt", "le", "gt", "ge", "eq", "ne", "unordered")},
    "select": Primitive(("mask", "f32", "f32"), "f32"),
    "bitcast_f32_i32": Primitive(("f32",), "i32"),
    "bitcast_i32_f32": Primitive(("i32",), "f32"),
    "cvt_f32_i32": Primitive(("f32",), "i32"),
    "cvt_i32_f32": Primitive(("i32",), "f32"),
    **{op: Primitive(("i32", "i32"), "i32") for op in ("add_i32", "sub_i32", "and_i32", "or_i32", "xor_i32")},
    **{op: Primitive(("i32",), "i32", immediate=True) for op in ("shl_i32", "sar_i32", "shr_i32")},
}
"""The primitives. Floats are IEEE 754, rounded to nearest even, subnormals kept; integers wrap.

fma a*b + c, fms a*b - c, fnma c - a*b, each rounded once. min_raw is `a < b ? a : b` and max_raw
`a > b ? a : b`, so the second operand wins when one is NaN. Comparisons with a NaN are false, but for ne and
unordered. select takes its second operand where the mask is set. cvt_X_Y takes X and gives Y, to nearest
even. scale is a 2^b rounded once, b whole; only `scaled` puts it in, for machines that have it. sar keeps the
sign, shr does not.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """`name = op(args)`, or `name = value` for a constant; shifts take their count from `value`."""

    name: str
    op: str
    args: tuple[str, ...] = ()
    value: float | int = 0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Routine:
    """An f32 function of the f32 values `params`; every step has a new name, the last one is the result."""

    name: str
    formula: str
    params: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def result(self) -> str:
        """Name of the result."""
        return self.steps[-1].name

    @property
    def instructions(self) -> int:
        """Number of steps that a machine spends an instruction on: constants and bit casts are free."""
        return sum(not s.op.startswith(("const", "bitcast")) for s in self.steps)
