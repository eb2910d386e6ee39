"""Which elements are written before which reads: a walk with boxes, and integer sets where boxes fail.

The walk follows the text once. At each point it holds, for each buffer, boxes of elements that statements
above have certainly written in the current iteration of the scopes that are open. Where a scope closes, its
boxes grow by the range of its iterations, or are forgotten when that leaves gaps. Boxes only ever prove
that a read is fine; whatever they do not prove is decided exactly by `Sets`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from perfdojo.compiler.analysis.accesses import Access, Condition, Model, common_scopes
from perfdojo.compiler.analysis.affine import Affine, Atom
from perfdojo.compiler.analysis.bounds import bounded, implied, iteration, tighter
from perfdojo.compiler.analysis.boxes import Box, Key, Written, add, grow, merged
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.ir import Node, Op, Scope
from perfdojo.compiler.walk import const_int, loads


class Uncovered(NamedTuple):
    """An element that is read, or left at the end, without being written."""

    element: tuple[int, ...]
    iteration: Mapping[str, int]


_NO_PROOF = Uncovered((), {})


class Coverage:
    """One walk over `nodes`, which are statements and scopes in the iteration of the scopes around them.

    Args:
        position: number of the first statement of `nodes` in the text.
        outer: how many scopes are around `nodes`; only writes in the same iteration of these count.
        only: the buffers to look at; None for every `tmp` and `out`.
        exact: ask integer sets where boxes do not prove a read; else such a read counts as uncovered.
    """

    def __init__(
        self,
        model: Model,
        nodes: Iterable[Node],
        position: int = 0,
        outer: int = 0,
        only: Iterable[str] | None = None,
        exact: bool = True,
    ) -> None:
        self.model, self.nodes, self.outer, self.exact = model, nodes, outer, exact
        self.position = position
        self.frames: list[Written] = [{}]
        written = (b.name for b in model.buffers.values() if b.role in ("tmp", "out"))
        self.watched = set(written if only is None else only)
        self.stored = {name: model.stored(name) for name in self.watched}

    def uncovered(self) -> Iterator[tuple[Access, Uncovered]]:
        """Yield each read of an element that may not have been written, in the order of the text."""
        return self._walk(self.nodes)

    def _walk(self, nodes: Iterable[Node]) -> Iterator[tuple[Access, Uncovered]]:
        for node in nodes:
            if isinstance(node, Scope):
                self.frames.append({})
                yield from self._walk(node.body)
                self._close(node)
                continue
            for access in self.model.accesses[self.position]:
                if access.load.buffer not in self.watched:
                    continue
                if access.reads and not self._covered(access):
                    found = exactly_uncovered(self.model, access, self.outer) if self.exact else _NO_PROOF
                    if found is not None:
                        yield access, found
                if access.writes:
                    self._write(access)
            self.position += 1

    # ------------------------------------------------------------ writes

    def _write(self, access: Access) -> None:
        dims = [access.indices[d] for d in self.stored[access.load.buffer]]
        if any(not form.quasi_affine for form in dims):
            return
        conditions = frozenset(access.conditions)
        if conditions and only_inside(self.model, access):
            conditions = frozenset()
        if any(not self._constant_data(c) for c in conditions):
            return
        key = Key(tuple(Affine(0, f.terms) for f in dims), ((),) * len(dims), conditions)
        box = tuple((f.const, f.const) for f in dims)
        add(self.frames[-1], access.load.buffer, key, [box])

    def _constant_data(self, condition: Condition) -> bool:
        """True when a condition cannot change its value between two statements of one iteration."""
        return all(self.model.buffers[load.buffer].role == "in" for load in loads(condition[0]))

    def _close(self, scope: Scope) -> None:
        closed = self.frames.pop()
        extent = const_int(scope.extent)
        for buffer, found in closed.items():
            for key, boxes in found.items():
                grown = grow(key, boxes, scope.name, extent)
                if grown is not None:
                    add(self.frames[-1], buffer, *grown)

    # ------------------------------------------------------------ reads

    def _covered(self, access: Access) -> bool:
        dims = tuple(access.indices[d] for d in self.stored[access.load.buffer])
        held: list[Affine] | None = None
        known: Mapping[Atom, Range] = {}
        for refined in (False, True) if access.conditions else (False,):
            if refined:
                held = [f for c in access.conditions for f in implied(self.model.forms, c)]
                known = tighter(self.model.forms, held)
            for frame in reversed(self.frames):
                for key, boxes in frame.get(access.load.buffer, {}).items():
                    if any(key.strides) or not key.conditions.issubset(access.conditions):
                        continue
                    if self._inside(dims, key, boxes, held, known):
                        return True
        return False

    def _inside(
        self,
        dims: tuple[Affine, ...],
        key: Key,
        boxes: list[Box],
        held: list[Affine] | None,
        known: Mapping[Atom, Range],
    ) -> bool:
        wanted = []
        for form, linear in zip(dims, key.linear, strict=True):
            offset = form.plus(linear, -1) if linear.terms else form
            wanted.append(
                self.model.forms.range(offset)
                if held is None
                else bounded(self.model.forms, offset, held, known)
            )
        return any(
            all(b[0] <= w[0] and w[1] <= b[1] for w, b in zip(wanted, box, strict=True)) for box in boxes
        )

    def complete(self, buffer: str) -> bool:
        """True when boxes show, at the end of the walk, that every element of a buffer is written."""
        full = tuple((0, n - 1) for n in (self.model.shape(buffer)[d] for d in self.stored[buffer]))
        boxes = [
            box
            for key, found in self.frames[0].get(buffer, {}).items()
            if not key.conditions and not any(key.strides) and not any(f.terms for f in key.linear)
            for box in found
        ]
        return any(
            all(b[0] <= f[0] and f[1] <= b[1] for b, f in zip(box, full, strict=True))
            for box in merged(boxes)
        )


def exactly(model: Model, condition: Condition) -> list[Affine] | None:
    """Return forms that are all >= 0 exactly where a condition without parts holds, None where none are."""
    expr, _ = condition
    if not isinstance(expr, Op) or expr.op not in ("lt", "le", "gt", "ge"):
        return None
    return list(implied(model.forms, condition)) or None


def only_inside(model: Model, access: Access) -> bool:
    """True when the conditions say no more than that the stored indices lie in the buffer, as they must."""
    shape, stored = model.shape(access.load.buffer), model.stored(access.load.buffer)
    for condition in access.conditions:
        held = exactly(model, condition)
        if held is None:
            return False
        for form in held:
            if not any(_is_bound(form, access.indices[d], shape[d]) for d in stored):
                return False
    return True


def _is_bound(form: Affine, index: Affine, extent: int) -> bool:
    """True when `form >= 0` holds for every value of `index` in 0 .. extent - 1."""
    if form.terms == index.terms:
        return form.const - index.const >= 0
    total = form.plus(index)
    return not total.terms and total.const - (extent - 1) >= 0


# ---------------------------------------------------------------- integer sets


def exactly_uncovered(model: Model, read: Access, outer: int = 0) -> Uncovered | None:
    """Return the first element that `read` names before any write to it, None when there is none.

    Args:
        outer: only writes in the same iteration of this many outermost scopes count.
    Raises:
        Undecided: the sets are too complicated.
    """
    pieces = []
    for write in model.by_buffer[read.load.buffer]:
        if write.writes:
            common = common_scopes(read, write)
            above = write.position < read.position
            pieces += [(level, write, common) for level in range(outer, common + above)]
    # The same iteration first, and the statement nearest above: most reads end there.
    pieces.sort(key=lambda p: (-p[0], -p[1].position))
    sets = model.sets
    with sets.decided():
        left = sets.possible(read)
        for level, write, common in pieces:
            if left.is_empty():
                return None
            wrote = sets.certain(write)
            if wrote is not None:
                left = left.subtract(sets.before(read, write, level, common).apply_range(wrote))
        if left.is_empty():
            return None
        at = sets.first_point(left.wrap())
    depth = len(read.scopes)
    return Uncovered(tuple(at[depth:]), iteration(read.scopes, at[:depth]))


def never_written(model: Model, buffer: str) -> Uncovered | None:
    """Return the first element of a buffer that no statement certainly writes, None when there is none."""
    sets = model.sets
    with sets.decided():
        left = sets.buffer(buffer)
        for write in model.by_buffer.get(buffer, ()):
            wrote = sets.certain(write) if write.writes else None
            if wrote is not None:
                left = left.subtract(wrote.range())
            if left.is_empty():
                return None
        return Uncovered(tuple(sets.first_point(left)), {})
