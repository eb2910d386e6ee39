"""Target IR values made once each: equal values are one object, and index arithmetic is kept as linear forms.

Passes compare values by identity and remember facts of a value under its `id`, so their cost does not grow
with the depth of expressions. An arena lives as long as one call of `lower`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from perfdojo.compiler.analysis.ranges import Range, dtype_range
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.lowering.linear import Linear, plus, times
from perfdojo.compiler.lowering.lir import INDEX, Call, Const, Load, Value, Var, VType, children

NOTHING: frozenset[str] = frozenset()
INDEX_OPS = frozenset(("iadd", "isub", "imul", "ineg", "idiv", "imod"))


class Arena:
    """Makes values and answers questions about them."""

    def __init__(self) -> None:
        self._values: dict[tuple[object, ...], Value] = {}
        self._types: dict[tuple[str, int], VType] = {("i64", 1): INDEX}
        self._numbers: dict[int, int] = {}
        self._atoms: list[Value] = []
        self._linear: dict[int, Linear] = {}
        self._offsets: dict[Linear, Value] = {}
        self._variables: dict[int, frozenset[str]] = {}
        self._buffers: dict[int, frozenset[str]] = {}
        self._bounds: dict[int, Range] = {}
        self._plain: dict[int, bool] = {}
        self.meaning: dict[str, Value] = {}
        """What immutable variables stand for, where passes need to know: masks."""
        self.ranges: dict[str, Range] = {}
        """Values that loop counters take, by name."""
        self._varying: set[int] = set()
        self._outer: dict[str, Value] = {}
        self.lane = self.var("<lane>", INDEX)
        """Stands for the number of the lane in linear forms; never part of a finished value."""
        self.lane_number = self._number(self.lane)

    # ------------------------------------------------------------ making values

    def type(self, dtype: DType, lanes: int = 1) -> VType:
        """Return the type of `lanes` elements."""
        key = (dtype.name, lanes)
        found = self._types.get(key)
        if found is None:
            found = self._types[key] = VType(dtype, lanes)
        return found

    def var(self, name: str, type: VType, values: Range | None = None) -> Var:
        """Return the variable called `name`; `values` is the range of a loop counter."""
        if values is not None:
            old = self.ranges.get(name, values)
            self.ranges[name] = min(old[0], values[0]), max(old[1], values[1])
        key = ("var", name, type.dtype.name, type.lanes)
        made = self._values.get(key)
        if made is None:
            made = self._values[key] = Var(name, type)
        assert isinstance(made, Var)
        return made

    def const(self, value: int | float | bool, type: VType) -> Value:
        """Return a constant in every lane."""
        bits = struct.pack("d", value) if isinstance(value, float) else value
        kind = value.__class__.__name__
        key = ("const", kind, bits, type.dtype.name, type.lanes)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = Const(value, type)
        return found

    def load(
        self,
        buffer: str,
        offset: Value,
        type: VType,
        mask: Value | None = None,
        lane_offset: Value | None = None,
    ) -> Value:
        """Return the load of `lir.Load`."""
        key = ("load", buffer, id(offset), type.dtype.name, type.lanes, id(mask), id(lane_offset))
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = Load(buffer, offset, type, mask, lane_offset)
        return found

    def call(self, op: str, args: tuple[Value, ...], type: VType) -> Value:
        """Return an operation on values."""
        key = ("call", op, type.dtype.name, type.lanes, *map(id, args))
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = Call(op, args, type)
        return found

    def rebuild(self, value: Value, change: Callable[[Value], Value | None], done: dict[int, Value]) -> Value:
        """Return `value`, subvalues replaced top-down by `change` (None: look inside); `done` remembers."""
        found = done.get(id(value))
        if found is not None:
            return found
        if self.plain(value):
            return value
        made = change(value)
        if made is None:
            made = self.mapped(value, lambda v: self.rebuild(v, change, done))
        done[id(value)] = made
        return made

    def mapped(self, value: Value, change: Callable[[Value], Value]) -> Value:
        """Return `value` with its direct operands changed."""
        if isinstance(value, Call):
            args = tuple(map(change, value.args))
            for a, b in zip(args, value.args, strict=True):
                if a is not b:
                    return self.call(value.op, args, value.type)
            return value
        if isinstance(value, Load):
            offset = change(value.offset)
            mask = None if value.mask is None else change(value.mask)
            lanes = None if value.lane_offset is None else change(value.lane_offset)
            if offset is value.offset and mask is value.mask and lanes is value.lane_offset:
                return value
            return self.load(value.buffer, offset, value.type, mask, lanes)
        return value

    def outer_name(self, value: Value) -> str:
        """Return a name for index arithmetic that is no variable, such as the remainder of a counter."""
        name = f"#{self._number(value)}"
        self._outer[name] = value
        return name

    def outer(self, name: str) -> Value:
        """Return the loop counter called `name`, or the value that `outer_name` gave this name."""
        return self._outer.get(name) or self.var(name, INDEX)

    # ------------------------------------------------------------ questions

    def variables(self, value: Value) -> frozenset[str]:
        """Return the names of the variables in a value."""
        found = self._variables.get(id(value))
        if found is None:
            parts = [self.variables(c) for c in children(value)]
            own = frozenset((value.name,)) if isinstance(value, Var) else NOTHING
            found = self._variables[id(value)] = own.union(*parts) if parts else own
        return found

    def buffers(self, value: Value) -> frozenset[str]:
        """Return the names of the buffers that a value reads."""
        found = self._buffers.get(id(value))
        if found is None:
            parts = [self.buffers(c) for c in children(value)]
            own = frozenset((value.buffer,)) if isinstance(value, Load) else NOTHING
            found = self._buffers[id(value)] = own.union(*parts) if parts else own
        return found

    def plain(self, value: Value) -> bool:
        """Tell whether a value is a constant, a loop counter or arithmetic on them: nothing to share."""
        found = self._plain.get(id(value))
        if found is None:
            if isinstance(value, Call):
                found = value.op in INDEX_OPS and all(map(self.plain, value.args))
            else:
                found = isinstance(value, Const) or (isinstance(value, Var) and value.name in self.ranges)
            self._plain[id(value)] = found
        return found

    def span(self, lanes: int, mask: Value | None) -> int:
        """Return how many neighbouring elements an access in `lanes` lanes may touch."""
        if isinstance(mask, Var):
            mask = self.meaning.get(mask.name)
        if isinstance(mask, Call) and mask.op == "and":
            return min(self.span(lanes, a) for a in mask.args)
        if isinstance(mask, Call) and mask.op == "first" and isinstance(mask.args[0], Const):
            return min(lanes, int(mask.args[0].value))
        return lanes

    # ------------------------------------------------------------ linear forms

    def atom(self, value: Value) -> Linear:
        """Return the linear form 1 * value."""
        return Linear(0, ((self._number(value), 1),))

    def _number(self, value: Value) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._atoms)
            self._atoms.append(value)
            if value is self.lane or value.type.lanes > 1:
                self._varying.add(number)
        return number

    def in_lanes(self, form: Linear) -> bool:
        """Tell whether a linear form differs between lanes."""
        varying = self._varying
        return any(number in varying for number, _ in form.terms)

    def atom_value(self, number: int) -> Value:
        """Return the atom with this number."""
        return self._atoms[number]

    def atoms(self, form: Linear) -> list[Value]:
        """Return the atoms of a linear form."""
        return [self._atoms[n] for n, _ in form.terms]

    def offset(self, form: Linear) -> Value:
        """Return the scalar i64 value of a linear form without lanes."""
        found = self._offsets.get(form)
        if found is None:
            found = self._offsets[form] = self._sum(form)
            self._linear.setdefault(id(found), form)
            self._remember(found, form)
        return found

    def _remember(self, value: Value, form: Linear) -> None:
        """Fill in facts of an offset that its form tells faster than its text."""
        atoms = [self._atoms[n] for n, _ in form.terms]
        if all(isinstance(a, Var) and a.name in self.ranges for a in atoms):
            self._plain[id(value)] = True
            self._buffers[id(value)] = NOTHING
            self._variables[id(value)] = frozenset(a.name for a in atoms if isinstance(a, Var))

    def _sum(self, form: Linear) -> Value:
        const, terms = form.const, form.terms
        total: Value | None = None
        if terms and terms[0][1] < 0:
            # a negative term does not come first when it need not: `j - i` and `9 - i`, not `-i + j`
            terms = tuple(sorted(terms, key=lambda t: t[1] < 0))
            if terms[0][1] < 0 and const > 0:
                const, total = 0, self.const(const, INDEX)
        for number, coefficient in terms:
            term = self._atoms[number]
            if abs(coefficient) != 1:
                term = self.call("imul", (term, self.const(abs(coefficient), INDEX)), INDEX)
            if total is None:
                total = term if coefficient > 0 else self.call("ineg", (term,), INDEX)
            else:
                total = self.call("iadd" if coefficient > 0 else "isub", (total, term), INDEX)
        if total is None:
            return self.const(const, INDEX)
        if const == 0:
            return total
        return self.call("iadd" if const > 0 else "isub", (total, self.const(abs(const), INDEX)), INDEX)

    def linear(self, value: Value) -> Linear:
        """Return the linear form of a scalar i64 value."""
        found = self._linear.get(id(value))
        if found is None:
            found = self._linear[id(value)] = self._parse(value)
        return found

    def _parse(self, value: Value) -> Linear:
        if isinstance(value, Const):
            return Linear(int(value.value))
        if isinstance(value, Call) and value.op in ("iadd", "isub", "imul", "ineg"):
            parts = [self.linear(a) for a in value.args]
            if value.op == "ineg":
                return times(parts[0], -1)
            if value.op != "imul":
                return plus(parts[0], parts[1], 1 if value.op == "iadd" else -1)
            if not parts[1].terms:
                return times(parts[0], parts[1].const)
        return self.atom(value)

    def range(self, form: Linear) -> Range:
        """Return the smallest and the largest value of a linear form, each atom taken by itself."""
        low = high = form.const
        for number, coefficient in form.terms:
            a, b = self.value_range(self._atoms[number])
            low += coefficient * (a if coefficient > 0 else b)
            high += coefficient * (b if coefficient > 0 else a)
        return low, high

    def bound(self, value: Value, found: Range) -> None:
        """Remember bounds of a value that its form does not show, such as promises on elements."""
        self._bounds[id(value)] = found

    def value_range(self, value: Value) -> Range:
        """Return bounds of an integer value, in all its lanes."""
        found = self._bounds.get(id(value))
        if found is not None:
            return found
        if isinstance(value, Const):
            return int(value.value), int(value.value)
        if isinstance(value, Var) and value.name in self.ranges:
            return self.ranges[value.name]
        if isinstance(value, Call) and value.op in ("idiv", "imod", "floordiv", "mod"):
            by = value.args[1]
            if isinstance(by, Const) and by.value > 0:
                low, high = self.range(self.linear(value.args[0]))
                n = int(by.value)
                if value.op in ("idiv", "floordiv"):
                    return low // n, high // n
                return (0, n - 1) if low // n != high // n else (low % n, high % n)
        return dtype_range(value.type.dtype)

    def divide(self, form: Linear, by: int, remainder: bool) -> Linear:
        """Return `form // by` or `form % by`, rounded down, `by` > 1; the form has no lanes."""
        whole = Linear(form.const // by, tuple((n, c // by) for n, c in form.terms if c % by == 0))
        rest = Linear(form.const % by, tuple((n, c) for n, c in form.terms if c % by))
        low, high = self.range(rest)
        if low // by == high // by:
            block = low // by
            return Linear(rest.const - block * by, rest.terms) if remainder else plus(whole, Linear(block))
        plain = low >= 0
        op = ("imod" if plain else "mod") if remainder else ("idiv" if plain else "floordiv")
        atom = self.atom(self.call(op, (self.offset(rest), self.const(by, INDEX)), INDEX))
        return atom if remainder else plus(whole, atom)
