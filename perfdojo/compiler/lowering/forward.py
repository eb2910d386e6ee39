"""Within straight code: what was stored is not loaded again, what was computed is not computed again.

A store whose element is loaded later in the same block names its value; the load becomes that name. A
temporary of which no load is left needs no memory, see `dead`.
"""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.hoist import base_name, worth
from perfdojo.compiler.lowering.known import Known
from perfdojo.compiler.lowering.lir import (
    Call,
    Const,
    Copy,
    For,
    If,
    Let,
    Set,
    Stmt,
    Store,
    Stream,
    Value,
    Var,
    children,
)
from perfdojo.compiler.lowering.walk import (
    BLOCKS,
    Body,
    Facts,
    Key,
    key_of,
    lazy_from,
    names_of,
    values,
    with_values,
)
from perfdojo.compiler.ops import REDUCTIONS
from perfdojo.compiler.starts import neutral


def forwarded(body: Body, context: Context, facts: Facts) -> Body:
    """Return the body with loads of known elements and repeated values replaced by variables."""
    return _Block(context, facts, Known(context.arena)).run(body)


class _Block:
    """Runs over one block; a nested one starts from a copy of what is known."""

    def __init__(self, context: Context, facts: Facts, known: Known) -> None:
        self.context, self.arena, self.facts, self.known = context, context.arena, facts, known
        self.out: list[Stmt] = []
        self.wanted: set[int] = set()
        self.loaded: set[Key] = set()
        self._done: dict[int, Value] = {}

    def run(self, body: Body) -> Body:
        """Return the block rewritten."""
        self.loaded = {a.key for a in self.facts.accesses(body) if not a.store}
        self.wanted = self._used_twice(body)
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
                self.known.forget_variables(frozenset((s.var.name,)))
            case Store():
                self._store(s, later_sets)
            case For():
                effects = self.facts.effects(s)
                self.known.forget_variables(effects.defined)
                self.known.forget_buffers(effects.written)
                self.out.append(self._nested(s))
            case If():
                t = with_values(s, self._value)
                effects = self.facts.effects(s)
                self.out.append(self._nested(t))
                self.known.forget_variables(effects.defined)
                self.known.forget_buffers(effects.written)
            case Stream():
                self.out.append(with_values(s, self._value))
                self.known.forget_buffers(s.written)
            case Copy():
                self.out.append(with_values(s, self._value))
                self.known.forget_buffers(frozenset((s.to,)))
            case _:
                self.out.append(s)
                return
        self._done.clear()

    def _nested(self, s: Stmt) -> Stmt:
        assert isinstance(s, BLOCKS)
        known = self.known.copy()
        if isinstance(s, For) and s.parallel:
            # registers of the thread that starts the others are not theirs to wait for
            known.memory = {}
        return replace(s, body=_Block(self.context, self.facts, known).run(s.body))

    def _let(self, s: Let, later_sets: set[str]) -> None:
        value = self._rewrite(s.value, True, True)
        if s.mutable:
            self.out.append(s if value is s.value else Let(s.var, value, True))
            return
        if isinstance(value, Const) or (isinstance(value, Var) and value.name not in later_sets):
            self.known.copies[s.var.name] = value
            return
        self.out.append(s if value is s.value else Let(s.var, value))
        self.known.name(value, s.var)

    def _store(self, s: Store, later_sets: set[str]) -> None:
        t = with_values(s, self._value)
        assert isinstance(t, Store)
        key = key_of(t)
        # the stored value gets a name when a load wants it; a register that changes later is none
        wanted = key in self.loaded or key_of(s) in self.loaded
        steady = isinstance(t.value, Const) or (isinstance(t.value, Var) and t.value.name not in later_sets)
        if wanted and not steady:
            var = self.arena.var(self.context.fresh(t.buffer), t.value.type)
            self.out.append(Let(var, t.value))
            self.known.name(t.value, var)
            t = replace(t, value=var)
        self.out.append(t)
        span = self.arena.span(t.value.type.lanes, t.mask)
        self.known.forget_span(t.buffer, self.arena.linear(t.offset), span, self.facts)
        if wanted:
            self.known.element(t, t.value, t.value.type.lanes)

    # ------------------------------------------------------------ values

    def _value(self, value: Value) -> Value:
        """Return the value with what is known put in; repeated parts get a variable before the statement."""
        return self._rewrite(value, True, False)

    def _rewrite(self, value: Value, certain: bool, whole: bool) -> Value:
        """Rewrite a value; `certain`: it is always evaluated; `whole`: it is about to be named."""
        if self.arena.plain(value):
            return value
        found = self._done.get(id(value))
        if found is not None:
            return found
        if isinstance(value, Var):
            return self.known.copies.get(value.name, value)
        lazy = lazy_from(value)
        if lazy > 2:
            made = self.arena.mapped(value, lambda v: self._rewrite(v, certain, False))
        else:
            assert isinstance(value, Call)
            parts = [self._rewrite(c, certain and n < lazy, False) for n, c in enumerate(children(value))]
            made = self.arena.call(value.op, tuple(parts), value.type)
        made = _without_neutral(made)
        known = self.known.find(made)
        if known is None and certain and not whole and id(value) in self.wanted and worth(made):
            known = self.arena.var(self.context.fresh(base_name(made)), made.type)
            self.out.append(Let(known, made))
            self.arena.meaning[known.name] = made
            self.known.name(made, known)
        made = known or made
        if certain and not whole:
            self._done[id(value)] = made
        return made

    def _used_twice(self, body: Body) -> set[int]:
        """Return the values that several places of a block use, equal values being one place."""
        once: set[int] = set()
        twice: set[int] = set()
        stack = [v for s in body for v in values(s)]
        while stack:
            v = stack.pop()
            if self.arena.plain(v):
                continue
            if id(v) in once:
                twice.add(id(v))
                continue
            once.add(id(v))
            stack.extend(children(v))
        return twice


_NEUTRAL = {op: sign for sign, op in REDUCTIONS.items()}


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
