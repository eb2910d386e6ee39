"""Expressions become Python closures: known ones compute integers, all others make terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from perfdojo.compiler.dtypes import BOOL, I64, DType
from perfdojo.compiler.ir import Buffer, Cast, Expr, Iter, Literal, Load, Op
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.validate import forms
from perfdojo.compiler.validate.faults import Fault
from perfdojo.compiler.validate.forms import Known, Open
from perfdojo.compiler.validate.integers import COMPARE, operation, wrap
from perfdojo.compiler.validate.intervals import Intervals
from perfdojo.compiler.validate.terms import Terms

Value = Known | Open
Decides = Callable[[int], bool | None]
Scopes = dict[str, tuple[int, int]]
"""Open scopes: position of the iteration number, and extent."""
LoadOf = Callable[[Load, Buffer, Sequence[Value]], Open]


class Compiler:
    """Turns the expressions of one statement into closures.

    Args:
        now: the iteration numbers, by position.
        load: makes the closure of an access whose indices are done.
        decides: tells what a condition on data is in this run, where that is known.
    """

    def __init__(
        self,
        terms: Terms,
        buffers: dict[str, Buffer],
        scopes: Scopes,
        now: list[int],
        load: LoadOf,
        decides: Decides,
    ) -> None:
        self.terms, self.buffers, self.scopes, self.now, self._load = terms, buffers, scopes, now, load
        self._decides = decides
        self.intervals = Intervals(terms)

    def value(self, e: Expr) -> Value:
        """Return the closure of an expression.

        Raises:
            Fault: the expression has no meaning here.
        """
        if isinstance(e, Literal):
            return self._literal(e)
        if isinstance(e, Iter):
            if e.scope not in self.scopes:
                raise Fault(f"uses {{{e.scope}}} outside of that scope")
            position, extent = self.scopes[e.scope]
            linear = (0, ((position, 1),))
            return Known(I64, 0, extent - 1, forms.sum_of(self.now, *linear), linear)
        if isinstance(e, Load):
            buffer, indices = self.access(e)
            return self._load(e, buffer, indices)
        if isinstance(e, Cast):
            return self._cast(self.value(e.arg), e.dtype)
        if isinstance(e, Op):
            return self._operation(e.op, [self.value(a) for a in e.args])
        raise Fault(f"uses the size {e.name}, which has no number yet")

    def access(self, e: Load) -> tuple[Buffer, list[Value]]:
        """Return the buffer of an access and its indices."""
        if e.buffer not in self.buffers:
            raise Fault(f"uses {e.buffer}, which is not declared")
        buffer = self.buffers[e.buffer]
        if len(e.indices) != len(buffer.shape):
            raise Fault(f"gives {e.buffer} {len(e.indices)} indices; it has {len(buffer.shape)} dimensions")
        indices = [self.value(i) for i in e.indices]
        if not all(i.dtype.is_integer for i in indices):
            raise Fault(f"has an index of {e.buffer} that is no integer")
        return buffer, indices

    def term(self, value: Value) -> Callable[[], int]:
        """Return what makes a term, of a known value too."""
        if isinstance(value, Open):
            return value.value
        number, dtype, constant = value.value, value.dtype, self.terms.constant
        if value.low == value.high:
            only = constant(dtype, value.low)
            return lambda: only
        return lambda: constant(dtype, number())

    # ------------------------------------------------------------ leaves

    def _literal(self, e: Literal) -> Value:
        if not e.dtype.is_float:
            return forms.constant(e.dtype, wrap(int(e.value), e.dtype))
        number = self.terms.constant(e.dtype, e.value)
        return Open(e.dtype, lambda: number)

    def _cast(self, arg: Value, dtype: DType) -> Value:
        if arg.dtype == dtype:
            return arg
        if isinstance(arg, Known) and not dtype.is_float:
            return forms.convert(arg, dtype)
        make, terms, key = self.term(arg), self.terms, f"cast.{dtype.name}"
        values, whole = terms.ints, not dtype.is_float
        floats = {} if whole else terms.floats

        def run() -> int:
            a = make()
            if whole and a in values:
                return terms.constant(dtype, wrap(values[a], dtype))
            if a in floats:  # rounded once, as the conversion is
                return terms.constant(dtype, floats[a])
            return terms[(key, a)]

        return Open(dtype, run)

    # ------------------------------------------------------------ operations

    def _operation(self, name: str, args: list[Value]) -> Value:
        info = OPS.get(name)
        if info is None or len(args) != info.arity:
            raise Fault(f"has an operation '{name}' on {len(args)} operands, which the language lacks")
        dtype = args[-1].dtype
        if any(a.dtype is not dtype and a.dtype != dtype for a in args[name == "select" :]):
            raise Fault(f"mixes the types {', '.join(str(a.dtype) for a in args)} in '{name}'")
        if (name == "select" and args[0].dtype != BOOL) or not _takes(info.rule, dtype):
            raise Fault(f"has '{name}' on {dtype}")
        if name == "select":
            return self._select(args)
        if name in ("and", "or"):
            return self._logic(name, args)
        if name == "not":
            return self._not(args[0])
        known = [a for a in args if isinstance(a, Known)]
        if len(known) == len(args):
            return self._known(name, dtype, known)
        return self._open(name, dtype, [self.term(a) for a in args])

    def _known(self, name: str, dtype: DType, args: list[Known]) -> Value:
        if name in COMPARE:
            compare, left, right = COMPARE[name], args[0].value, args[1].value
            return Known(BOOL, 0, 1, lambda: compare(left(), right()))
        found = forms.apply(self.now, name, dtype, args)
        assert found is not None, name
        return found

    def _open(self, name: str, dtype: DType, args: list[Callable[[], int]]) -> Open:
        terms, key = self.terms, f"{name}.{dtype.name}"
        result = BOOL if name in COMPARE else dtype
        exact, values, constant = operation(name, dtype), terms.ints, terms.constant
        if len(args) == 1:
            (only,) = args
            if exact is None:
                return Open(result, lambda: terms[(key, only())])
            fold = exact

            def unary() -> int:
                a = only()
                return constant(result, fold(values[a])) if a in values else terms[(key, a)]

            return Open(result, unary)
        if len(args) == 2:
            left, right = args
            if exact is None:
                return Open(result, lambda: terms[(key, left(), right())])
            both, compared = exact, name in COMPARE and dtype.is_integer

            def binary() -> int:
                a, b = left(), right()
                if a in values and b in values:
                    return constant(result, both(values[a], values[b]))
                if compared:
                    decided = self.intervals.decided(name, dtype, a, b)
                    if decided is not None:
                        return constant(BOOL, decided)
                return terms[(key, a, b)]

            return Open(result, binary)
        first, second, third = args
        return Open(result, lambda: terms[(key, first(), second(), third())])

    def _select(self, args: list[Value]) -> Value:
        condition, yes, no = args
        if isinstance(condition, Known):
            decide, left, right = condition.value, yes.value, no.value
            if isinstance(yes, Known) and isinstance(no, Known):
                low, high = min(yes.low, no.low), max(yes.high, no.high)
                return Known(yes.dtype, low, high, lambda: left() if decide() else right())
            left, right = self.term(yes), self.term(no)
            return Open(yes.dtype, lambda: left() if decide() else right())
        left, right, test = self.term(yes), self.term(no), condition.value
        terms, key, true, false = self.terms, f"select.{yes.dtype.name}", self.terms.true, self.terms.false

        def run() -> int:
            c = test()
            if c == true:
                return left()
            if c == false:
                return right()
            try:
                a = left()
            except Fault:
                if self._decides(c) is not False:
                    raise
                return right()
            try:
                b = right()
            except Fault:
                if self._decides(c) is not True:
                    raise
                return a
            return a if a == b else terms[(key, c, a, b)]

        return Open(yes.dtype, run)

    def _logic(self, name: str, args: list[Value]) -> Value:
        a, b = args
        if isinstance(a, Known) and isinstance(b, Known):
            one, two = a.value, b.value
            if name == "and":
                return Known(BOOL, 0, 1, lambda: one() and two())
            return Known(BOOL, 0, 1, lambda: one() or two())
        left, right = self.term(a), self.term(b)
        terms, key = self.terms, f"{name}.bool"
        deciding, other = (terms.false, terms.true) if name == "and" else (terms.true, terms.false)

        def run() -> int:
            x = left()
            if x == deciding:
                return x
            try:
                y = right()
            except Fault:
                if self._decides(x) is not (name == "or"):
                    raise
                return deciding
            if x == other or y == deciding:
                return y
            return x if y == other else terms[(key, x, y)]

        return Open(BOOL, run)

    def _not(self, arg: Value) -> Value:
        if isinstance(arg, Known):
            number = arg.value
            return Known(BOOL, 0, 1, lambda: not number())
        make, terms, true, false = arg.value, self.terms, self.terms.true, self.terms.false

        def run() -> int:
            c = make()
            return false if c == true else true if c == false else terms[("not.bool", c)]

        return Open(BOOL, run)


def _takes(rule: str, dtype: DType) -> bool:
    """Tell whether operations of a rule take operands of a type."""
    if rule == "float":
        return dtype.is_float
    if rule == "integer":
        return dtype.is_integer
    if rule == "number":
        return dtype.kind != "bool"
    return dtype.kind == "bool" if rule == "logic" else True
