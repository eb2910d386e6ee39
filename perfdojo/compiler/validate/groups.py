"""Which terms are steps of sums, products, minima and maxima of any number of operands."""

from __future__ import annotations

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.validate.draws import REDUCING
from perfdojo.compiler.validate.terms import Terms

_NUMBERS = {"rminnum": "minnum*", "rmaxnum": "maxnum*"}
_INTEGERS = {"add": "sum", "sub": "sum", "neg": "sum", "mul": "prod", "min": "min*", "max": "max*"}
_REDUCTIONS = {"radd": "sum", "rmul": "prod", "rmin": "min*", "rmax": "max*", **_NUMBERS}
_FLOATS = {"add": "sum", "sub": "sum", "fma": "sum", "mul": "prod", "min": "min*", "max": "max*"}
_FLOATS |= {"minnum": "minnum*", "maxnum": "maxnum*"}


class Groups:
    """The groups of one program's terms.

    Args:
        free: whether reductions of floats may be reordered.
        transformed: whether any operation on floats may be a step of a reduction of the original.
    """

    def __init__(self, terms: Terms, free: bool, transformed: bool) -> None:
        self.terms, self._free, self._transformed = terms, free, transformed
        self._known: dict[str, str] = {}

    def of(self, term: int) -> str:
        """Return the group that a term is a step of, `sum.f32` for instance; "" when it is none."""
        op = self.terms.nodes[term][0]
        found = self._known.get(op)
        if found is None:
            found = self._known[op] = self._find(op)
        return f"sum.{op.partition('.')[2]}" if not found and self.guarded(term) is not None else found

    def _find(self, op: str) -> str:
        name, _, kind = op.partition(".")
        if name in ("and", "or"):
            return f"{name}*.{kind}"
        dtype = DTYPES.get(kind)
        if dtype is None:
            return ""
        if not dtype.is_float:
            found = _INTEGERS.get(REDUCING.get(name, name), "")
        else:
            found = _REDUCTIONS.get(name, "") if self._free else ""
            if self._free and self._transformed:
                found = found or _FLOATS.get(name, "")
        return f"{found}.{kind}" if found else ""

    def guarded(self, term: int) -> list[int] | None:
        """Return x, or the factors of x, of `g ? s + x : s` where that may be a step of a reduction."""
        op, *args = self.terms.nodes[term]
        if not (self._free and self._transformed and op.startswith("select.") and self.is_float(op)):
            return None
        step, *operands = self.terms.nodes[args[1]]
        if args[2] not in operands:
            return None
        if step.startswith("add."):
            operands.remove(args[2])
            return operands
        return operands[:2] if step.startswith("fma.") and operands[2] == args[2] else None

    def continues(self, term: int, place: int) -> bool:
        """Tell whether operand `place` of a step belongs to the group when it is a step of it itself."""
        op, *args = self.terms.nodes[term]
        name = op.partition(".")[0]
        if name == "fma":
            return place == 2
        if name == "select":
            return place > 0
        if name in REDUCING:
            return place == 0 or (place == 1 and len(args) == 2)
        return name != "sub" or place == 0 or not self.is_float(op)

    def is_float(self, op: str) -> bool:
        """Tell whether an operation is one on floats."""
        return DTYPES[op.partition(".")[2]].is_float
