"""Recompute: a scope computes the part of a buffer that it reads itself (compute_at, overlapped tiling)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import Access, Model, common_scopes, model
from perfdojo.compiler.analysis.affine import Affine
from perfdojo.compiler.analysis.conflicts import depth_of
from perfdojo.compiler.analysis.footprint import Box, hull
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Buffer, Expr, Iter, Literal, Load, Node, Op, Program, Scope, Statement
from perfdojo.compiler.transforms._forms import spelled_form
from perfdojo.compiler.transforms._staging import box_indices
from perfdojo.compiler.transforms._storage import (
    UNDECIDED,
    broken_mark,
    in_hardware_loop,
    reads_back,
    with_buffers,
    without_empty,
)
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    legal,
    made,
    no_buffer,
    no_free_name,
    no_scope,
)
from perfdojo.compiler.transforms.inline import (
    ValueAt,
    claims,
    equal_depth,
    flow,
    is_plain,
    looks_kept,
    not_one_producer,
    producer_of,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import Body, fresh, rebuild, taken_names, with_body
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import loads, map_expr, map_statement, map_statements


@dataclass(frozen=True, slots=True)
class Recompute(Transform):
    """Compute at the beginning of each iteration of a scope what it reads of a buffer, into a smaller one.

        recompute t at i
        n:N+2 { t[{n}] = e({n}) }                 i:N { t_r_0:3 { t_r[{t_r_0}] = e({i}+{t_r_0}) }
        i:N { y[{i}] = t[{i}] + t[{i}+2] }   ->         y[{i}] = t_r[0] + t_r[2] }

    The new buffer is the box around what is read in one iteration of the scope and of those around it; where
    it sticks out of what is written to t, its elements stay empty. The statement that wrote t goes when
    nothing else reads it.

    0. t is a buffer, i a scope, and the new name is free.
    1. t is a tmp that i reads.
    2. One statement, before i in the text, writes t: by `=`, without a guard; its indices are constants and
       iterators of different scopes, plus constants; its value does not read t.
    3. (D) Each read in i sees the value of the element that it names, written in the same iteration of the
       scopes that the value needs besides the indices.
    4. (D) Nothing that the value loads is written between that and the read.
    5. What is read is a box that moves with i and the scopes around it; data do not decide it.
    6. Scopes marked as concurrent stay so, literals keep their types in the text, and indices can still be
       proved to be inside.
    """

    aliases = ("compute_at",)

    buffer: str = arg("buffer")
    scope: str = arg("scope", "at")
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        known = model(program)
        for b in program.buffers:
            if b.role != "tmp" or not_one_producer(known, b.name):
                continue
            write = producer_of(known, b.name)
            around = {s.name for s in write.scopes}
            scopes = {
                s.name: None
                for a in known.by_buffer[b.name]
                if a.position > write.position
                for s in a.scopes
                if s.name not in around
            }
            moves = (cls(b.name, s) for s in scopes)
            likely = (m for m in moves if looks_kept(known, b.name, m._reads(known)))
            yield from legal(likely, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        yield from no_scope(program, self.scope)
        yield from no_free_name(program, self.names)
        if (role := program.buffer(self.buffer).role) != "tmp":
            yield Violation(1, f"{self.buffer} is an '{role}' buffer, not a tmp")
        known = model(program)
        reads = self._reads(known)
        if not reads:
            yield Violation(1, f"scope {self.scope} does not read {self.buffer}")
        if reason := not_one_producer(known, self.buffer):
            yield Violation(2, reason)
            return
        write = producer_of(known, self.buffer)
        if write.position >= known.extent_in_text[self.scope][0]:
            yield Violation(2, f"{write.statement.name} does not stand before scope {self.scope}")
        try:
            yield from flow(program, setting, self.buffer, reads)
        except Undecided:
            yield Violation(4, f"which values {self.buffer} would have is open: {UNDECIDED}")
            return
        if not all(f.quasi_affine for a in reads for f in a.indices):
            yield Violation(5, f"data decide what scope {self.scope} reads of {self.buffer}")
            return
        if self._box(known) is None:
            reason = f"the reads of {self.buffer} move differently with {self.scope} and the scopes around it"
            yield Violation(5, reason)
            return
        yield from self._proofs(program, known, reads)

    def _proofs(self, program: Program, known: Model, reads: list[Access]) -> Iterator[Violation]:
        place = program.scopes[self.scope]
        if reason := in_hardware_loop((*place.around, place.node)):
            yield Violation(6, reason)
        result = self.rewrite(program)
        node = result.scopes[self.scope].node.body[0]
        while isinstance(node, Scope):
            node = node.body[0]
        if not reads_back(node, result):
            yield Violation(6, f"a literal of {node.name} would change its type")
        write = producer_of(known, self.buffer)
        is_simple = equal_depth(known, self.buffer) == common_scopes(write, reads[0])
        if isinstance(node, Statement) and node.guard is None and is_simple and all(map(is_plain, reads)):
            if reason := broken_mark(result, (m for m in claims(known, self.buffer) if m in result.scopes)):
                yield Violation(6, reason)
            return
        try:
            verify(result)
        except PerfDojoError as error:
            yield Violation(6, f"the result could not be proved: {error.message}")

    def _reads(self, known: Model) -> list[Access]:
        return [a for a in known.within(self.scope) if a.load.buffer == self.buffer and not a.writes]

    def _box(self, known: Model) -> Box | None:
        return hull(known, self._reads(known), depth_of(known, self.scope) + 1)

    def rewrite(self, program: Program) -> Program:
        known = model(program)
        box, reads = self._box(known), self._reads(known)
        assert box is not None
        taken = taken_names(program)
        taken.update(self.names)
        name = made(self.names, 0, f"{self.buffer}_r", taken)
        old = program.buffer(self.buffer)
        shape = tuple(Literal(e.count, I64) for e in box.extents)
        copy = Buffer(name, "tmp", old.dtype, shape, old.space)
        nest = self._nest(known, box, name, taken)
        moved = box_indices(reads, range(len(shape)), box)

        def read(e: Expr) -> Expr:
            return Load(name, moved[e]) if isinstance(e, Load) and e in moved else e

        for load in sorted(moved, key=lambda e: sum(1 for _ in loads(e))):
            # operands come first, so that a read in an index of the buffer itself is another one by then
            assert isinstance(load, Load)
            inner = replace(load, indices=tuple(map_expr(read, i) for i in load.indices))
            moved[load] = moved[inner] = tuple(map_expr(read, i) for i in moved[load])

        def computed(scope: Scope) -> Iterator[Node]:
            body = map_statements(lambda s: map_statement(read, s), scope.body)
            yield with_body(scope, (nest, *body))

        result = with_buffers(rebuild(program, self.scope, computed), (copy,))
        others = [a for a in known.by_buffer[self.buffer] if not a.writes and a not in reads]
        if others:
            return result
        body: Body = without_empty(result.body, lambda s: s.target.buffer == self.buffer)
        return with_buffers(result, gone=self.buffer, body=body)

    def _nest(self, known: Model, box: Box, name: str, taken: set[str]) -> Node:
        """The statement that fills the new buffer, in scopes over its dimensions."""
        write = producer_of(known, self.buffer)
        slots = [fresh(f"{name}_{d}", taken) if e.count > 1 else "" for d, e in enumerate(box.extents)]
        element, guard = [], None
        for d, (extent, slot) in enumerate(zip(box.extents, slots, strict=True)):
            step = Affine(0, {slot: extent.stride} if slot else {})
            index = spelled_form(extent.base.plus(step))
            element.append(index)
            low, high = known.forms.range(extent.base)
            high += extent.stride * (extent.count - 1)
            first, last = known.forms.range(write.indices[d])
            tests = [Op("ge", (index, Literal(first, I64)))] if low < first else []
            tests += [Op("le", (index, Literal(last, I64)))] if high > last else []
            for test in tests:
                guard = test if guard is None else Op("and", (guard, test))
        value = ValueAt(known, self.buffer)(Load(self.buffer, tuple(element)))
        target = Load(name, tuple(Iter(s) if s else Literal(0, I64) for s in slots))
        node: Node = Statement(name, target, "=", value, guard)
        for slot, extent in reversed(list(zip(slots, box.extents, strict=True))):
            if slot:
                node = Scope(slot, Literal(extent.count, I64), (node,))
        return node


TRANSFORM = Recompute
