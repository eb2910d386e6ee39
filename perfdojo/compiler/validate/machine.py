"""Executes a bound program on terms: storage as it is, iterations in order, every access checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from perfdojo.compiler.ir import CONCURRENT_MARKS, LANE_MARKS, Buffer, Load, Node, Program, Scope, Statement
from perfdojo.compiler.validate.draws import Draw
from perfdojo.compiler.validate.expressions import Compiler, Decides, Scopes, Value
from perfdojo.compiler.validate.faults import Fault
from perfdojo.compiler.validate.forms import Known, Open
from perfdojo.compiler.validate.places import Place, element_at, layout, place
from perfdojo.compiler.validate.races import READ, REDUCE, WRITE, Concurrent, Record
from perfdojo.compiler.validate.terms import UNWRITTEN, Terms, stored_elements
from perfdojo.compiler.validate.updates import assignment, reduction
from perfdojo.compiler.walk import const_int, loads

Run = Callable[[], None]
_CONCURRENT = CONCURRENT_MARKS | LANE_MARKS


class Machine:
    """One program, compiled to closures once, run once for each draw.

    Args:
        watched: whether iterations of concurrent scopes are watched for meeting each other.
    Raises:
        Fault: the program has no meaning whatever the data.
    """

    def __init__(self, program: Program, terms: Terms, watched: bool) -> None:
        self.program, self.terms, self.watched = program, terms, watched
        self.draw = Draw(terms, 0)
        self.buffers = {b.name: b for b in program.buffers}
        self.memory: dict[str, list[int]] = {}
        self.record = Record()
        self._now: list[int] = []
        self._layout = {b.name: layout(b) for b in program.buffers}
        address = 0
        for b in program.buffers:
            count = stored_elements(b)
            self.memory[b.name] = [UNWRITTEN] * count
            self.record.buffers.append(b)
            self.record.starts.append(address)
            address += count
        self._address = dict(zip(self.memory, self.record.starts, strict=True))
        self._uses: Counter[str] | None = None
        self._body = [self._node(n, {}, frozenset()) for n in program.body]

    def run(self, draw: Draw) -> dict[str, list[int]]:
        """Return the storage of the out and inout buffers after a run.

        Raises:
            Fault: an access leaves its buffer or reads what nothing wrote, or concurrent iterations meet.
        """
        self.draw = draw
        self.record.entries.clear()
        for name, storage in self.memory.items():
            first = self.terms.first.get(name)
            count = len(storage)
            storage[:] = [UNWRITTEN] * count if first is None else range(first, first + count)
        for run in self._body:
            run()
        return {b.name: list(self.memory[b.name]) for b in self.program.buffers if b.role in ("out", "inout")}

    # ------------------------------------------------------------ scopes

    def _node(self, node: Node, scopes: Scopes, watched: frozenset[str]) -> Run:
        if isinstance(node, Statement):
            return self._statement(node, scopes, watched)
        position, extent = len(self._now), const_int(node.extent)
        self._now.append(0)
        concurrent = self.watched and extent > 1 and node.mark in _CONCURRENT
        outermost = concurrent and not watched
        inside = tuple(_statements(node.body)) if concurrent else ()
        if outermost:
            watched = frozenset(s.target.buffer for s in inside)
        inner = {**scopes, node.name: (position, extent)}
        body = [self._node(n, inner, watched) for n in node.body]
        if not concurrent:
            return _loop(self._now, position, extent, body)
        uses = Counter(b for s in inside for b in _touched(s))
        if self._uses is None:
            self._uses = Counter(b for s in _statements(self.program.body) for b in _touched(s))
        everywhere = self._uses
        private = (b for b, n in uses.items() if n == everywhere[b] and self.buffers[b].role == "tmp")
        rule = Concurrent(node.name, node.mark, frozenset(private))
        return self._concurrent_loop(position, extent, body, rule, outermost)

    def _concurrent_loop(
        self, position: int, extent: int, body: list[Run], rule: Concurrent, outermost: bool
    ) -> Run:
        now, record = self._now, self.record
        entries = record.entries

        def run() -> None:
            bounds = [len(entries)]
            for n in range(extent):
                now[position] = n
                for step in body:
                    step()
                bounds.append(len(entries))
            rule.check(record, bounds)
            if outermost:
                entries.clear()

        return run

    # ------------------------------------------------------------ statements

    def _statement(self, s: Statement, scopes: Scopes, watched: frozenset[str]) -> Run:
        def where() -> str:
            values = ", ".join(
                f"{{{name}}} = {self._now[position]}" for name, (position, _) in scopes.items()
            )
            return f"in statement {s.name}" + (f" at {values}" if values else "")

        def load(e: Load, buffer: Buffer, indices: Sequence[Value]) -> Open:
            found = place(buffer, self._layout[buffer.name], indices, self._index, where, self._now)
            return self._load(buffer, found, where, watched)

        try:
            compiler = Compiler(self.terms, self.buffers, scopes, self._now, load, self._decides)
            buffer, indices = compiler.access(s.target)
            value = compiler.value(s.value)
            guard = None if s.guard is None else compiler.value(s.guard)
            if buffer.role == "in":
                raise Fault(f"writes {buffer.name}, an input")
            if value.dtype != buffer.dtype:
                raise Fault(f"writes {value.dtype} into {buffer.name}, which is {buffer.dtype}")
            if guard is not None and guard.dtype.kind != "bool":
                raise Fault("has a guard that is no bool")
            if s.op != "=" and buffer.dtype.kind == "bool":
                raise Fault(f"has '{s.op}' on bool")
        except Fault as fault:
            raise Fault(f"is wrong in statement {s.name}, which {fault}") from None
        target = place(buffer, self._layout[buffer.name], indices, self._index, where, self._now)
        if s.target.buffer in watched:
            kind = WRITE if s.op == "=" else REDUCE[s.op]
            target = self._watch(target, buffer, kind)
        unwritten = self._unwritten(buffer, target, where)
        storage, offset, term = self.memory[buffer.name], target.offset, compiler.term(value)
        if s.op == "=":
            run = assignment(self.terms, buffer, storage, offset, term)
        else:
            run = reduction(self.terms, s.op, buffer.dtype, storage, offset, term, unwritten)
        if guard is None:
            return run.always
        if isinstance(guard, Known):
            return _if_known(guard.value, run.always)
        return _if_open(guard.value, run.always, run.under, self.terms, self._decides)

    def _decides(self, condition: int) -> bool | None:
        return self.draw.decides(condition)

    def _index(self, value: Open) -> Callable[[], int]:
        """Return what computes the number of a term that is used as an index."""
        make = value.value
        return lambda: self.draw.index(make())

    def _load(self, buffer: Buffer, found: Place, where: Callable[[], str], watched: frozenset[str]) -> Open:
        storage = self.memory[buffer.name]
        if buffer.name in watched:
            found = self._watch(found, buffer, READ)
        element = element_at(storage, found, self._now)
        if buffer.role in ("in", "inout"):
            return Open(buffer.dtype, element)
        unwritten = self._unwritten(buffer, found, where)

        def run() -> int:
            term = element()
            if term < 0:
                raise unwritten()
            return term

        return Open(buffer.dtype, run)

    def _watch(self, found: Place, buffer: Buffer, kind: int) -> Place:
        offset, base, note = found.offset, self._address[buffer.name] * 8 + kind, self.record.entries.append

        def run() -> int:
            at = offset()
            note(base + at * 8)
            return at

        return Place(run, found.name)

    def _unwritten(self, buffer: Buffer, found: Place, where: Callable[[], str]) -> Callable[[], Fault]:
        return lambda: Fault(f"reads {found.name()} before anything wrote it, {where()}")


def _statements(body: Sequence[Node]) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, Scope):
            yield from _statements(node.body)
        else:
            yield node


def _touched(s: Statement) -> Iterator[str]:
    """Yield the name of the buffer of each access."""
    yield s.target.buffer
    for e in (s.value, s.guard, *s.target.indices):
        if e is not None:
            yield from (load.buffer for load in loads(e))


def _loop(now: list[int], position: int, extent: int, body: list[Run]) -> Run:
    if len(body) == 1:
        (only,) = body

        def single() -> None:
            for n in range(extent):
                now[position] = n
                only()

        return single

    def run() -> None:
        for n in range(extent):
            now[position] = n
            for step in body:
                step()

    return run


def _if_known(holds: Callable[[], int], then: Run) -> Run:
    def run() -> None:
        if holds():
            then()

    return run


def _if_open(
    guard: Callable[[], int], then: Run, under: Callable[[int], None], terms: Terms, decides: Decides
) -> Run:
    def run() -> None:
        condition = guard()
        if condition == terms.true:
            then()
        elif condition != terms.false:
            try:
                under(condition)
            except Fault:
                if decides(condition) is not False:
                    raise

    return run
