"""Create temporary: a part of a buffer is copied, and accessed there (stage, cache, pack)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import (
    SPACES,
    Buffer,
    Expr,
    Iter,
    Literal,
    Load,
    Node,
    Op,
    Program,
    Scope,
    Statement,
)
from perfdojo.compiler.linear import Linear, iteration, shifted
from perfdojo.compiler.starts import implicit_starts
from perfdojo.compiler.transforms._bordered import bordered
from perfdojo.compiler.transforms._offers import REPEATED, offers
from perfdojo.compiler.transforms._proved import Region, accesses_in
from perfdojo.compiler.transforms._staging import Staging, box_around, boxed, listed
from perfdojo.compiler.transforms.base import (
    Setting,
    Transform,
    Violation,
    made,
    no_buffer,
    no_free_name,
)
from perfdojo.compiler.transforms.spelling import arg, new
from perfdojo.compiler.tree import Body, edit_body, fresh, taken_names
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import map_expr, map_statement, map_statements


@dataclass(frozen=True, slots=True)
class CreateTemporary(Transform):
    """Copy what a scope or a statement accesses of a buffer, and access the copy instead.

        create_temporary x at j
        i:N { j:M { U(x[{i}*4+{j}]) } }
          ->  i:N { x_t_0:M { x_t[{x_t_0}] = x[{i}*4+{x_t_0}] }; j:M { U(x_t[{j}]) } }

        create_temporary b at i layout [j k]
        i:N { k:K { j:M { U(b[{k},{j}]) } } }
          ->  b_t_j:M { b_t_k:K { b_t[{b_t_j},{b_t_k}] = b[{b_t_k},{b_t_j}] } }
              i:N { k:K { j:M { U(b_t[{j},{k}]) } } }

        create_temporary x at i border
        i:N { U(1 <= {i} ? x[{i}-1] : 0) }
          ->  x_t_0:N { x_t[{x_t_0}] = 0 <= {x_t_0}-1 ? x[{x_t_0}-1] : 0 }; i:N { U(x_t[{i}]) }

        create_temporary c at k writes
        i:N { k:K { c[{i}] += .. } }
          ->  i:N { c_t[0] = c[{i}]; k:K { c_t[0] += .. }; c[{i}] = c_t[0] }

    The copy is made right before each run of the node. Without `layout` it has the shape of the buffer, cut
    to what the node accesses in one iteration of the scopes around it. With `layout j k` it has one dimension
    for each of these scopes, j being the slowest in memory: so panels are packed in the order of their use.
    With `writes` the node writes the copy, and what it wrote is copied back right behind it.
    With `border` the copy also holds what reads outside of the buffer are replaced by, so that the node
    needs no conditions.

    0. The buffer and the node exist, and the new name is free.
    1. The target has the memory space, and no scope around is a stream or a hardware loop.
    2. The node reads the buffer; with `writes` it writes it.
    3. Without `writes` it does not write it; with `writes` there is no `border`.
    4. With `border`: all reads stand in selects with one literal, which test the bounds of the indices alone.
    5. With `layout`: one expression is accessed, and the layout lists the scopes in the node that occur in
       it; what its indices read is not written in the node, and then it is read without condition.
    6. Without `layout`: all accesses move alike with the scopes around, and data decide no index that
       changes. In no case does the buffer hold its own indices.
    7. With `writes`: exactly the elements that are written are written back: one write covers them, in each
       iteration of the scopes around, under no condition but their bounds.
    8. (D) What is copied in has been written, and the program stays proved: an index that reads the copy has
       no promised values, for instance.
    """

    aliases = ("stage_mem", "cache_read", "cache_write", "pack")

    buffer: str = arg("buffer")
    at: str = arg("node", "at")
    layout: tuple[str, ...] | None = arg("names", "layout", default=None)
    writes: bool = arg("flag", "writes", default=False)
    border: bool = arg("flag", "border", default=False)
    space: str = arg("word", "in", default="", choices=tuple(sorted(SPACES)))
    names: tuple[str, ...] = new(1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[CreateTemporary]:
        near = bool(setting.target.spaces - {"heap", "stack"})
        far = "dma" in setting.target.marks
        for buffer, at, layout, writes, border in offers(model(program), near, far):
            yield cls(buffer, at, layout, writes, border)

    # ------------------------------------------------------------ legality

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        if self._place(program) is None:
            known_names = (*program.scopes, *program.statements)
            yield Violation(0, f"there is no scope or statement {self.at}", known=tuple(known_names))
        yield from no_free_name(program, self.names)
        if self.space and self.space not in setting.target.spaces:
            offered = f"it has {' '.join(sorted(setting.target.spaces))}"
            yield Violation(1, f"target {setting.target.name} has no memory space {self.space}", offered)
        place = self._place(program)
        assert place is not None
        repeated = next((s for s in place.around if s.mark in REPEATED), None)
        if repeated is not None:
            yield Violation(1, f"scope {repeated.name} around {self.at} is marked @{repeated.mark}")
        yield from self._use(program, place)
        staging = self._staging(program)
        if isinstance(staging, Violation):
            yield staging
            return
        if not staging.proved:
            yield from _unproved(self.rewrite(program))

    def _use(self, program: Program, place: Region) -> Iterator[Violation]:
        accesses = [a for a in accesses_in(model(program), place) if a.load.buffer == self.buffer]
        writing = next((a for a in accesses if a.writes), None)
        if self.writes and writing is None:
            yield Violation(2, f"{self.at} does not write {self.buffer}", "leave out 'writes'")
        if not accesses:
            yield Violation(2, f"{self.at} does not read {self.buffer}")
        if self.writes and self.border:
            yield Violation(3, "a border is read, not written", "leave out 'border' or 'writes'")
        if writing is not None and not self.writes:
            reason = f"{self.at} writes {self.buffer} in statement {writing.statement.name}"
            yield Violation(3, reason, "add 'writes'")
        for access in accesses:
            if any(self.buffer in _buffers(index) for index in access.load.indices):
                yield Violation(6, f"{self.at} accesses {self.buffer} at indices that it holds itself")

    def _place(self, program: Program) -> Region | None:
        return program.scopes.get(self.at) or program.statements.get(self.at)

    def _staging(self, program: Program) -> Staging | Violation:
        known = model(program)
        key = ("create_temporary", self)
        if key not in known.answers:
            place = self._place(program)
            assert place is not None
            accesses = [a for a in accesses_in(known, place) if a.load.buffer == self.buffer]
            if self.border:
                found = bordered(known, place, accesses, self.layout)
            elif self.layout is None:
                box = box_around(known, place, accesses, self.writes)
                found = boxed(known, place, accesses, self.writes, box)
            else:
                found = listed(known, place, accesses, self.layout, self.writes)
            known.answers[key] = found
        return cast("Staging | Violation", known.answers[key])

    # ------------------------------------------------------------ rewrite

    def rewrite(self, program: Program) -> Program:
        staging, place = self._staging(program), self._place(program)
        assert isinstance(staging, Staging)
        assert place is not None
        taken = taken_names(program)
        taken.update(self.names)
        name = made(self.names, 0, f"{self.buffer}_t", taken)
        shape = tuple(Literal(extent, I64) for _, extent in staging.dims)
        copy = Buffer(name, "tmp", program.buffer(self.buffer).dtype, shape, self.space)
        around: list[Node] = []
        if staging.copied_in:
            # named like its buffer, as the text names a statement without a name
            around.append(_nest(staging, name, fresh(name, taken - {name}), "", taken, None))
        around.append(_reading(place.node, name, staging))
        if staging.copied_out:
            target = Load(self.buffer, staging.element)
            around.append(_nest(staging, name, fresh(f"{name}_out", taken), "_out", taken, target))
        at = place.position

        def insert(body: Body) -> Body:
            return (*body[:at], *around, *body[at + 1 :])

        program = replace(program, buffers=(*program.buffers, copy))
        return edit_body(program, place.around[-1].name if place.around else None, insert)


def _nest(
    staging: Staging, copy: str, statement: str, end: str, taken: set[str], target: Load | None
) -> Node:
    """Return the nest that fills the copy, or that writes it back to `target`."""
    names = {slot: fresh(f"{copy}_{slot}{end}", taken) for slot, _ in staging.dims if slot}
    values = {slot: iteration(name) for slot, name in names.items()}
    own = Load(copy, tuple(Iter(names[s]) if s else Literal(0, I64) for s, _ in staging.dims))
    guard: Expr | None = None
    for test in (shifted(t, values) for t in staging.tests):
        guard = test if guard is None else Op("and", (guard, test))
    if target is None:
        node: Node = Statement(statement, own, "=", shifted(staging.value, values), guard)
    else:
        node = Statement(statement, _shifted_load(target, values), "=", own, guard)
    for slot, extent in reversed(staging.dims):
        if slot:
            node = Scope(names[slot], Literal(extent, I64), (node,))
    return node


def _shifted_load(load: Load, values: dict[str, Linear]) -> Load:
    found = shifted(load, values)
    assert isinstance(found, Load)
    return found


def _reading(node: Node, copy: str, staging: Staging) -> Node:
    """Return the node with its accesses going to the copy."""

    def to_copy(e: Expr) -> Expr:
        if not isinstance(e, Load | Op):
            return e
        indices = staging.replaced.get(e)
        return e if indices is None else Load(copy, indices, e.span)

    def changed(s: Statement) -> Statement:
        return map_statement(to_copy, s)

    if isinstance(node, Statement):
        return changed(node)
    return replace(node, body=map_statements(changed, node.body))


def _unproved(program: Program) -> Iterator[Violation]:
    try:
        verify(replace(program, source=None))  # its words would come from the text of another program
    except PerfDojoError as error:
        yield Violation(8, f"with the copy {error.message}", error.hint)
    for _, statement in implicit_starts(program):
        yield Violation(8, f"statement {statement.name} would start {statement.target.buffer} anew")


def _buffers(expr: Expr) -> set[str]:
    found: set[str] = set()

    def note(e: Expr) -> Expr:
        if isinstance(e, Load):
            found.add(e.buffer)
        return e

    map_expr(note, expr)
    return found


TRANSFORM = CreateTemporary
