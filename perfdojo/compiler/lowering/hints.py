"""What buffers ask of memory: stores past the caches, lines fetched ahead. Neither changes what is computed.

    for j { y[j] = x[j] }   ->   for j { prefetch x[j + 512];  stream y[j] = x[j] };  fence

Streamed are the stores of full vectors, those of sums where a vector is a full line; what is narrower, or
masked, stays an ordinary store. Other threads see them behind a fence only: one stands at the end of the
function, at the end of what each thread of a parallel loop does, and before a parallel loop where the thread
that starts the others has streamed. A thread itself reads what it streamed, fence or not.

Fetched ahead is what a load will read some iterations later of the loop that it stands in, once for the
accesses of an iteration that lie in one line. The loop may hold others: the tile of a product that the next
sums go to is fetched while these are made. Gathers, and loads at offsets that data decide, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.linear import Linear, plus
from perfdojo.compiler.lowering.lir import Fence, For, If, Load, Prefetch, Stmt, Store, Value, children
from perfdojo.compiler.lowering.walk import BLOCKS, Body, values
from perfdojo.compiler.walk import statements

LINE_BYTES = 64
"""A cache line of x86-64 processors, and of most others."""


def hinted(body: Body, context: Context) -> Body:
    """Return the body with the stores and loads that `nontemporal` and `prefetch` of buffers ask for.

    Comes last: no other part of lowering knows streamed stores, fences and prefetches.
    """
    if any(b.prefetch for b in context.buffers.values()):
        body = _fetched(body, context)
    nontemporal = [b.name for b in context.buffers.values() if b.nontemporal]
    if not nontemporal:
        return body
    streams = _Streams(context)
    body = streams.body(body)
    for name in nontemporal:
        if name not in streams.buffers:
            context.notes.append(f"{name}: nontemporal has no effect, no store of a full vector writes it")
    return (*body, Fence()) if streams.alone else body


# ---------------------------------------------------------------- stores past the caches


class _Streams:
    """Marks stores and places fences.

    Attributes:
        buffers: what was streamed so far.
        alone: whether something was streamed outside of parallel loops.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.sums = {s.target.buffer for _, s in statements(context.program) if s.op != "="}
        self.buffers: set[str] = set()
        self.alone = False

    def body(self, body: Body, parallel: bool = False) -> Body:
        """Return a body with its stores marked."""
        out: list[Stmt] = []
        for s in body:
            if isinstance(s, Store) and self._streams(s):
                self.buffers.add(s.buffer)
                self.alone = self.alone or not parallel
                s = replace(s, streamed=self._how(s.buffer))
            elif isinstance(s, For) and s.parallel:
                inside = self.body(s.body, True)
                s = replace(s, body=inside, fenced=_any_streamed(inside))
            elif isinstance(s, BLOCKS):
                s = replace(s, body=self.body(s.body, parallel))
            out.append(s)
        return tuple(self._fenced(out)) if not parallel and any(map(_is_parallel, out)) else tuple(out)

    def _streams(self, s: Store) -> bool:
        t = s.value.type
        return (
            self.context.buffers[s.buffer].nontemporal
            and s.mask is None
            and t.lanes > 1
            and self.context.supports(self._how(s.buffer), t.dtype, t.lanes)
        )

    def _how(self, buffer: str) -> Literal["stream", "stream_line"]:
        """Sums are stored a few vectors here, a few there: a part of a line would wait for the rest."""
        return "stream_line" if buffer in self.sums else "stream"

    def _fenced(self, body: list[Stmt]) -> Iterator[Stmt]:
        """Yield the statements, a fence before each parallel loop: what was streamed before is to be seen."""
        for s in body:
            if self.alone and _is_parallel(s):
                yield Fence()
            yield s


def _is_parallel(s: Stmt) -> bool:
    return isinstance(s, For) and s.parallel


def _any_streamed(body: Body) -> bool:
    return any(
        _any_streamed(s.body) if isinstance(s, BLOCKS) else getattr(s, "streamed", False) for s in body
    )


# ---------------------------------------------------------------- lines fetched ahead


def _fetched(body: Body, context: Context) -> Body:
    """Return a body with prefetches in its loops, in each for the loads outside of the loops in it."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, For):
            s = replace(s, body=_Ahead(s, context).body(_fetched(s.body, context), {}))
        elif isinstance(s, BLOCKS):
            s = replace(s, body=_fetched(s.body, context))
        out.append(s)
    return tuple(out)


Places = dict[tuple[str, tuple[tuple[int, int], ...]], tuple[int, ...]]
"""Constant parts of the offsets that are fetched already, by buffer and variable part."""


class _Ahead:
    """The prefetches of one loop, those of loops inside of it aside."""

    def __init__(self, loop: For, context: Context) -> None:
        self.loop, self.context, self.arena = loop, context, context.arena

    def body(self, body: Body, seen: Places) -> Body:
        """Return the body with prefetches before the statements that load."""
        out: list[Stmt] = []
        for s in body:
            for v in values(s):
                out += self._of(v, seen)
            # what happens under a condition fetches nothing for what follows it
            out.append(replace(s, body=self.body(s.body, dict(seen))) if isinstance(s, If) else s)
        return tuple(out)

    def _of(self, value: Value, seen: Places) -> Iterator[Prefetch]:
        if not self.arena.buffers(value):
            return
        for child in children(value):
            yield from self._of(child, seen)
        if isinstance(value, Load) and self._moves(value):
            buffer = self.context.buffers[value.buffer]
            form = self.arena.linear(value.offset)
            if self._is_new(form, value.buffer, buffer.dtype.bytes, seen):
                yield Prefetch(value.buffer, self.arena.offset(plus(form, Linear(buffer.prefetch))))

    def _moves(self, load: Load) -> bool:
        """Tell whether a load wants a prefetch, and the next iteration loads elsewhere."""
        return (
            self.context.buffers[load.buffer].prefetch > 0
            and load.lane_offset is None
            and not self.arena.buffers(load.offset)
            and self.loop.var.name in self.arena.variables(load.offset)
        )

    def _is_new(self, form: Linear, buffer: str, size: int, seen: Places) -> bool:
        key = buffer, form.terms
        places = seen.get(key, ())
        if any(abs(form.const - p) * size < LINE_BYTES for p in places):
            return False
        seen[key] = (*places, form.const)
        return True
