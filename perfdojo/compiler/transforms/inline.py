"""Inline: a buffer's values are computed where they are read; the buffer goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Access, Model, model
from perfdojo.compiler.analysis.lifetimes import changed_between, private_depth, remembered
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import F64, I64
from perfdojo.compiler.ir import Cast, Expr, Literal, Load, Op, Program, Statement
from perfdojo.compiler.linear import Linear, expression, linear, shifted
from perfdojo.compiler.transforms._storage import (
    UNDECIDED,
    broken_mark,
    folded,
    marked_around,
    reads_back,
    touches,
    with_buffers,
    without_empty,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_buffer
from perfdojo.compiler.transforms.materialize_dims import MaterializeDims
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import Body
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import (
    dtype_of,
    iterators,
    map_statement,
    map_statements,
    subexpressions,
    substitute,
)

MOST = 256
"""Operations, loads and constants of a statement beyond which it is not made larger: chains of buffers that
are read twice would double with each step."""


@dataclass(frozen=True, slots=True)
class Inline(Transform):
    """Compute the value of a buffer's element at each place that reads it, and drop the buffer.

        inline t
        N t[{0}] = exp(x[{0}])
        N y[{0}] = t[{0}] + t[{0}//2]   ->   N y[{0}] = exp(x[{0}]) + exp(x[{0}//2])

    0. t is a buffer.
    1. t is a tmp.
    2. One statement writes it: by `=`, without a guard; its indices are constants and iterators of different
       scopes, plus constants; its value does not read t. Something reads t.
    3. (D) Each read sees the value of the element that it names, written in the same iteration of the scopes
       that the value needs besides the indices.
    4. (D) Nothing that the value loads is written between that and the read.
    5. No statement becomes larger than 256 operations, and its literals keep their types in the text.
    6. Scopes marked as concurrent stay so, and indices can still be proved to be inside.
    """

    aliases = ("compute_inline",)

    buffer: str = arg("buffer")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        known = model(program)
        names = (b.name for b in program.buffers if b.role == "tmp" and not not_one_producer(known, b.name))
        yield from legal(
            (cls(n) for n in names if looks_kept(known, n, reads_of(known, n))), program, setting
        )

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        if (role := program.buffer(self.buffer).role) != "tmp":
            yield Violation(1, f"{self.buffer} is an '{role}' buffer, not a tmp")
        known = model(program)
        if reason := not_one_producer(known, self.buffer):
            yield Violation(2, reason)
            return
        reads = reads_of(known, self.buffer)
        if not reads:
            yield Violation(2, f"nothing reads {self.buffer}", "use delete_dead")
        try:
            yield from flow(program, setting, self.buffer, reads)
        except Undecided:
            yield Violation(4, f"which values {self.buffer} would have is open: {UNDECIDED}")
            return
        yield from self._text(program)
        yield from self._proofs(program, reads)

    def _text(self, program: Program) -> Iterator[Violation]:
        for place in program.statements.values():
            if not touches(place.node, self.buffer) or place.node.target.buffer == self.buffer:
                continue
            after = self._inlined(program, place.node)
            size = sum(1 for _ in subexpressions(after.value))
            if size > MOST:
                yield Violation(5, f"{after.name} would have {size} operations; the limit is {MOST}")
            if not reads_back(after, program):
                reason = f"a literal of {self.buffer}'s value would change its type in {after.name}"
                yield Violation(5, reason)

    def _proofs(self, program: Program, reads: list[Access]) -> Iterator[Violation]:
        marked = claims(model(program), self.buffer)
        plain = all(map(is_plain, reads))
        if plain and not marked:
            return
        result = self.rewrite(program)
        if reason := broken_mark(result, (m for m in marked if m in result.scopes)):
            yield Violation(6, reason)
        if plain:
            return
        try:
            verify(result)
        except PerfDojoError as error:
            yield Violation(6, f"the result could not be proved: {error.message}")

    def _inlined(self, program: Program, statement: Statement) -> Statement:
        known = model(program)
        made = ValueAt(known, self.buffer)

        def at(e: Expr) -> Expr:
            return made(e, False) if isinstance(e, Load) and e.buffer == self.buffer else e

        def typed(e: Expr) -> Expr:
            return made(e, True) if isinstance(e, Load) and e.buffer == self.buffer else e

        plain = map_statement(lambda e: folded(at(e)), statement)
        return plain if reads_back(plain, program) else map_statement(lambda e: folded(typed(e)), statement)

    def rewrite(self, program: Program) -> Program:
        def statement(s: Statement) -> Statement:
            mine = s.target.buffer == self.buffer
            return self._inlined(program, s) if not mine and touches(s, self.buffer) else s

        body: Body = without_empty(program.body, lambda s: s.target.buffer == self.buffer)
        return with_buffers(program, gone=self.buffer, body=map_statements(statement, body))


def claims(known: Model, buffer: str) -> list[str]:
    """Return the marked scopes that reads of what a buffer's value loads could make wrong."""
    loaded = [a.load.buffer for a in known.accesses[producer_of(known, buffer).position] if a.reads]
    is_written = any(a.writes for b in loaded for a in known.by_buffer[b])
    return marked_around(known, buffer, *loaded) if is_written else []


def is_plain(access: Access) -> bool:
    """Tell whether a read happens always, at indices that data do not decide, and its value decides none."""
    return not access.conditions and all(f.quasi_affine for f in access.indices) and _is_value(access)


def reads_of(known: Model, buffer: str) -> list[Access]:
    """Return the reads of a buffer."""
    return [a for a in known.by_buffer[buffer] if not a.writes]


def looks_kept(known: Model, buffer: str, reads: list[Access]) -> bool:
    """Tell whether the order of the text and single dimensions show condition 4: what candidates ask."""
    write, equal = producer_of(known, buffer), equal_depth(known, buffer)
    return not any(any(changed_between(known, write, r, equal, exact=False)) for r in reads)


def equal_depth(known: Model, buffer: str) -> int:
    """Return how many outermost scopes are in one iteration in reads and in the writes that they see."""
    return remembered(known, ("private depth", buffer), lambda: private_depth(known, buffer))


def _is_value(access: Access) -> bool:
    """Tell whether an access stands in the value as an operand, not in an index or a condition."""
    todo = [access.statement.value]
    while todo:
        e = todo.pop()
        if e is access.load:
            return True
        if isinstance(e, Cast):
            todo.append(e.arg)
        elif isinstance(e, Op):
            todo.extend(e.args[1:] if e.op == "select" else e.args)
    return False


def producer_of(known: Model, buffer: str) -> Access:
    """Return the first write to a buffer."""
    return next(a for a in known.by_buffer[buffer] if a.writes)


def not_one_producer(known: Model, buffer: str) -> str:
    """Return why the elements of a buffer are not each the value of one statement; "" when they are."""
    writes = [a for a in known.by_buffer.get(buffer, ()) if a.writes]
    if len(writes) != 1:
        return f"{len(writes)} statements write {buffer}"
    write = writes[0]
    name = write.statement.name
    if write.kind != "write":
        return f"{name} accumulates into {buffer}"
    if write.statement.guard is not None:
        return f"{name} writes {buffer} under a guard only"
    if any(a.load.buffer == buffer for a in known.accesses[write.position] if not a.writes):
        return f"the value of {name} reads {buffer} itself"
    used = [s for form in write.indices for s in form.terms]
    if any(not isinstance(s, str) or c != 1 for form in write.indices for s, c in form.terms.items()) or any(
        len(form.terms) > 1 for form in write.indices
    ):
        return f"an index of {name} is no plain iterator"
    if len(set(used)) < len(used):
        return f"two indices of {name} have the same iterator"
    return ""


def flow(program: Program, setting: Setting, buffer: str, reads: list[Access]) -> Iterator[Violation]:
    """Yield conditions 3 and 4, that the value can be computed at the reads, where they do not hold.

    Raises:
        Undecided: the sets are too complicated.
    """
    known = model(program)
    write = producer_of(known, buffer)
    name = write.statement.name
    equal = equal_depth(known, buffer)
    indexed = {s for form in write.indices for s in form.scopes()}
    shared = {s.name for s in write.scopes[:equal]}
    free = sorted(iterators(write.statement.value) - indexed - shared)
    if free:
        reason = f"the value of {name} depends on scope {free[0]}, which does not index {buffer}"
        yield Violation(3, f"{reason} and is not around each read in one iteration")
    if program.buffer(buffer).reuse:
        found = MaterializeDims(buffer, program.buffer(buffer).reuse).why_not(program, setting)
        if found is not None:
            yield Violation(3, found.reason)
    for read in reads:
        for load, other in changed_between(known, write, read, equal):
            reason = f"{other.statement.name} can write {load.load.buffer}, which {name} loads"
            yield Violation(4, f"{reason}, before {read.statement.name} reads {buffer}")


class ValueAt:
    """The value of a buffer's element at a load of it; `typed` converts a literal that stands for itself."""

    def __init__(self, known: Model, buffer: str) -> None:
        self.known, self.write = known, producer_of(known, buffer)

    def __call__(self, load: Expr, typed: bool = False) -> Expr:
        assert isinstance(load, Load)
        value = self.write.statement.value
        if typed and isinstance(value, Literal):
            dtype = self.known.buffers[load.buffer].dtype
            return Cast(dtype, Literal(value.value, F64 if dtype.is_float else I64))
        given: dict[str, Expr] = {}
        for index, form in zip(load.indices, self.write.indices, strict=True):
            for scope in form.terms:
                assert isinstance(scope, str)
                given[scope] = self._minus(index, form.const)
        forms = {scope: linear(e) for scope, e in given.items()}
        if all(f is not None for f in forms.values()):
            return folded(shifted(value, {s: f for s, f in forms.items() if f is not None}))
        return folded(substitute(value, given))

    def _minus(self, index: Expr, offset: int) -> Expr:
        if dtype_of(index, self.known.explicit) != I64:
            index = Cast(I64, index)
        form = linear(index)
        if form is not None:
            return expression(form.plus(Linear((), offset), -1))
        return index if offset == 0 else Op("sub", (index, Literal(offset, I64)))


TRANSFORM = Inline
