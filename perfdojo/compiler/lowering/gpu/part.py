"""What threads of a block do in one part, as target IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Model
from perfdojo.compiler.analysis.block import BlockPart
from perfdojo.compiler.analysis.kept import WARP, Held
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.ir import BLOCK, Scope, Statement
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.dead import alive
from perfdojo.compiler.lowering.forward import forwarded
from perfdojo.compiler.lowering.gpu.tensor import tensor_code
from perfdojo.compiler.lowering.hoist import hoisted
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import INDEX, Allocate, Let, Stmt, Store, Threads, Var, thread_number
from perfdojo.compiler.lowering.promote import promoted
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.lowering.walk import Facts
from perfdojo.compiler.ops import REDUCTIONS
from perfdojo.compiler.tree import nodes as all_nodes
from perfdojo.compiler.walk import const_int

LOCAL_BYTES = 4 << 10
"""Of one temporary of a thread; larger ones lie in memory that others see, if threads can share them."""


@dataclass(frozen=True)
class PartCode:
    """Makes the code of the parts of one kernel.

    Attributes:
        held: temporaries that threads hold.
        single: a block has one thread.
    """

    context: Context
    known: Model
    scopes: Scopes
    parts: Sequence[BlockPart]
    held: Mapping[str, Held]
    single: bool

    def part(self, item: BlockPart, env: dict[str, Linear]) -> list[Stmt]:
        """Return the code of a part at iterations `env` of the loops around it."""
        for s in item.scopes:
            self._number(s, s.mark, env)
        self.context.at_once = _used_at_once(item)
        self.context.axes = {s.name: s.mark for s in item.scopes}
        if item.warp is not None:
            self.context.axes[item.warp.name] = "block_x"
            self._number(item.warp, "block_x", env)
            code = self._combined(item, item.warp, env)
        elif item.tensor is not None:
            made = tensor_code(self.known, item, item.tensor, self.scopes.expressions, env)
            code = (*self.scopes.told(item.tensor.statement), *made)
        else:
            code = tuple(self.scopes.nodes(item.nodes, item.around, Frame(env), 1))
        if item.tensor is None:
            code = self._optimised(code, item)
        left = {a.buffer for a in Facts(self.context.arena).accesses(code)}
        own = []
        for name in sorted(item.kept & left):
            if not self.held[name].lasting:
                layout = self.context.layouts[name]
                space = "fragment" if self.held[name].matrices else "stack"
                own.append(Allocate(name, layout.buffer.dtype, layout.elems, space))
        if not code:
            return []
        if self.single:
            return [*own, *code]
        counts = {d: const_int(s.extent) for d, s in item.axes.items()}
        if item.warp is not None or item.tensor is not None:
            counts["block_x"] = WARP
        below = tuple((d, counts.get(d, 1)) for d in BLOCK if d not in item.every)
        return [Threads(below, (*own, *code))]

    def _number(self, scope: Scope, axis: str, env: dict[str, Linear]) -> None:
        """Let the number of the thread be that of the iteration."""
        extent, arena = const_int(scope.extent), self.context.arena
        var = arena.var(thread_number(axis), INDEX, (0, extent - 1))
        env[scope.name] = env[axis] = Linear(0) if extent == 1 else arena.atom(var)

    def _optimised(self, code: tuple[Stmt, ...], item: BlockPart) -> tuple[Stmt, ...]:
        used = {load.buffer for load, _ in touches(item.nodes)}
        others = {load.buffer for p in self.parts if p is not item for load, _ in touches(p.nodes)}
        needed = frozenset(n for n in used if n in others or n not in self.context.splits)
        facts = Facts(self.context.arena)
        own = frozenset(filter(self._is_local, self.context.splits)) if self.single else item.kept
        code = promoted(code, self.context, facts, own)
        code = hoisted(code, self.context, facts)
        code = forwarded(code, self.context, facts)
        return alive(code, self.context, needed)

    def _is_local(self, name: str) -> bool:
        """Tell whether the only thread of a block holds a temporary."""
        layout = self.context.layouts[name]
        return layout.bytes <= LOCAL_BYTES and layout.buffer.space != "heap"

    def _combined(self, item: BlockPart, scope: Scope, env: dict[str, Linear]) -> tuple[Stmt, ...]:
        """Return the code of a reduction whose iterations the lanes of a warp combine."""
        (s,) = scope.body
        assert isinstance(s, Statement)
        expressions, arena, frame = self.scopes.expressions, self.context.arena, Frame(env)
        op, name = REDUCTIONS[s.op], s.target.buffer
        dtype = self.context.buffers[name].dtype
        type = arena.type(dtype)
        value = expressions.cast(expressions.value(s.value, frame), dtype)
        combined = arena.var(self.context.fresh(f"{name}_all"), type)
        where = arena.offset(expressions.address(s.target, frame, None))
        both = expressions.operate(op, (arena.load(name, where, type), combined), dtype)
        store: Stmt = Store(name, where, both)
        if name not in item.kept:
            store = Threads((("block_x", 1),), (store,))
        return (*self.scopes.told(s), Let(combined, arena.call(f"warp_{op}", (value,), type)), store)


def _used_at_once(item: BlockPart) -> frozenset[str]:
    """Return what a part copies into by scopes marked @async, and uses otherwise."""
    late = tuple(n for n in all_nodes(item.nodes) if isinstance(n, Scope) and n.mark == "async")
    copies = {n.name for s in late for n in all_nodes(s.body)}
    others = tuple(n for n in all_nodes(item.nodes) if isinstance(n, Statement) and n.name not in copies)
    used = {load.buffer for load, _ in touches(others)}
    used |= {load.buffer for load, writes in touches(late) if not writes}
    return frozenset(load.buffer for load, writes in touches(late) if writes and load.buffer in used)


def counter(scope: Scope, context: Context, env: dict[str, Linear]) -> Var | None:
    """Give a scope its iteration number; a variable where there are several."""
    extent = const_int(scope.extent)
    if extent == 1:
        env[scope.name] = Linear(0)
        return None
    var = context.arena.var(scope.name, INDEX, (0, extent - 1))
    env[scope.name] = context.arena.atom(var)
    return var
