"""One function of a GPU: its grid, the parts of a block, and where its temporaries lie."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from perfdojo.compiler.analysis.accesses import Model
from perfdojo.compiler.analysis.block import BlockPart, Item, Meeting, all_parts
from perfdojo.compiler.analysis.kept import MAX_EXTENT, MAX_THREADS, WARP, Holders, held_by_blocks, under_grid
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.analysis.waiting import Waiting
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import BLOCK, GRID, Node, Scope
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.gpu.memory import Memory
from perfdojo.compiler.lowering.gpu.part import PartCode, counter
from perfdojo.compiler.lowering.gpu.parts import Cutting, idle_scopes, merged, not_shared, why_no_lanes
from perfdojo.compiler.lowering.gpu.reuse import with_reuse
from perfdojo.compiler.lowering.gpu.tensor import Tensors
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import INDEX, Barrier, For, Kernel, Stmt, Wait
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.tree import nodes as all_nodes
from perfdojo.compiler.walk import const_int


class KernelCode:
    """Makes one function of a group of nodes."""

    def __init__(self, context: Context, known: Model, scopes: Scopes, nodes: tuple[Node, ...]) -> None:
        self.context, self.known, self.scopes = context, known, scopes
        self.names = {load.buffer for load, _ in touches(nodes)}
        self.grid, nodes = under_grid(nodes)
        self.nodes = nodes
        self.memory = Memory(context, known, nodes)
        self.threads = dict.fromkeys(BLOCK, 1)
        self.lanes = True
        self.loops: dict[str, str] = {}
        """Scopes marked @warp that lanes cannot combine, and why; then none of them is done so."""
        marked = [n for n in all_nodes(nodes) if isinstance(n, Scope)]
        for n in marked:
            if n.mark in BLOCK:
                self.threads[n.mark] = max(self.threads[n.mark], const_int(n.extent))
        self.copies = any(n.mark == "async" for n in marked)
        """Whether threads copy while they go on."""
        wide = max(self.threads["block_x"], WARP)
        fits = wide % WARP == 0 and prod({**self.threads, "block_x": wide}.values()) <= MAX_THREADS
        self.tensors = Tensors(context, known, [n for n in marked if n.mark == "mma"], fits)
        if self.tensors.ops:
            self.threads["block_x"] = wide
        warps = [n for n in marked if n.mark == "warp"]
        if warps:
            reasons = {n.name: why_no_lanes(n, context) for n in warps}
            self.loops = {name: why for name, why in reasons.items() if why}
            self.lanes = fits and not self.loops
            if self.lanes:
                self.threads["block_x"] = wide

        self._check_limits()

    def _check_limits(self) -> None:
        """Refuse a launch that no device takes, which marks in a kernel's own text can ask for.

        Raises:
            PerfDojoError: a dimension, or a block, is over its limit.
        """
        name = self.context.program.name
        if (count := prod(self.threads.values())) > MAX_THREADS:
            hint = "tile the scopes that are marked @block"
            raise PerfDojoError(f"a block of {name} has {count} threads, over {MAX_THREADS}", hint=hint)
        numbers = {s.mark: const_int(s.extent) for s in self.grid} | self.threads
        for mark, n in numbers.items():
            if n > MAX_EXTENT[mark]:
                what = f"a kernel of {name} has {n} {'blocks' if mark in GRID else 'threads'} along @{mark}"
                hint = "tile the scope, or mark it along x"
                raise PerfDojoError(f"{what}, over {MAX_EXTENT[mark]}", hint=hint)

    def takes(self, name: str) -> bool:
        """Tell whether each block holds elements of its own of a temporary that no other function has."""
        found = held_by_blocks(self.known, self.grid, name, self.known.by_buffer[name])
        if found is not None:
            self.memory.held[name] = found
        return found is not None

    # ------------------------------------------------------------ parts

    def _parts(self) -> list[Item]:
        """Return the parts with their barriers; what threads hold is known to the memory then."""
        whole: frozenset[str] = frozenset()
        memory = self.memory
        while True:
            mine = [n for n in memory.held if memory.may_be_of_threads(n) and n not in self.tensors.memory]
            blocks = {name: memory.held[name] for name in mine}
            items = list(Cutting(whole, self.lanes, self.tensors.ops).items(self.nodes, tuple(self.grid)))
            found = Holders(self.known, list(all_parts(items)), self.threads, blocks, memory.fits)
            more = not_shared(self.known, items, frozenset(found.held)) - whole
            if not more and not self.tensors.given_up(all_parts(items), found.held, memory.offset):
                break
            whole |= more
        memory.held.update(found.held)
        memory.own = found.held
        items = merged(items)
        Waiting(Meeting(self.known).between).settle(items, [])
        for name in (name for part in all_parts(items) for name in idle_scopes(part)):
            why = self.loops.get(name)
            how = f"no warp combines it, {why}" if why else "each thread runs it, it stands beside other code"
            self.context.notes.append(f"scope {name}: {how}")
        return items

    # ------------------------------------------------------------ code

    def code(self) -> Kernel:
        """Return the function."""
        env: dict[str, Linear] = {}
        blocks = []
        for s in self.grid:
            var = counter(s, self.context, env)
            if var is not None:
                blocks.append((var, s.mark, const_int(s.extent)))
        items = self._parts()
        self.memory.settle()
        single = all(n == 1 for n in self.threads.values())
        parts = PartCode(
            self.context, self.known, self.scopes, list(all_parts(items)), self.memory.own, single
        )
        body = with_reuse(self._body(items, env, parts), self.context.arena)
        copies = prod(const_int(s.extent) for s in self.grid)
        shared, each, own = self.memory.placed(body, copies, single)
        x, y, z = (self.threads[d] for d in BLOCK)
        return Kernel(tuple(blocks), (x, y, z), shared, each, (*own, *body))

    def _body(self, items: Sequence[Item], env: dict[str, Linear], code: PartCode) -> list[Stmt]:
        out: list[Stmt] = []
        for item in items:
            inner = dict(env)
            if item.barrier and not code.single:
                out += [Wait(), Barrier()] if self.copies else [Barrier()]
            if isinstance(item, BlockPart):
                out += code.part(item, inner)
                continue
            var = counter(item.scope, self.context, inner)
            body = self._body(item.items, inner, code)
            if var is None:
                out += body
                continue
            arena, extent = self.context.arena, const_int(item.scope.extent)
            ends = arena.const(0, INDEX), arena.const(extent, INDEX)
            unroll = extent if item.scope.mark == "unroll" else 0
            out.append(For(var, *ends, 1, tuple(body), unroll=unroll))
        return out
