"""Proof that a bound program has a meaning: bounds, reads of unwritten elements, races, outputs.

Decided by intervals and, where they do not suffice, by integer sets; never by enumeration.
"""

from __future__ import annotations

from collections.abc import Mapping

from perfdojo.compiler.analysis.accesses import Access, Model, model
from perfdojo.compiler.analysis.bounds import Outside, outside
from perfdojo.compiler.analysis.conflicts import repeated_start
from perfdojo.compiler.analysis.coverage import Coverage, Uncovered, never_written
from perfdojo.compiler.analysis.dependence import conflict
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import (
    CONCURRENT_MARKS,
    LANE_MARKS,
    Buffer,
    Expr,
    Literal,
    Load,
    Op,
    Program,
    Scope,
    Span,
)
from perfdojo.compiler.starts import implicit_starts
from perfdojo.compiler.text.render import expression
from perfdojo.compiler.walk import const_int, iterators, scopes, subexpressions

MAX_BYTES = 1 << 47
"""Largest buffer: what a process of a 64-bit machine can address (x86-64 and AArch64 user space)."""


def verify(program: Program) -> None:
    """Check that a bound program has a meaning.

    Raises:
        PerfDojoError: the first fault. Declarations come first, then each access by itself, then
            reads of elements that nothing wrote, concurrent iterations, and outputs left unwritten;
            within each in the order of the text.
    """
    _declarations(program)
    known = model(program)
    report = _Report(known)
    for check in (report.accesses, report.starts, report.reads, report.concurrency, report.outputs):
        check()


def _declarations(program: Program) -> None:
    for buffer in program.buffers:
        size = buffer.dtype.bytes
        for d, extent in enumerate(buffer.shape):
            if d in buffer.reuse:
                continue
            size *= const_int(extent) + (buffer.pad[d] if buffer.pad else 0)
        if size > MAX_BYTES:
            message = f"buffer '{buffer.name}' takes {size} bytes; the limit is 2^47 = {MAX_BYTES}"
            raise PerfDojoError(message, program.source, buffer.span, "choose smaller sizes")
        if buffer.nontemporal and buffer.role == "in":
            message = f"nontemporal is for buffers that are written, '{buffer.name}' is an 'in'"
            raise PerfDojoError(message, program.source, buffer.span)
        if buffer.prefetch < 0:
            message = f"prefetch({buffer.prefetch}) of '{buffer.name}'; it is a number of elements ahead"
            raise PerfDojoError(message, program.source, buffer.span)
        if buffer.values is None:
            continue
        if buffer.role != "in" or not buffer.dtype.is_integer:
            message = f"values({_plain(buffer)}) is a promise about an integer 'in' buffer"
            raise PerfDojoError(message, program.source, buffer.span)
        low, high = (const_int(v) for v in buffer.values)
        if max(low, buffer.dtype.smallest) >= min(high, buffer.dtype.largest + 1):
            message = f"values({_plain(buffer)}) leaves no value for '{buffer.name}'"
            if low < high:
                message += f", as {buffer.dtype} has {buffer.dtype.smallest} to {buffer.dtype.largest}"
            hint = "values(low, high) promises low <= element < high"
            raise PerfDojoError(message, program.source, buffer.span, hint)


def _plain(buffer: Buffer) -> str:
    return ", ".join(expression(e) for e in buffer.values or ())


class _Report:
    """The checks, and the words for what they find."""

    def __init__(self, known: Model) -> None:
        self.known = known
        self.program = known.program
        self.buffers = known.buffers

    def error(self, message: str, span: Span | None, hint: str = "") -> PerfDojoError:
        return PerfDojoError(message, self.program.source, span, hint)

    def undecided(self, what: str, span: Span | None) -> PerfDojoError:
        hint = (
            "write simpler indices and conditions: sums of iterators times constants, // and % by constants"
        )
        return self.error(f"{what} could not be decided: its integer sets are too complicated", span, hint)

    # -------------------------------------------------------- each access by itself

    def accesses(self) -> None:
        for (_, statement), accesses in zip(self.known.statements, self.known.accesses, strict=True):
            if statement.name in self.known.started:
                continue
            for expr in (*statement.target.indices, statement.value, statement.guard):
                if expr is not None:
                    self._divisions(expr)
            for access in accesses:
                if access.writes and self.buffers[access.load.buffer].role == "in":
                    message = f"'{access.load.buffer}' is an input and cannot be written"
                    raise self.error(message, access.load.span, "declare it 'inout', or use a tmp")
                try:
                    found = outside(self.known, access)
                except Undecided:
                    raise self.undecided(
                        f"whether {self.access(access)} stays in bounds", access.load.span
                    ) from None
                if found is not None:
                    raise self._outside(access, found)

    def _divisions(self, expr: Expr) -> None:
        for e in subexpressions(expr):
            if isinstance(e, Op) and e.op in ("floordiv", "mod"):
                divisor = e.args[1]
                if isinstance(divisor, Literal) and divisor.value == 0:
                    sign = "//" if e.op == "floordiv" else "%"
                    raise self.error(
                        f"'{sign}' by 0", divisor.span or e.span, "divide by a constant other than 0"
                    )

    def _outside(self, access: Access, found: Outside) -> PerfDojoError:
        extent = self.known.shape(access.load.buffer)[found.dimension]
        index = access.load.indices[found.dimension]
        elements = f"{extent} element" + ("" if extent == 1 else "s")
        text = self.access(access)
        if not found.unknown:
            where = self.at(found.iteration, index, *(c for c, _ in access.conditions))
            what = f"index {found.index} of dimension {found.dimension} is out of bounds ({elements})"
            message = f"{text}: {what}{where}"
            return self.error(message, access.load.span, self._bounds_hint(access, found.index, extent))
        where = self.at(found.iteration, index)
        known = "; ".join(self._known(e, found_range, access) for e, found_range in found.unknown)
        what = f"the index of dimension {found.dimension} can be {found.index}, out of bounds ({elements})"
        message = f"{text}: {what}{where}, as {known}"
        clamp = f"clamp it: min(max({self.source(index, access.scopes)}, 0), {extent - 1})"
        only = found.unknown[0][0]
        if isinstance(only, Load) and self._may_promise(only) and only == index:
            return self.error(
                message, access.load.span, f"promise values(0, {extent}) for '{only.buffer}', or {clamp}"
            )
        return self.error(message, access.load.span, clamp)

    def _known(self, expr: Expr, found: tuple[int, int], access: Access) -> str:
        """What is known of something that data decide, or that has no quasi-affine form."""
        text = self.source(expr, access.scopes)
        loads = [e for e in subexpressions(expr) if isinstance(e, Load)]
        if isinstance(expr, Load) or not loads:
            return f"{text} is known to lie in {found[0]} .. {found[1]} only"
        names = ", ".join(f"'{b}'" for b in dict.fromkeys(load.buffer for load in loads))
        return f"{text}, which reads {names}, is known to lie in {found[0]} .. {found[1]} only"

    def _may_promise(self, load: Load) -> bool:
        buffer = self.buffers[load.buffer]
        return buffer.role == "in" and buffer.values is None

    def _bounds_hint(self, access: Access, index: int, extent: int) -> str:
        if access.writes:
            return "shorten the scope, guard the statement with 'if', or enlarge the buffer"
        side = "negative" if index < 0 else f"over {extent - 1}"
        return f"where the index is {side}, choose another value: condition ? {self.access(access)} : 0"

    # -------------------------------------------------------- starts of reductions

    def starts(self) -> None:
        for _, statement in implicit_starts(self.program):
            target, name = statement.target, statement.target.buffer
            if any(isinstance(e, Load) for index in target.indices for e in subexpressions(index)):
                message = (
                    f"data decide which elements '{statement.name}' accumulates into: it cannot start them"
                )
                raise self.error(message, target.span, f"initialise '{name}' with a statement above")
            try:
                found = repeated_start(self.known, statement)
            except Undecided:
                raise self.undecided(f"where '{statement.name}' starts", target.span) from None
            if found is not None:
                first, second = self.at(found.first), self.at(found.second)
                twice = f"starts {found.element}{first} and again{second}"
                message = f"'{statement.name}' {twice}, which loses what was accumulated"
                raise self.error(message, target.span, f"initialise '{name}' with a statement above")

    # -------------------------------------------------------- elements that nothing wrote

    def reads(self) -> None:
        walk = Coverage(self.known, self.known.explicit.body)
        faults = walk.uncovered()
        while True:
            try:
                fault = next(faults, None)
            except Undecided:
                at = self.known.accesses[walk.position][-1].load.span
                raise self.undecided("whether every element is written before it is read", at) from None
            if fault is None:
                break
            raise self._unwritten(*fault)
        self.written = walk

    def _unwritten(self, read: Access, found: Uncovered) -> PerfDojoError:
        name = read.load.buffer
        element, where = self.known.element(name, found.element), self.at(found.iteration)
        can = "is" if self._is_certain(name, read) else "can be"
        message = f"{self.access(read)}: {element} {can} read{where} before it is written"
        return self.error(message, read.load.span, self._write_hint(name, read))

    def _is_certain(self, name: str, *reads: Access) -> bool:
        """True when no data decide which elements of a buffer are written, nor whether the reads happen."""
        writes = [a for a in self.known.by_buffer.get(name, ()) if a.writes]
        return all(self.known.sets.is_certain(a) for a in (*writes, *reads))

    def _write_hint(self, name: str, read: Access | None) -> str:
        writes = [a for a in self.known.by_buffer.get(name, ()) if a.writes]
        if not writes:
            return f"no statement writes '{name}'"
        certain = [a for a in writes if self.known.sets.is_certain(a)]
        if not certain:
            return f"'{writes[0].statement.name}' writes it only where data decide; initialise '{name}' first"
        if read is not None and all(a.position >= read.position for a in certain):
            return f"'{certain[0].statement.name}' writes it later; initialise '{name}' first"
        return f"initialise '{name}' first, or read only what was written"

    def outputs(self) -> None:
        for buffer in self.program.buffers:
            if buffer.role != "out" or self.written.complete(buffer.name):
                continue
            try:
                found = never_written(self.known, buffer.name)
            except Undecided:
                raise self.undecided(f"whether '{buffer.name}' is written completely", buffer.span) from None
            if found is not None:
                never = "is never" if self._is_certain(buffer.name) else "need not be"
                message = f"{self.known.element(buffer.name, found.element)} {never} written"
                raise self.error(message, buffer.span, self._output_hint(buffer.name))

    def _output_hint(self, name: str) -> str:
        hint = self._write_hint(name, None)
        return (
            hint
            if hint.startswith(("no ", "'"))
            else f"write every element of '{name}', or declare it 'inout'"
        )

    # -------------------------------------------------------- concurrent scopes

    def concurrency(self) -> None:
        for scope in scopes(self.program):
            if scope.mark not in CONCURRENT_MARKS | LANE_MARKS:
                continue
            lanes = scope.mark in LANE_MARKS
            try:
                found = conflict(self.known, scope.name, reductions=lanes)
            except Undecided:
                raise self.undecided(
                    f"whether iterations of '{scope.name}' are independent", scope.span
                ) from None
            if found is None:
                continue
            message = f"'{scope.name}' is marked @{scope.mark}, but {found}"
            hint = f"remove @{scope.mark}, or give each iteration elements of its own"
            raise self.error(message, scope.span, hint)

    # -------------------------------------------------------- words

    def access(self, access: Access) -> str:
        """The access as the text has it."""
        return self.source(access.load, access.scopes)

    def source(self, expr: Expr, around: tuple[Scope, ...]) -> str:
        """The text of an expression; rendered when the program was not read from a text."""
        source, span = self.program.source, getattr(expr, "span", None)
        if source is not None and span is not None:
            return " ".join(source.text[span.start : span.end].split())
        return expression(expr, tuple(s.name for s in around))

    def at(self, iteration: Mapping[str, int], *parts: Expr) -> str:
        """Words for an iteration: of the scopes that occur in `parts`, of all when there are none."""
        used = set[str]().union(*map(iterators, parts)) if parts else set(iteration)
        named = [f"{name} = {number}" for name, number in iteration.items() if name in used]
        return f" at {', '.join(named)}" if named else ""
