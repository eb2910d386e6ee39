"""One function of a GPU: its grid, the parts of a block, and where its temporaries lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import ZERO, Affine
from perfdojo.compiler.analysis.block import BlockPart, Item, Meeting, all_parts
from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.analysis.kept import MAX_THREADS, WARP, Held, Holders, held_by_blocks
from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.analysis.waiting import Waiting
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import BLOCK, GRID, Literal, Node, Scope
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.gpu.part import LOCAL_BYTES, PartCode, counter
from perfdojo.compiler.lowering.gpu.parts import Cutting, by_lanes, idle_scopes, merged, not_shared
from perfdojo.compiler.lowering.gpu.reuse import with_reuse
from perfdojo.compiler.lowering.gpu.tensor import Tensors
from perfdojo.compiler.lowering.layout import Layout, layout
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import INDEX, Allocate, Barrier, For, Kernel, Stmt, Wait
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.lowering.walk import Facts
from perfdojo.compiler.tree import nodes as all_nodes
from perfdojo.compiler.walk import const_int

ALIGNMENT = 32
"""Bytes that each copy of a temporary begins at multiples of: what matrices want, no access is wider."""
MATRIX_BYTES = 32
"""Of a matrix of 16 x 16 sums that a thread has, one of 32."""


class KernelCode:
    """Makes one function of a group of nodes."""

    def __init__(self, context: Context, known: Model, scopes: Scopes, nodes: tuple[Node, ...]) -> None:
        self.context, self.known, self.scopes = context, known, scopes
        self.names = {load.buffer for load, _ in touches(nodes)}
        self.grid: list[Scope] = []
        self.held: dict[str, Held] = {}
        """Temporaries of which each block, or each thread, has its own elements."""
        self.own: dict[str, Held] = {}
        """Of these, the ones of threads."""
        while len(nodes) == 1 and isinstance(nodes[0], Scope) and nodes[0].mark in GRID:
            self.grid.append(nodes[0])
            nodes = nodes[0].body
        self.nodes = nodes
        self.threads = dict.fromkeys(BLOCK, 1)
        self.lanes = True
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
            self.lanes = fits and all(map(by_lanes, warps))
            if self.lanes:
                self.threads["block_x"] = wide

        if (count := prod(self.threads.values())) > MAX_THREADS:
            hint = "tile the scopes that are marked @block"
            raise PerfDojoError(
                f"a block of {context.program.name} has {count} threads, over {MAX_THREADS}", hint=hint
            )

    def takes(self, name: str) -> bool:
        """Tell whether each block holds elements of its own of a temporary that no other function has."""
        found = held_by_blocks(self.known, self.grid, name, self.known.by_buffer[name])
        if found is not None:
            self.held[name] = found
        return name in self.held

    # ------------------------------------------------------------ parts

    def _parts(self) -> list[Item]:
        """Return the parts with their barriers; what threads hold is in `held` then."""
        whole: frozenset[str] = frozenset()
        while True:
            mine = [n for n in self.held if self._may_be_of_threads(n) and n not in self.tensors.memory]
            blocks = {name: self.held[name] for name in mine}
            items = list(Cutting(whole, self.lanes, self.tensors.ops).items(self.nodes, tuple(self.grid)))
            found = Holders(self.known, list(all_parts(items)), self.threads, blocks, self._fits)
            more = not_shared(self.known, items, frozenset(found.held)) - whole
            if not more and not self.tensors.given_up(all_parts(items), found.held, self._offset):
                break
            whole |= more
        self.held.update(found.held)
        self.own = found.held
        items = merged(items)
        Waiting(Meeting(self.known).between).settle(items, [])
        for name in (name for part in all_parts(items) for name in idle_scopes(part)):
            self.context.notes.append(f"scope {name}: each thread runs it, it stands beside other code")
        return items

    def _may_be_of_threads(self, name: str) -> bool:
        """Tell whether threads may hold a temporary: it lies where it is to only if they can share it."""
        return self._space(name) not in ("heap", "shared") or self._is_of_each_thread(name)

    def _is_of_each_thread(self, name: str) -> bool:
        """Tell whether threads would not compute the same if they shared a temporary."""
        marked = (n for n in all_nodes(self.nodes) if isinstance(n, Scope) and n.mark in BLOCK)
        return any(name in private_buffers(self.known, s.name) for s in marked)

    def _space(self, name: str) -> str:
        return self.context.layouts[name].buffer.space

    def _fits(self, name: str, how: Held) -> bool:
        made = self._layout(name, how)
        if how.matrices:
            return made.elems * MATRIX_BYTES <= LOCAL_BYTES
        return made.bytes <= LOCAL_BYTES or self._is_of_each_thread(name)

    def _offset(self, access: Access) -> Affine:
        """Return the offset of an access in what a block has of its buffer."""
        how, form = self.held.get(access.load.buffer, Held()), ZERO
        for d, stride in enumerate(self._layout(access.load.buffer, how).strides):
            index = access.indices[d]
            form = form.plus(how.splits[d].local(index) if d in how.splits else index, stride)
        return form

    def _layout(self, name: str, how: Held) -> Layout:
        """Return the placement of what one holder has of a temporary."""
        buffer = self.context.layouts[name].buffer
        shape = (
            how.splits[d].extent if d in how.splits else e
            for d, e in enumerate(self.context.layouts[name].shape)
        )
        pad = () if how.matrices else buffer.pad
        return layout(replace(buffer, shape=tuple(Literal(e, I64) for e in shape), pad=pad))

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
        for name, how in self.held.items():
            self.context.layouts[name] = self._layout(name, how)
            self.context.splits[name] = how.splits
        single = all(n == 1 for n in self.threads.values())
        parts = PartCode(self.context, self.known, self.scopes, list(all_parts(items)), self.own, single)
        body = with_reuse(self._body(items, env, parts), self.context.arena)
        left = {a.buffer for a in Facts(self.context.arena).accesses(body)}
        here = [n for n in self.context.layouts if n in self.held.keys() & left]
        lasting = [
            self._allocate(n, "fragment" if self.own[n].matrices else "stack")
            for n in here
            if n in self.own and self.own[n].lasting
        ]
        shared, each, own = self._placed(
            [self._allocate(n, "shared") for n in here if n not in self.own], single
        )
        x, y, z = (self.threads[d] for d in BLOCK)
        return Kernel(tuple(blocks), (x, y, z), shared, each, (*own, *lasting, *body))

    def _allocate(self, name: str, space: str) -> Allocate:
        found = self.context.layouts[name]
        return Allocate(name, found.buffer.dtype, found.elems, space)

    def _placed(
        self, kept: Sequence[Allocate], single: bool
    ) -> tuple[tuple[Allocate, ...], tuple[Allocate, ...], tuple[Allocate, ...]]:
        """Return the temporaries of a block in shared memory, in global memory, and of its only thread."""
        count = prod(const_int(s.extent) for s in self.grid)
        free = self.context.target.shared_bytes
        shared, each, own = [], [], []
        for a in sorted(kept, key=lambda a: a.elems * a.dtype.bytes):
            bytes_ = a.elems * a.dtype.bytes
            asked = self._space(a.buffer) == "heap"
            if single and bytes_ <= LOCAL_BYTES and not asked:
                own.append(replace(a, space="stack"))
            elif not single and bytes_ <= free and not asked:
                shared.append(a)
                free -= bytes_
            else:
                elems = -(-bytes_ // ALIGNMENT) * ALIGNMENT // a.dtype.bytes
                each.append(replace(a, space="heap", copies=count, elems=elems))
                if not single and not asked:
                    text = f"{bytes_} bytes lie in global memory, a copy for each block"
                    self.context.notes.append(f"{a.buffer}: {text}")
        return tuple(shared), tuple(each), tuple(own)

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
