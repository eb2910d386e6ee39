"""A program as functions of a GPU: one for each nest, whose blocks and threads are marked scopes.

In a block, a scope that is spread over its threads is a part that each thread does by itself; what stands
beside such scopes is done by the first thread, and loops around them by all. Between two parts of which one
writes what the other one touches, all threads of the block wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from perfdojo.compiler.analysis.accesses import Model, model
from perfdojo.compiler.analysis.block import BlockPart, Meeting
from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.ir import BLOCK, GRID, Node, Scope
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.dead import alive
from perfdojo.compiler.lowering.forward import forwarded
from perfdojo.compiler.lowering.hoist import hoisted
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import INDEX, Allocate, Barrier, For, Kernel, Stmt, Threads, Var
from perfdojo.compiler.lowering.promote import promoted
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.lowering.walk import Facts
from perfdojo.compiler.tree import nodes as all_nodes
from perfdojo.compiler.walk import const_int

SHARED_BYTES = 48 << 10
"""Of static shared memory that a block may have, on all devices (CUDA C++ Programming Guide)."""
LOCAL_BYTES = 4 << 10
"""Of one temporary of a thread; larger ones lie in global memory."""


@dataclass(eq=False, slots=True)
class _Loop:
    """A loop that all threads of a block run."""

    scope: Scope
    items: list[BlockPart | _Loop] = field(default_factory=list)


def kernels(context: Context) -> tuple[Stmt, ...]:
    """Return the code of a program: memory that all blocks see, then a `Kernel` for each nest in turn."""
    known = model(context.program)
    scopes = Scopes(context)
    made = [_Kernel(context, known, scopes, group) for group in _groups(context.program.body)]
    inside = {name: k for k in made for name in k.names}
    everywhere: list[Stmt] = []
    for name, layout in context.layouts.items():
        users = [k for k in made if name in k.names]
        if layout.buffer.role != "tmp" or not users:
            continue
        if len(users) > 1 or not inside[name].keeps(name):
            everywhere.append(Allocate(name, layout.buffer.dtype, layout.elems, "heap"))
    elsewhere = frozenset(a.buffer for a in everywhere if isinstance(a, Allocate))
    found = [k.code(elsewhere) for k in made]
    return (*everywhere, *(a for k in found for a in k.each), *found)


def _groups(body: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """Yield the nodes of each function: a nest with a grid, or what stands between such."""
    plain: list[Node] = []
    for node in body:
        if not (isinstance(node, Scope) and node.mark in GRID):
            plain.append(node)
            continue
        if plain:
            yield tuple(plain)
            plain = []
        yield (node,)
    if plain:
        yield tuple(plain)


class _Kernel:
    """One function: its grid, the parts of a block, and where its temporaries lie."""

    def __init__(self, context: Context, known: Model, scopes: Scopes, nodes: tuple[Node, ...]) -> None:
        self.context, self.known, self.scopes = context, known, scopes
        self.names = {load.buffer for load, _ in touches(nodes)}
        self.grid: list[Scope] = []
        while len(nodes) == 1 and isinstance(nodes[0], Scope) and nodes[0].mark in GRID:
            self.grid.append(nodes[0])
            nodes = nodes[0].body
        self.threads = dict.fromkeys(BLOCK, 1)
        for n in all_nodes(nodes):
            if isinstance(n, Scope) and n.mark in BLOCK:
                self.threads[n.mark] = max(self.threads[n.mark], const_int(n.extent))
        self.meeting = Meeting(known, len(self.grid))
        self.items = list(self._cut(nodes, tuple(self.grid)))
        self._settle(self.items, [])

    def keeps(self, name: str) -> bool:
        """Tell whether each block could have its own copy of a temporary."""
        return all(name in self._private_to(s) for s in self.grid if const_int(s.extent) > 1)

    def _private_to(self, scope: Scope) -> frozenset[str]:
        return private_buffers(self.known, scope.name)

    # ------------------------------------------------------------ parts

    def _cut(self, nodes: Sequence[Node], around: tuple[Scope, ...]) -> Iterator[BlockPart | _Loop]:
        first: list[Node] = []
        for node in nodes:
            if not _spread(node):
                first.append(node)
                continue
            assert isinstance(node, Scope)
            if first:
                yield BlockPart((), tuple(first), around, frozenset())
                first = []
            if node.mark in BLOCK:
                yield self._threads(node, around)
            else:
                yield _Loop(node, list(self._cut(node.body, (*around, node))))
        if first:
            yield BlockPart((), tuple(first), around, frozenset())

    def _threads(self, node: Scope, around: tuple[Scope, ...]) -> BlockPart:
        chain = [node]
        while (inner := _only_block(chain[-1])) is not None:
            chain.append(inner)
        for n in all_nodes(chain[-1].body):
            if isinstance(n, Scope) and n.mark in BLOCK:
                self.context.notes.append(f"scope {n.name}: each thread runs it, it stands beside other code")
        several = [self._private_to(s) for s in chain if const_int(s.extent) > 1]
        private = frozenset[str].intersection(*several) if several else frozenset[str]()
        used = {load.buffer for load, _ in touches(chain[-1].body)}
        return BlockPart(tuple(chain), chain[-1].body, (*around, *chain), private & used)

    def _settle(self, items: Sequence[BlockPart | _Loop], before: list[BlockPart]) -> list[BlockPart]:
        """Set the barriers of sibling items, each as late as it can be; return what is open behind them."""
        opened = before
        for item in items:
            if isinstance(item, _Loop):
                last = self._settle(item.items, opened)
                # what an iteration asks of the one before
                opened = list(dict.fromkeys([*opened, *self._settle(item.items, last)]))
                continue
            if item.barrier or any(self.meeting.clash(o, item) for o in opened):
                item.barrier, opened = True, []
            opened = [*opened, item]
        return opened

    # ------------------------------------------------------------ code

    def code(self, elsewhere: frozenset[str]) -> Kernel:
        """Return the function; `elsewhere`: temporaries in memory that all blocks see."""
        env: dict[str, Linear] = {}
        blocks = []
        for s in self.grid:
            var = self._counter(s, env)
            if var is not None:
                blocks.append((var, s.mark, const_int(s.extent)))
        single = all(n == 1 for n in self.threads.values())
        local = {n for p in _parts(self.items) for n in p.private} - elsewhere
        kept = [
            Allocate(n, x.buffer.dtype, x.elems, "shared")
            for n, x in self.context.layouts.items()
            if x.buffer.role == "tmp" and n in self.names - elsewhere - local
        ]
        body = self._body(self.items, env, elsewhere, single)
        left = {a.buffer for a in Facts(self.context.arena).accesses(tuple(body))}
        shared, each, own = self._placed([a for a in kept if a.buffer in left], single)
        x, y, z = (self.threads[d] for d in BLOCK)
        return Kernel(tuple(blocks), (x, y, z), shared, each, (*own, *body))

    def _placed(
        self, kept: Sequence[Allocate], single: bool
    ) -> tuple[tuple[Allocate, ...], tuple[Allocate, ...], tuple[Allocate, ...]]:
        """Return the temporaries of a block in shared memory, in global memory, and of its only thread."""
        count = prod(const_int(s.extent) for s in self.grid)
        free = SHARED_BYTES
        shared, each, own = [], [], []
        for a in sorted(kept, key=lambda a: a.elems * a.dtype.bytes):
            bytes_ = a.elems * a.dtype.bytes
            if single and bytes_ <= LOCAL_BYTES:
                own.append(replace(a, space="stack"))
            elif not single and bytes_ <= free:
                shared.append(a)
                free -= bytes_
            else:
                each.append(replace(a, space="heap", copies=count))
                if not single:
                    text = f"{bytes_} bytes lie in global memory, a copy for each block"
                    self.context.notes.append(f"{a.buffer}: {text}")
        return tuple(shared), tuple(each), tuple(own)

    def _counter(self, scope: Scope, env: dict[str, Linear]) -> Var | None:
        """Give a scope its iteration number; a variable where there are several."""
        extent = const_int(scope.extent)
        if extent == 1:
            env[scope.name] = Linear(0)
            return None
        var = self.context.arena.var(scope.name, INDEX, (0, extent - 1))
        env[scope.name] = self.context.arena.atom(var)
        return var

    def _body(
        self,
        items: Sequence[BlockPart | _Loop],
        env: dict[str, Linear],
        elsewhere: frozenset[str],
        single: bool,
    ) -> list[Stmt]:
        out: list[Stmt] = []
        for item in items:
            inner = dict(env)
            if isinstance(item, _Loop):
                var = self._counter(item.scope, inner)
                body = self._body(item.items, inner, elsewhere, single)
                if var is None:
                    out += body
                else:
                    arena, extent = self.context.arena, const_int(item.scope.extent)
                    ends = arena.const(0, INDEX), arena.const(extent, INDEX)
                    out.append(For(var, *ends, 1, tuple(body)))
                continue
            if item.barrier and not single:
                out.append(Barrier())
            out += self._part(item, inner, elsewhere, single)
        return out

    def _part(
        self, item: BlockPart, env: dict[str, Linear], elsewhere: frozenset[str], single: bool
    ) -> list[Stmt]:
        context = self.context
        found = [(self._counter(s, env), s.mark, const_int(s.extent)) for s in item.scopes]
        code = tuple(self.scopes.nodes(item.nodes, item.around, Frame(env), 1))
        others = frozenset(
            n for p in _parts(self.items) if p is not item for n in {t[0].buffer for t in touches(p.nodes)}
        )
        facts = Facts(context.arena)
        code = promoted(code, context, facts)
        code = hoisted(code, context, facts)
        code = forwarded(code, context, facts)
        code = alive(code, context, others | elsewhere)
        own = []
        left = {a.buffer for a in facts.accesses(code)}
        for name in sorted(item.private & left - elsewhere):
            layout = context.layouts[name]
            own.append(Allocate(name, layout.buffer.dtype, layout.elems, "stack"))
        if not code:
            return []
        if single:
            return [*own, *code]
        return [Threads(tuple((v, d, n) for v, d, n in found if v is not None), (*own, *code))]


def _only_block(scope: Scope) -> Scope | None:
    """Return the scope of threads that is all that a scope holds."""
    inner = scope.body[0]
    return inner if len(scope.body) == 1 and isinstance(inner, Scope) and inner.mark in BLOCK else None


def _spread(node: Node) -> bool:
    """Tell whether a node is spread over the threads of a block, or something in it."""
    return isinstance(node, Scope) and (node.mark in BLOCK or any(map(_spread, node.body)))


def _parts(items: Sequence[BlockPart | _Loop]) -> Iterator[BlockPart]:
    for item in items:
        if isinstance(item, BlockPart):
            yield item
        else:
            yield from _parts(item.items)
