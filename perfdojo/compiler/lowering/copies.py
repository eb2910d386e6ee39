"""@dma scopes: a nest of loops around one copy becomes orders for the DMA engine."""

from __future__ import annotations

from typing import NamedTuple

from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.linear import Linear, plus
from perfdojo.compiler.lowering.lir import (
    INDEX,
    Comment,
    Const,
    Copy,
    For,
    If,
    Load,
    Stmt,
    Store,
    Value,
    Var,
)
from perfdojo.compiler.lowering.nests.limits import TCDM_BYTES
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.walk import const_int


class CopyError(Exception):
    """Says why a scope is no copy for the DMA engine; caught inside lowering."""


def why_not_copied(scope: str, context: Context) -> str:
    """Return why the DMA engine cannot do what a scope does, "" when it can."""
    place = context.program.scopes[scope]
    # a context of its own: names and notes of this trial are not those of the function
    trial = Context(context.program, context.target, context.fp, 1)
    env = {}
    for s in place.around:
        extent = const_int(s.extent)
        env[s.name] = trial.arena.atom(trial.arena.var(s.name, INDEX, (0, extent - 1)))
    try:
        copied(tuple(Scopes(trial).nodes((place.node,), place.around, Frame(env), 1)), trial)
    except CopyError as why:
        return str(why)
    return ""


def why_no_copy(program: Program, scope: str, target: Target) -> str:
    """Return the same for a scope of a program."""
    return why_not_copied(scope, Context(explicit_starts(program), target, "strict", 1))


def copied(code: tuple[Stmt, ...], context: Context) -> tuple[Stmt, ...]:
    """Return the code of a @dma scope as orders for the DMA engine.

    Raises:
        CopyError: it is no copy that the engine can make; says why.
    """
    found = _Copied(context)
    found.look(code)
    if found.store is None:
        raise CopyError("it copies nothing")
    assert isinstance(found.store.value, Load)
    return (*found.comments, *found.orders(found.store, found.store.value))


class _Level(NamedTuple):
    """What one loop adds to the addresses, in elements."""

    to_step: int
    from_step: int
    extent: int
    var: Var


class _Transfer(NamedTuple):
    """Rows at equal distances, in elements, and how many levels, from the innermost on, they take in."""

    row: int
    rows: int
    to_step: int
    from_step: int
    levels: int


def _transfer(levels: list[_Level]) -> _Transfer:
    """Return the largest transfer of one order."""
    row, taken = 1, 0
    # what lies one behind the other in both is one row
    for level in levels:
        if level.to_step != row or level.from_step != row:
            break
        row, taken = row * level.extent, taken + 1
    rows, to_step, from_step = 1, 0, 0
    for level in levels[taken:]:
        steps = level.to_step, level.from_step
        if rows > 1 and steps != (to_step * rows, from_step * rows):
            break
        if rows == 1:
            to_step, from_step = steps
        rows, taken = rows * level.extent, taken + 1
    return _Transfer(row, rows, to_step, from_step, taken)


class _Copied:
    """The one copy of a nest, and the loops around it.

    Attributes:
        loops: (counter, iterations), outermost first.
        conditions: hold where the copy happens; the loops do not change them.
    """

    def __init__(self, context: Context) -> None:
        self.context, self.arena = context, context.arena
        self.loops: list[tuple[Var, int]] = []
        self.conditions: list[Value] = []
        self.comments: list[Stmt] = []
        self.store: Store | None = None

    def look(self, body: tuple[Stmt, ...]) -> None:
        """Find the copy in a body."""
        self.comments += [s for s in body if isinstance(s, Comment)]
        rest = [s for s in body if not isinstance(s, Comment)]
        if len(rest) != 1:
            raise CopyError("it is more than one copy" if rest else "it copies nothing")
        match rest[0]:
            case For(var, Const(start), Const(stop), step, inner) if start == 0 and step == 1:
                self.loops.append((var, int(stop)))
                self.look(inner)
            case If(condition, inner):
                self.conditions.append(condition)
                self.look(inner)
            case Store(_, _, Load(mask=None, lane_offset=None), None) as store:
                self.store = store
            case Store() as store:
                raise CopyError(f"what it writes to {store.buffer} is computed")
            case _:
                raise CopyError("it is no copy")

    def orders(self, store: Store, load: Load) -> list[Stmt]:
        """Return loops around orders for the rows of a copy."""
        arena, to = self.arena, store.buffer
        self._look_at_buffers(to, load.buffer)
        levels = self._levels(store, load)
        transfer = _transfer(levels)
        covered = {level.var.name for level in levels[: transfer.levels]}
        at, origin = (self._at(arena.linear(x.offset), covered) for x in (store, load))
        size = self.context.buffers[to].dtype.bytes
        to_step, from_step = transfer.to_step * size, transfer.from_step * size
        code: list[Stmt] = [
            Copy(to, at, load.buffer, origin, transfer.row * size, transfer.rows, to_step, from_step)
        ]
        for var, n in reversed([loop for loop in self.loops if loop[0].name not in covered]):
            code = [For(var, arena.const(0, INDEX), arena.const(n, INDEX), 1, tuple(code))]
        for condition in reversed(self.conditions):
            code = [If(condition, tuple(code))]
        return code

    def _look_at_buffers(self, to: str, source: str) -> None:
        """Refuse a copy that does not go between main memory and the TCDM."""
        context = self.context
        temporaries = [b for b in (to, source) if context.buffers[b].role == "tmp"]
        if not temporaries:
            raise CopyError(f"neither {source} nor {to} is a temporary, which would lie in the TCDM")
        if any(context.layouts[b].bytes > TCDM_BYTES for b in temporaries):
            raise CopyError(f"{to} or {source} is a temporary that does not fit the TCDM")
        if to == source:
            raise CopyError(f"it copies {to} to itself")

    def _levels(self, store: Store, load: Load) -> list[_Level]:
        """Return what the loops add to both addresses, the smallest step of what is written first."""
        arena, to = self.arena, store.buffer
        inside = {var.name for var, _ in self.loops}
        for condition in self.conditions:
            if not arena.variables(condition).isdisjoint(inside) or arena.buffers(condition):
                raise CopyError("it copies some elements and leaves others out")
        to_steps = self._steps(arena.linear(store.offset), to, inside)
        from_steps = self._steps(arena.linear(load.offset), load.buffer, inside)
        levels = [_Level(to_steps.get(v.name, 0), from_steps.get(v.name, 0), n, v) for v, n in self.loops]
        levels.sort(key=lambda level: level.to_step)
        end = 1
        for level in levels:
            if level.to_step < end:
                text = f"the elements of {to} do not lie apart for all iterations of {level.var.name}"
                raise CopyError(text)
            end = level.to_step * level.extent
        return levels

    def _steps(self, form: Linear, buffer: str, inside: set[str]) -> dict[str, int]:
        """Return what each loop adds to an offset, in elements."""
        found: dict[str, int] = {}
        for number, coefficient in form.terms:
            atom = self.arena.atom_value(number)
            if isinstance(atom, Var) and atom.name in inside:
                found[atom.name] = coefficient
            elif not self.arena.variables(atom).isdisjoint(inside) or self.arena.buffers(atom):
                raise CopyError(f"the address of {buffer} is no sum of iterations times constants")
        return found

    def _at(self, form: Linear, covered: set[str]) -> Value:
        """Return an offset at the first iterations of loops."""
        start = Linear(form.const)
        for number, coefficient in form.terms:
            atom = self.arena.atom_value(number)
            if not (isinstance(atom, Var) and atom.name in covered):
                start = plus(start, self.arena.atom(atom), coefficient)
        return self.arena.offset(start)
