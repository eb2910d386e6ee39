"""Within straight code: what was stored is not loaded again, and what was computed is not computed again.

A store whose element is loaded later in the same block names its value; the load becomes that name. A temporary
of which no load is left needs no memory, see `dead`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from perfdojo.compiler.lowering.arena import Linear, children
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.hoist import base_name, worth
from perfdojo.compiler.lowering.lir import Call, Const, For, If, Let, Load, Set, Stmt, Store, Value, Var
from perfdojo.compiler.lowering.walk import Body, Facts, lazy_from, names_of, values, with_values
from perfdojo.compiler.ops import REDUCTIONS
from perfdojo.compiler.starts import neutral

Key = tuple[str, int, int, int]


def forwarded(body: Body, context: Context, facts: Facts) -> Body:
    """Return the body with loads of known elements and repeated values replaced by variables."""
    body = _Block(context, facts, _State({}, {}, {}), False).run(body)
    return _Block(context, Facts(context.arena), _State({}, {}, {}), True).run(body)


@dataclass(slots=True)
class _State:
    """What is known at a point of the program.

    Attributes:
        memory: variable or constant that equals an element (or vector of elements) of a buffer.
        names: immutable variable that holds a value, by the id of the value.
        copies: what a variable that was only another name stands for.
    """

    memory: dict[Key, tuple[Linear, Value]]
    names: dict[int, tuple[Value, Var]]
    copies: dict[str, Value]

    def copy(self) -> _State:
        return _State(dict(self.memory), dict(self.names), self.copies)


class _Block:
    """Runs over one block; a nested one starts from a copy of what is known."""

    def __init__(self, context: Context, facts: Facts, state: _State, share: bool) -> None:
        self.context, self.arena, self.facts, self.state = context, context.arena, facts, state
        self.share = share
        self.out: list[Stmt] = []
        self.wanted: set[int] = set()
        self.loaded: set[Key] = set()
        self._done: dict[int, Value] = {}

    def run(self, body: Body) -> Body:
        """Return the block rewritten."""
        self.loaded = {a.key for a in self.facts.accesses(body) if not a.store}
        if self.share:
            self.wanted = _used_twice(body)
        later: set[str] = set()
        suffix: list[set[str]] = []
        for s in reversed(body):
            suffix.append(later)
            sets = names_of((s,))
            later = later | sets if sets else later
        for s, sets in zip(body, reversed(suffix), strict=True):
            self._statement(s, sets)
        return tuple(self.out)

    def _statement(self, s: Stmt, later_sets: set[str]) -> None:
        match s:
            case Let():
                self._let(s, later_sets)
            case Set():
                self.out.append(with_values(s, self._value))
                self._forget_variables((s.var.name,))
            case Store():
                self._store(s, later_sets)
            case For():
                t = with_values(s, self._value)
                effects = self.facts.effects(s)
                self._forget_variables(effects.defined)
                self._forget_buffers(effects.written)
                self.out.append(self._nested(t))
            case If():
                t = with_values(s, self._value)
                effects = self.facts.effects(s)
                self.out.append(self._nested(t))
                self._forget_variables(effects.defined)
                self._forget_buffers(effects.written)
            case _:
                self.out.append(s)

    def _nested(self, s: Stmt) -> Stmt:
        assert isinstance(s, For | If)
        state = self.state.copy()
        if isinstance(s, For) and s.parallel:
            # what is known of memory was stored by this thread; registers are shared between threads
            state.memory = {}
        return replace(s, body=_Block(self.context, self.facts, state, self.share).run(s.body))

    def _let(self, s: Let, later_sets: set[str]) -> None:
        value = self._value(s.value, inside=True)
        if s.mutable:
            self.out.append(Let(s.var, value, True))
            return
        plain = isinstance(value, Const) or (isinstance(value, Var) and value.name not in later_sets)
        if plain:
            self.state.copies[s.var.name] = value
            self._done.clear()
            return
        self.out.append(Let(s.var, value))
        self._name(value, s.var)

    def _name(self, value: Value, var: Var) -> None:
        if not isinstance(value, Const | Var):
            self.state.names[id(value)] = value, var
        if isinstance(value, Load) and value.lane_offset is None:
            key = (value.buffer, id(value.offset), value.type.lanes, id(value.mask))
            self.state.memory[key] = self.arena.linear(value.offset), var
        self._done.clear()

    def _store(self, s: Store, later_sets: set[str]) -> None:
        t = with_values(s, self._value)
        assert isinstance(t, Store)
        key = (t.buffer, id(t.offset), t.value.type.lanes, id(t.mask))
        # the stored value is known by a name when a load wants it; a masked store leaves the other lanes
        wanted = key in self.loaded or (s.buffer, id(s.offset), s.value.type.lanes, id(s.mask)) in self.loaded
        steady = isinstance(t.value, Const) or (isinstance(t.value, Var) and t.value.name not in later_sets)
        if wanted and not steady:
            var = self.arena.var(self.context.fresh(t.buffer), t.value.type)
            self.out.append(Let(var, t.value))
            self._name(t.value, var)
            t = replace(t, value=var)
        self.out.append(t)
        where = self.arena.linear(t.offset)
        self._forget_span(t.buffer, where, t.value.type.lanes)
        if wanted:
            self.state.memory[key] = where, t.value
        self._done.clear()

    # ------------------------------------------------------------ forgetting

    def _forget_variables(self, names: Iterable[str]) -> None:
        gone = frozenset(names)
        state, variables = self.state, self.arena.variables
        state.memory = {
            k: e
            for k, e in state.memory.items()
            if variables(e[1]).isdisjoint(gone) and self._steady(e[0], gone)
        }
        state.names = {
            k: e for k, e in state.names.items() if variables(e[0]).isdisjoint(gone) and e[1].name not in gone
        }
        self._done.clear()

    def _steady(self, form: Linear, gone: frozenset[str]) -> bool:
        return all(self.arena.variables(a).isdisjoint(gone) for a in self.arena.atoms(form))

    def _forget_buffers(self, buffers: Iterable[str]) -> None:
        gone = frozenset(buffers)
        if not gone:
            return
        state, read = self.state, self.arena.buffers
        state.memory = {
            k: e
            for k, e in state.memory.items()
            if k[0] not in gone and all(read(a).isdisjoint(gone) for a in self.arena.atoms(e[0]))
        }
        state.names = {k: e for k, e in state.names.items() if read(e[0]).isdisjoint(gone)}
        self._done.clear()

    def _forget_span(self, buffer: str, where: Linear, lanes: int) -> None:
        """Forget elements that a store may have changed: those not surely apart from its span."""

        def apart(key: Key, form: Linear) -> bool:
            if key[0] != buffer:
                return True
            distance = form.const - where.const
            return form.terms == where.terms and (distance >= lanes or -distance >= key[2])

        state = self.state
        state.memory = {k: e for k, e in state.memory.items() if apart(k, e[0])}
        state.names = {
            k: e
            for k, e in state.names.items()
            if buffer not in self.arena.buffers(e[0]) or self._kept(e[0], apart)
        }

    def _kept(self, value: Value, apart: Callable[[Key, Linear], bool]) -> bool:
        loads = self.facts.loads(value)
        return all(
            load.lane_offset is None
            and apart((load.buffer, 0, load.type.lanes, 0), self.arena.linear(load.offset))
            for load, _ in loads
        )

    # ------------------------------------------------------------ values

    def _value(self, value: Value, inside: bool = False) -> Value:
        """Return the value with what is known put in; repeated parts get a variable in front of the statement.

        With `inside` the value itself gets none, as it is about to be named.
        """
        return self._rewrite(value, True, inside)

    def _rewrite(self, value: Value, certain: bool, whole: bool) -> Value:
        found = self._done.get(id(value))
        if found is not None:
            return found
        if isinstance(value, Var):
            made = self.state.copies.get(value.name, value)
            self._done[id(value)] = made
            return made
        if isinstance(value, Const):
            return value
        lazy = lazy_from(value)
        parts = {id(c): self._rewrite(c, certain and n < lazy, False) for n, c in enumerate(children(value))}
        made = self.arena.rebuild(value, lambda v: None if v is value else parts.get(id(v)), {})
        made = _without_neutral(made)
        known = self._known(made)
        if known is not None:
            self._done[id(value)] = known
            return known
        if certain and not whole and (id(value) in self.wanted or id(made) in self.wanted) and worth(made):
            var = self.arena.var(self.context.fresh(base_name(made)), made.type)
            self.out.append(Let(var, made))
            self._name(made, var)
            self._done[id(value)] = var
            return var
        if certain:
            self._done[id(value)] = made
        return made

    def _known(self, value: Value) -> Value | None:
        named = self.state.names.get(id(value))
        if named is not None:
            return named[1]
        if isinstance(value, Load) and value.lane_offset is None:
            key = (value.buffer, id(value.offset), value.type.lanes, id(value.mask))
            entry = self.state.memory.get(key)
            if entry is not None:
                return entry[1]
        return None


def _without_neutral(value: Value) -> Value:
    """Return `reduce(v)` for `start + reduce(v)` where the start is the neutral element, as it mostly is.

    Sums over lanes exist only where 0 + -0 may be either zero.
    """
    if not isinstance(value, Call) or value.op not in _NEUTRAL or value.type.lanes > 1:
        return value
    first, second = value.args
    if not (isinstance(first, Const) and isinstance(second, Call) and second.op == f"reduce_{value.op}"):
        return value
    start = neutral(_NEUTRAL[value.op], value.type.dtype).value
    return second if first.value == start else value


_NEUTRAL = {op: sign for sign, op in REDUCTIONS.items()}


def _used_twice(body: Body) -> set[int]:
    """Return the values that several places of a block use, each place once for each distinct value around."""
    uses: dict[int, int] = {}
    seen: set[int] = set()

    def visit(v: Value) -> None:
        uses[id(v)] = uses.get(id(v), 0) + 1
        if id(v) in seen:
            return
        seen.add(id(v))
        for c in children(v):
            visit(c)

    for s in body:
        for v in values(s):
            visit(v)
    return {v for v, n in uses.items() if n > 1}
