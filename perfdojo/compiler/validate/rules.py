"""The normal form of one operation whose operands are normal: the rewritings of each level."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.lowering.target import FP_LEVELS, FpLevel
from perfdojo.compiler.validate.draws import REDUCING
from perfdojo.compiler.validate.terms import Terms


class Rules:
    """Builds terms at one level; notes each in `made`."""

    def __init__(self, terms: Terms, level: FpLevel, made: set[int]) -> None:
        self.terms, self.made = terms, made
        self._contract = FP_LEVELS.index(level) >= FP_LEVELS.index("contract")
        self._fast = level == "fast"

    def build(self, op: str, args: Sequence[int]) -> int:
        """Return the normal form of an operation that is no step of a group."""
        name, _, kind = op.partition(".")
        dtype = DTYPES[kind]
        if name in REDUCING:
            plain = self.build(f"{REDUCING[name]}.{kind}", args[:2])
            return plain if len(args) == 2 else self.build(f"select.{kind}", [args[2], plain, args[0]])
        if name == "select" and args[1] == args[2]:
            return args[1]
        if name == "neg" and dtype.is_float:
            # exact at every level
            return self.neg(kind, args)
        if dtype.is_float and self._contract:
            rule = _CONTRACT.get(name) or (_FAST.get(name) if self._fast else None)
            if rule is not None:
                return rule(self, kind, args)
        return self.make(op, *args)

    def make(self, op: str, *args: int) -> int:
        """Return the term of an operation as it is."""
        found = self.terms[(op, *args)]
        self.made.add(found)
        return found

    # ------------------------------------------------------------ contract

    def add(self, kind: str, args: Sequence[int]) -> int:
        """Return a + b, operands sorted."""
        return self.make(f"add.{kind}", *sorted(args))

    def sub(self, kind: str, args: Sequence[int]) -> int:
        """Return a - b as a + -b."""
        return self.add(kind, (args[0], self.neg(kind, args[1:])))

    def neg(self, kind: str, args: Sequence[int]) -> int:
        """Return -a; the sign of a constant belongs to it, and two signs cancel."""
        (arg,) = args
        if arg in self.terms.floats:
            found = self.terms.constant(DTYPES[kind], -self.terms.floats[arg])
            self.made.add(found)
            return found
        op, *inner = self.terms.nodes[arg]
        return inner[0] if op == f"neg.{kind}" else self.make(f"neg.{kind}", arg)

    def mul(self, kind: str, args: Sequence[int]) -> int:
        """Return a * b, operands sorted, signs of the operands in front of the product."""
        found, negative = list(args), False
        for n, arg in enumerate(args):
            op, *inner = self.terms.nodes[arg]
            value = self.terms.floats.get(arg)
            if op == f"neg.{kind}":
                found[n], negative = inner[0], not negative
            elif value is not None and math.copysign(1.0, value) < 0:
                found[n], negative = self.neg(kind, (arg,)), not negative
        product = self.make(f"mul.{kind}", *sorted(found))
        return self.neg(kind, (product,)) if negative else product

    def fma(self, kind: str, args: Sequence[int]) -> int:
        """Return fma(a, b, c) as a * b + c."""
        return self.add(kind, (self.mul(kind, args[:2]), args[2]))

    # ------------------------------------------------------------ fast

    def reciprocal(self, kind: str, arg: int) -> int:
        """Return 1 / b, of a literal as a literal."""
        one = self.terms.constant(DTYPES[kind], 1.0)
        value = self.terms.floats.get(arg)
        if value is not None and value != 0:
            found = self.terms.constant(DTYPES[kind], 1.0 / value)
            self.made.add(found)
            return found
        self.made.add(one)
        return self.make(f"div.{kind}", one, arg)

    def div(self, kind: str, args: Sequence[int]) -> int:
        """Return a / b as a * (1 / b)."""
        inverse = self.reciprocal(kind, args[1])
        if self.terms.floats.get(args[0]) == 1.0:
            return inverse
        return self.mul(kind, (args[0], inverse))

    def rsqrt(self, kind: str, args: Sequence[int]) -> int:
        """Return rsqrt(x) as 1 / sqrt(x)."""
        return self.reciprocal(kind, self.make(f"sqrt.{kind}", *args))


_Rule = Callable[[Rules, str, Sequence[int]], int]
_CONTRACT: dict[str, _Rule] = {
    "add": Rules.add,
    "sub": Rules.sub,
    "neg": Rules.neg,
    "mul": Rules.mul,
    "fma": Rules.fma,
}
_FAST: dict[str, _Rule] = {"div": Rules.div, "rsqrt": Rules.rsqrt}
