"""A function that all harts of a cluster run: loops that all of them run, shares of some, barriers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.barriers import set_barriers
from perfdojo.compiler.analysis.harts import Item, Part, all_parts, names_in, parts
from perfdojo.compiler.ir import Scope
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.copies import copied, why_not_copied
from perfdojo.compiler.lowering.dead import alive
from perfdojo.compiler.lowering.forward import forwarded
from perfdojo.compiler.lowering.hoist import hoisted
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import INDEX, Allocate, Barrier, For, Share, Stmt, Wait
from perfdojo.compiler.lowering.promote import promoted
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.lowering.walk import Facts
from perfdojo.compiler.walk import const_int, scopes


def clustered(context: Context) -> tuple[Stmt, ...] | None:
    """Return the code of a program for all harts of a cluster; None where one hart does all of it."""
    if "core" not in context.target.marks:
        return None
    known = model(context.program)
    items = parts(known, context.cores, _copied(context))
    set_barriers(known, items, context.cores)
    found = list(all_parts(items))
    context.spread |= {node.name for part in found if part.who == "cores" for node in part.nodes}
    for scope in scopes(context.program) if context.cores > 1 else ():
        if scope.mark == "core" and scope.name not in context.spread and const_int(scope.extent) > 1:
            reason = _around(scope, context)
            context.notes.append(f"scope {scope.name}: not shared by cores, {reason}")
    if all(part.who == "first" for part in found):
        return None
    body = _Cluster(context, found).body(items, {})
    if any(part.who == "dma" for part in found):
        body.append(Share("dma", (Wait(),)))
    front, private = _memory(context, found)
    return (*front, *_with_private(tuple(body), private))


def _copied(context: Context) -> list[str]:
    """Return the @dma scopes that the DMA engine can do, with a note on each that it cannot."""
    found = []
    for scope in scopes(context.program):
        if scope.mark != "dma":
            continue
        reason = _around(scope, context) or why_not_copied(scope.name, context)
        if reason:
            context.notes.append(f"scope {scope.name}: not copied by the DMA engine, {reason}")
        else:
            found.append(scope.name)
    return found


def _around(scope: Scope, context: Context) -> str:
    """Return which scope around keeps one from being done by other harts, "" when none does."""
    around = context.program.scopes[scope.name].around
    inside = next((s for s in around if s.mark not in ("", "unroll", "parallel")), None)
    return f"it is inside of @{inside.mark}" if inside else ""


class _Cluster:
    """Writes the code of parts; `Scopes` tells each statement once, in the first part that has it."""

    def __init__(self, context: Context, found: Sequence[Part]) -> None:
        self.context, self.scopes, self.found = context, Scopes(context), found

    def body(self, items: Sequence[Item], env: dict[str, Linear]) -> list[Stmt]:
        """Return the code of sibling items at iterations `env` of the loops around them."""
        out: list[Stmt] = []
        for item in items:
            if item.barrier:
                out.append(Barrier())
            if isinstance(item, Part):
                out += self._share(item, env)
            else:
                out += self._loop(item.scope, item.items, env)
        return out

    def _loop(self, scope: Scope, items: Sequence[Item], env: dict[str, Linear]) -> list[Stmt]:
        extent, arena = const_int(scope.extent), self.context.arena
        if extent == 1:
            return self.body(items, {**env, scope.name: Linear(0)})
        var = arena.var(scope.name, INDEX, (0, extent - 1))
        inner = self.body(items, {**env, scope.name: arena.atom(var)})
        return [For(var, arena.const(0, INDEX), arena.const(extent, INDEX), 1, tuple(inner))]

    def _share(self, part: Part, env: dict[str, Linear]) -> list[Stmt]:
        context = self.context
        facts = Facts(context.arena)
        code = tuple(self.scopes.nodes(part.nodes, part.around, Frame(env), 1))
        if part.who == "dma":
            code = copied(code, context)
            return [Share("dma", (Wait(), *code) if part.wait else code)]
        elsewhere = frozenset[str]().union(*(names_in(p) for p in self.found if p is not part))
        code = promoted(code, context, facts)
        code = hoisted(code, context, facts)
        code = forwarded(code, context, facts)
        code = alive(code, context, elsewhere)
        return [Share(part.who, code, tuple(sorted(part.private)))] if code else []


def _memory(context: Context, found: Sequence[Part]) -> tuple[list[Allocate], frozenset[str]]:
    """Return the memory of the temporaries, and those that each core has a copy of in static memory."""
    front: list[Allocate] = []
    copies: set[str] = set()
    private = frozenset[str]().union(*(part.private for part in found))
    free = context.target.stack_bytes
    for name, layout in context.layouts.items():
        users = [part for part in found if name in names_in(part)]
        if layout.buffer.role != "tmp" or not users:
            continue
        own = name in private or (len(users) == 1 and users[0].who == "first")
        fits = layout.bytes <= min(context.target.stack_buffer_bytes, free)
        stack = own and fits and layout.buffer.space not in ("heap", "tcdm")
        free -= layout.bytes if stack else 0
        each = name in private and not stack
        copies |= {name} if each else set()
        if layout.buffer.space in ("stack", "register") and not stack:
            context.notes.append(f"{name}: {layout.bytes} bytes lie in static memory, for all cores to see")
        allocate = Allocate(name, layout.buffer.dtype, layout.elems, "stack" if stack else "heap")
        front.append(replace(allocate, copies=context.cores) if each else allocate)
    return front, frozenset(copies)


def _with_private(body: tuple[Stmt, ...], private: frozenset[str]) -> Iterator[Stmt]:
    """Yield the body with only those temporaries called private that lie in static memory."""
    for s in body:
        if isinstance(s, Share):
            yield replace(s, private=tuple(name for name in s.private if name in private))
        elif isinstance(s, For):
            yield replace(s, body=tuple(_with_private(s.body, private)))
        else:
            yield s
