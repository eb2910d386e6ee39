"""@dma scopes: a nest of loops around one copy becomes orders for the DMA engine."""

from __future__ import annotations

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
        context, arena = self.context, self.arena
        to, source = store.buffer, load.buffer
        if all(context.buffers[b].role != "tmp" for b in (to, source)):
            raise CopyError(f"neither {source} nor {to} is a temporary, which would lie in the TCDM")
        if any(
            context.layouts[b].bytes > TCDM_BYTES for b in (to, source) if context.buffers[b].role == "tmp"
        ):
            raise CopyError(f"{to} or {source} is a temporary that does not fit the TCDM")
        if to == source:
            raise CopyError(f"it copies {to} to itself")
        size = context.buffers[to].dtype.bytes
        inside = {var.name for var, _ in self.loops}
        for condition in self.conditions:
            if not arena.variables(condition).isdisjoint(inside) or arena.buffers(condition):
                raise CopyError("it copies some elements and leaves others out")
        to_steps = self._steps(arena.linear(store.offset), to, inside)
        from_steps = self._steps(arena.linear(load.offset), source, inside)
        levels = sorted(
            ((to_steps.get(v.name, 0), from_steps.get(v.name, 0), n, v) for v, n in self.loops),
            key=lambda level: level[0],
        )
        end = 1
        for step, _, n, v in levels:
            if step < end:
                raise CopyError(f"the elements of {to} do not lie apart for all iterations of {v.name}")
            end = step * n
        row, first = 1, 0
        # what lies one behind the other in both is one row
        for step, other, n, _ in levels:
            if step != row or other != row:
                break
            row, first = row * n, first + 1
        rows, to_step, from_step = 1, 0, 0
        for step, other, n, _ in levels[first:]:
            if rows > 1 and (step, other) != (to_step * rows, from_step * rows):
                break
            to_step, from_step = (step, other) if rows == 1 else (to_step, from_step)
            rows, first = rows * n, first + 1
        covered = {v.name for *_, v in levels[:first]}
        at, origin = (self._at(arena.linear(x.offset), covered) for x in (store, load))
        order = Copy(to, at, source, origin, row * size, rows, to_step * size, from_step * size)
        code: list[Stmt] = [order]
        for var, n in reversed([loop for loop in self.loops if loop[0].name not in covered]):
            code = [For(var, arena.const(0, INDEX), arena.const(n, INDEX), 1, tuple(code))]
        for condition in reversed(self.conditions):
            code = [If(condition, tuple(code))]
        return code

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
