"""Numbers for terms that are used as indices: one assignment to all elements of the arguments."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from perfdojo.compiler.dtypes import DTYPES, DType
from perfdojo.compiler.ir import Buffer
from perfdojo.compiler.validate.integers import COMPARE, operation, wrap
from perfdojo.compiler.validate.terms import Terms
from perfdojo.compiler.walk import const_int

Number = int | float

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
        used: whether any index was asked for, so that other draws may take other ways.
    """

    def __init__(self, terms: Terms, seed: int) -> None:
        self.terms, self.used = terms, False
        self._random = random.Random(seed)
        self._known: dict[int, Number] = {}

    def index(self, term: int) -> int:
        """Return the number of an integer term."""
        found = self._known.get(term)
        if found is None:
            found = self.terms.ints.get(term)
            if found is not None:
                return found
            self._evaluate(term)
            found = self._known[term]
        self.used = True
        return int(found)

    def _evaluate(self, term: int) -> None:
        todo, stack = set[int](), [term]
        while stack:
            top = stack.pop()
            if top in todo or top in self._known:
                continue
            todo.add(top)
            stack.extend(self.terms.nodes[top][1:])
        for number in sorted(todo):
            self._known[number] = self._number(number)

    def _number(self, term: int) -> Number:
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
        dtype = DTYPES[kind]
        if name in REDUCING and len(args) == 3 and not args.pop():
            return args[0]
        if name == "select":
            return args[1] if args[0] else args[2]
        if name == "cast":
            return _convert(args[0], dtype)
        return _apply(REDUCING.get(name, name), dtype, args)

    def _element(self, buffer: Buffer) -> Number:
        """Draw an element: in the promised range; else mostly small, so that clamped indices spread."""
        draw, dtype = self._random, buffer.dtype
        if dtype.is_float:
            return draw.uniform(-3.0, 20.0)
        low, high = int(dtype.smallest), int(dtype.largest)
        if buffer.values is not None:
            return draw.randint(
                max(low, const_int(buffer.values[0])), min(high, const_int(buffer.values[1]) - 1)
            )
        if dtype.kind == "bool" or draw.random() < 0.25:
            return draw.randint(low, high)
        return draw.randint(max(low, -3), 20)


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
