"""Where temporaries of one function of a GPU lie: in registers, in shared memory, in memory of the device."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import ZERO, Affine
from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.analysis.kept import Held
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import BLOCK, Literal, Node, Scope
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.gpu.part import LOCAL_BYTES
from perfdojo.compiler.lowering.layout import Layout, layout
from perfdojo.compiler.lowering.lir import Allocate, Stmt
from perfdojo.compiler.lowering.walk import Facts
from perfdojo.compiler.tree import nodes as all_nodes

ALIGNMENT = 32
"""Bytes that each copy of a temporary begins at multiples of: what matrices want, no access is wider."""
MATRIX_BYTES = 32
"""Of a matrix of 16 x 16 sums that a thread has, one of 32."""


class Memory:
    """Temporaries of a function whose nodes are given.

    Attributes:
        held: those of which each block, or each thread, has its own elements.
        own: of these, the ones of threads.
    """

    def __init__(self, context: Context, known: Model, nodes: tuple[Node, ...]) -> None:
        self.context, self.known, self.nodes = context, known, nodes
        self.held: dict[str, Held] = {}
        self.own: dict[str, Held] = {}

    def may_be_of_threads(self, name: str) -> bool:
        """Tell whether threads may hold a temporary: it lies where it is to only if they can share it."""
        return self._space(name) not in ("heap", "shared") or self._is_of_each_thread(name)

    def _is_of_each_thread(self, name: str) -> bool:
        """Tell whether threads would not compute the same if they shared a temporary."""
        marked = (n for n in all_nodes(self.nodes) if isinstance(n, Scope) and n.mark in BLOCK)
        return any(name in private_buffers(self.known, s.name) for s in marked)

    def _space(self, name: str) -> str:
        return self.context.layouts[name].buffer.space

    def fits(self, name: str, how: Held) -> bool:
        """Tell whether a thread can hold what is its own of a temporary."""
        made = self._layout(name, how)
        if how.matrices:
            return made.elems * MATRIX_BYTES <= LOCAL_BYTES
        return made.bytes <= LOCAL_BYTES or self._is_of_each_thread(name)

    def offset(self, access: Access) -> Affine:
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

    def settle(self) -> None:
        """Let the code address what a holder has of each temporary."""
        for name, how in self.held.items():
            self.context.layouts[name] = self._layout(name, how)
            self.context.splits[name] = how.splits

    def _allocate(self, name: str, space: str) -> Allocate:
        found = self.context.layouts[name]
        return Allocate(name, found.buffer.dtype, found.elems, space)

    def placed(
        self, body: tuple[Stmt, ...], copies: int, single: bool
    ) -> tuple[tuple[Allocate, ...], tuple[Allocate, ...], tuple[Allocate, ...]]:
        """Return the temporaries of a block in shared memory, in global memory, and of each thread.

        Args:
            body: the code, which says what is left of them.
            copies: blocks that there are.
            single: a block has one thread.
        """
        left = {a.buffer for a in Facts(self.context.arena).accesses(body)}
        here = [n for n in self.context.layouts if n in self.held.keys() & left]
        free = self.context.target.shared_bytes
        shared, each = [], []
        own = [
            self._allocate(n, "fragment" if self.own[n].matrices else "stack")
            for n in here
            if n in self.own and self.own[n].lasting
        ]
        kept = [self._allocate(n, "shared") for n in here if n not in self.own]
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
                each.append(replace(a, space="heap", copies=copies, elems=elems))
                if not single and not asked:
                    text = f"{bytes_} bytes lie in global memory, a copy for each block"
                    self.context.notes.append(f"{a.buffer}: {text}")
        return tuple(shared), tuple(each), tuple(own)
