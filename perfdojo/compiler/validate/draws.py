"""Numbers for terms that are used as indices: one assignment to all elements of the arguments."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence

from perfdojo.compiler.dtypes import BOOL, DTYPES, DType
from perfdojo.compiler.ir import Buffer
from perfdojo.compiler.validate.faults import Fault
from perfdojo.compiler.validate.integers import COMPARE, operation, wrap
from perfdojo.compiler.validate.terms import NOTHING, Terms
from perfdojo.compiler.walk import const_int

Number = int | float
TRIES = 200
"""Draws that are tried for one in which a condition has a certain value."""

_FLOAT: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "minnum": min,
    "maxnum": max,
    "fma": lambda a, b, c: a * b + c,
    "sqrt": math.sqrt,
    "rsqrt": lambda a: 1 / math.sqrt(a),
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "erf": math.erf,
    "sin": math.sin,
    "cos": math.cos,
    "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
    "pow": math.pow,
    "floor": lambda a: float(math.floor(a)),
    "ceil": lambda a: float(math.ceil(a)),
    "round": lambda a: float(round(a)),
}
REDUCING = {
    "radd": "add",
    "rmul": "mul",
    "rmax": "max",
    "rmin": "min",
    "rmaxnum": "maxnum",
    "rminnum": "minnum",
}
"""Operations of reduction statements, and the plain operation that each applies.

The operands are the element, the value, and the guard where it depends on data.
"""


class Draw:
    """One assignment, drawn element by element when it is first asked for.

    Terms stay terms; only where one serves as an index, its number is needed. All programs that are
    compared share the draw, so equal elements lead to equal places. Floats are computed as doubles: which
    place an index names is arbitrary here, only that it is the same for the same operations.

    Attributes:
        asked: terms whose numbers the programs took for granted: others may lead other ways.
        leant: conditions among them that left something out.
    """

    def __init__(self, terms: Terms, seed: int, near: Sequence[Number] = ()) -> None:
        """Make a draw; now and then elements are `near` these numbers."""
        self.terms, self._near = terms, near
        self.asked: set[int] = set()
        self.leant: set[int] = set()
        self._random = random.Random(seed)
        self._known: dict[int, Number | None] = {}

    def index(self, term: int) -> int:
        """Return the number of an integer term.

        Raises:
            Fault: it depends on what nothing wrote.
        """
        found = self._known.get(term)
        if found is None:
            found = self.terms.ints.get(term)
            if found is not None:
                return found
            self._evaluate(term)
            found = self._known[term]
        if found is None:
            raise Fault("decides by an element that nothing wrote what it accesses")
        self.asked.add(term)
        return int(found)

    def decides(self, condition: int) -> bool | None:
        """Return what a condition is with these numbers; None where floats, rounded, have a say in it."""
        if not all(t in self.terms.ints or self._exact(t) for t in self._reach((condition,))):
            return None
        self.leant.add(condition)
        return bool(self.index(condition))

    def given(self) -> dict[int, int]:
        """Return the constants that integers and bools among the asked terms, and in them, equal."""
        terms, found = self.terms, dict[int, int]()
        for term in self._reach(self.asked):
            dtype = None if term in terms.ints else self._exact(term)
            number = self._known[term]
            if dtype is not None and number is not None:
                found[term] = terms.constant(dtype, int(number))
        return found

    def numbers_of(self, condition: int) -> list[Number]:
        """Return the constants in a term."""
        reach = self._reach((condition,))
        return [
            v
            for t in sorted(reach)
            for v in (self.terms.ints.get(t), self.terms.floats.get(t))
            if v is not None
        ]

    def _evaluate(self, term: int) -> None:
        for number in sorted(self._reach((term,)) - self._known.keys()):
            self._known[number] = self._number(number)

    def _reach(self, roots: Iterable[int]) -> set[int]:
        found, stack = set[int](), list(roots)
        while stack:
            top = stack.pop()
            if top not in found:
                found.add(top)
                stack.extend(self.terms.nodes[top][1:])
        return found

    def _exact(self, term: int) -> DType | None:
        """Return the type of a term of integers or bools, None for floats."""
        if term < self.terms.symbols:
            dtype = self.terms.element(term)[0].dtype
        else:
            name, _, kind = self.terms.nodes[term][0].partition(".")
            dtype = BOOL if name in COMPARE else DTYPES[kind.partition(" ")[0]]
        return None if dtype.is_float else dtype

    def _number(self, term: int) -> Number | None:
        """Return the number of a term whose operands have theirs; None where it depends on what has none."""
        terms = self.terms
        if term < terms.symbols:
            return self._element(terms.element(term)[0])
        if term in terms.ints:
            return terms.ints[term]
        if term in terms.floats:
            return terms.floats[term]
        op, *operands = terms.nodes[term]
        name, _, kind = op.partition(".")
        args = [self._known[o] for o in operands]
        if name == NOTHING:
            return None
        dtype = DTYPES[kind]
        if name in REDUCING and len(args) == 3:
            guard = args.pop()
            if not guard:
                return None if guard is None else args[0]
        if name == "select":
            return None if args[0] is None else args[1] if args[0] else args[2]
        numbers = [a for a in args if a is not None]
        if len(numbers) < len(args):
            deciding = {"and": 0, "or": 1}.get(name)
            return deciding if deciding in numbers else None
        if name == "cast":
            return _convert(numbers[0], dtype)
        return _apply(REDUCING.get(name, name), dtype, numbers)

    def _element(self, buffer: Buffer) -> Number:
        """Draw an element: in the promised range; else mostly small, so that clamped indices spread."""
        draw, dtype = self._random, buffer.dtype
        near = draw.choice(self._near) if self._near and draw.random() < 0.5 else None
        if dtype.is_float:
            return draw.uniform(-3.0, 20.0) if near is None else near + draw.choice((-0.5, 0, 0.5))
        low, high = int(dtype.smallest), int(dtype.largest)
        if buffer.values is not None:
            low, high = max(low, const_int(buffer.values[0])), min(high, const_int(buffer.values[1]) - 1)
        if near is not None and math.isfinite(near):
            return min(max(int(near) + draw.randint(-1, 1), low), high)
        if buffer.values is not None:
            return draw.randint(low, high)
        if dtype.kind == "bool" or draw.random() < 0.25:
            return draw.randint(low, high)
        return draw.randint(max(low, -3), 20)


def opposite(terms: Terms, condition: int, value: bool, seed: int) -> Draw | None:
    """Return a draw in which a condition has this value; None when none is found."""
    near = Draw(terms, seed).numbers_of(condition)
    for n in range(TRIES):
        draw = Draw(terms, seed + n, near)
        try:
            if bool(draw.index(condition)) == value:
                draw.asked.clear()  # no program asked for it
                return draw
        except Fault:
            continue
    return None


def _apply(name: str, dtype: DType, args: list[Number]) -> Number:
    if name in ("and", "or", "not"):
        return int(not args[0] if name == "not" else all(args) if name == "and" else any(args))
    if name in COMPARE:
        return int(COMPARE[name](*args))
    exact = operation(name, dtype)
    if exact is not None:
        return exact(*args)
    try:
        return _FLOAT[name](*args)
    except (ArithmeticError, ValueError):
        return 0.0


def _convert(value: Number, dtype: DType) -> Number:
    if dtype.is_float:
        return float(value)
    if dtype.kind == "bool" or isinstance(value, int):
        return wrap(int(value != 0), dtype) if dtype.kind == "bool" else wrap(int(value), dtype)
    if math.isnan(value):
        return 0
    low, high = int(dtype.smallest), int(dtype.largest)
    return low if value < low else high if value > high else int(value)
