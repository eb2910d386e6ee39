"""Maxima and minima that keep a NaN, by instructions that drop it: what they are given is looked at beside.

The sum of the squares of all operands is a NaN exactly if one of them is: no square is negative, so
infinities cannot cancel. Of two operands that are compared with each other the product is added: one
instruction for both, whose sum can be a NaN without reason too, where infinities meet zeros or each other. A
nest that finds a NaN has computed garbage, and is run again without streams.
"""

from __future__ import annotations

from perfdojo.compiler.lowering.lir import Call, Const, For, Let, Load, Set, Stmt, Store, Value, Var, VType
from perfdojo.compiler.lowering.nests.limits import ARITHMETIC
from perfdojo.compiler.lowering.nests.tree import Arg, Fixed, Line, NestError, Nodes, Spread

NUMBERS = {"max": "maxnum", "min": "minnum"}
_KEPT = frozenset(("max", "min", "maxnum", "minnum"))
"""Operations that give no NaN where they are given none, or where what they are given is looked at."""
_THROUGH = frozenset(("neg", "abs", "splat"))


Names = frozenset[tuple[bool, str]]
"""Variables (False) and buffers (True)."""


def compares(body: tuple[Stmt, ...]) -> bool:
    """Tell whether there is a maximum or minimum that keeps a NaN in a body.

    Such a body may have to be run a second time, and is to read nothing that it has not written itself of
    what it writes.
    """
    values: dict[tuple[bool, str], list[Value]] = {}
    _collect(body, values)
    return any(_compares(v) for found in values.values() for v in found)


def _compares(v: Value) -> bool:
    return isinstance(v, Call) and (v.op in NUMBERS or any(map(_compares, v.args)))


def never_nan(body: tuple[Stmt, ...]) -> Names:
    """Return the variables and buffers that hold no NaN, provided that no operand of `max` or `min` is one.

    Of a buffer that is written, a nest with such operands reads nothing but what it has written.
    """
    values: dict[tuple[bool, str], list[Value]] = {}
    _collect(body, values)
    found = frozenset(values)
    while True:
        kept = frozenset(name for name in found if all(is_number(v, found) for v in values[name]))
        if kept == found:
            return found
        found = kept


def is_number(v: Value, known: Names) -> bool:
    """Tell whether a value is no NaN where the variables and buffers `known` hold none."""
    if isinstance(v, Const):
        return v.value == v.value
    if isinstance(v, Var):
        return (False, v.name) in known
    if isinstance(v, Load):
        return (True, v.buffer) in known
    if not isinstance(v, Call):
        return False
    if v.op in ("max", "min"):
        return True
    return v.op in (_KEPT | _THROUGH) and all(is_number(a, known) for a in v.args)


def _collect(body: tuple[Stmt, ...], values: dict[tuple[bool, str], list[Value]]) -> None:
    for s in body:
        if isinstance(s, Let | Set):
            values.setdefault((False, s.var.name), []).append(s.value)
        elif isinstance(s, Store):
            values.setdefault((True, s.buffer), []).append(s.value)
        elif isinstance(s, For):
            _collect(s.body, values)


class Checks:
    """The registers in which the products of one nest are summed up, by turns, as each sum takes its time."""

    def __init__(self) -> None:
        self._type: VType | None = None
        self._count = 0

    def line(self, a: Arg, b: Arg, type: VType) -> Line:
        """Return the instruction that looks at two operands, or at one that is both.

        Raises:
            NestError: there is none.
        """
        if isinstance(a, Spread) or isinstance(b, Spread):
            raise NestError("a scalar is compared in all lanes, and would be looked at in none")
        if type.dtype.name not in ("f32", "f64") or self._type not in (None, type):
            raise NestError(f"it looks for NaNs among {type.dtype} and others")
        self._type = type
        name = f"#nan{self._count % ARITHMETIC}"
        self._count += 1
        return Line("fma", type, name, (a, b, name))

    def around(self, nodes: Nodes) -> Nodes:
        """Return a tree with what starts the sums in front, and behind it the test of what they come to."""
        type = self._type
        if type is None:
            return nodes
        names = [f"#nan{k}" for k in range(min(self._count, ARITHMETIC))]
        front = [Line("copy", type, name, (Fixed(0.0, type),)) for name in names]
        back: list[Line] = []
        while len(names) > 1:
            back += [Line("add", type, a, (a, b)) for a, b in zip(names[::2], names[1::2], strict=False)]
            names = names[::2]
        total, lanes = names[0], type.lanes
        if lanes > 1:
            back.append(Line("copy", type, "#nan", (Fixed(0.0, type),)))
            back.append(Line("reduce_add", type, "#nan", (total,)))
            total = "#nan"
        assert lanes <= 2, "two f32 fill a word"
        back.append(Line("nan", VType(type.dtype, 1), "#found", (total,)))
        return (*front, *nodes, *back)
