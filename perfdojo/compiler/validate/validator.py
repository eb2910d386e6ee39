"""Translation validation: do two programs compute the same, decided on terms, without any tolerance."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Buffer, Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.validate.difference import difference
from perfdojo.compiler.validate.draws import Draw
from perfdojo.compiler.validate.faults import Fault, check_extents
from perfdojo.compiler.validate.machine import Machine
from perfdojo.compiler.validate.normal import Normal
from perfdojo.compiler.validate.reference import Reference
from perfdojo.compiler.validate.sizes import LIMIT, check_limit
from perfdojo.compiler.validate.terms import UNWRITTEN, Terms, element_name
from perfdojo.compiler.walk import const_int

Storage = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether two programs compute the same.

    Attributes:
        equal: they do; everything else is "" then.
        message: what differs, as text of one to three lines.
        element: the first element that differs, `c[0,1]`; "" when the transformed program is wrong by itself.
        original, transformed: its terms around the point at which they differ.
    """

    equal: bool
    message: str = ""
    element: str = ""
    original: str = ""
    transformed: str = ""


@dataclass(slots=True)
class _Outcome:
    """What the original computes under one draw, and the normal forms of that once they are wanted."""

    draw: Draw
    storage: Storage
    needs_draws: bool
    forms: dict[int, int] | None = None


class Validator:
    """Compares programs with one original, which is executed once only.

    Args:
        original: bound, verified, with explicit starts.
        fp: what is identified: see `normal`.
        draws: values tried for data that are used as indices; programs without gathers need one run.
        seed: of the draws.
        limit: statement executions and stored elements of a program.
    Raises:
        PerfDojoError: the original is larger than the limit.
        ValueError: the original is no verified program with explicit starts.
    """

    def __init__(
        self, original: Program, fp: FpLevel, *, draws: int = 3, seed: int = 0, limit: int = LIMIT
    ) -> None:
        check_limit(original, limit)
        self.original, self.fp, self.draws, self.seed, self.limit = original, fp, draws, seed, limit
        self.terms = Terms(original.arguments)
        self._normal = Normal(self.terms, fp)
        self._reference = Reference(self.terms, ())
        self._outcomes: list[_Outcome] = []
        try:
            self._machine = Machine(original, self.terms, watched=False)
            self._outcome(0)
        except Fault as fault:
            raise ValueError(f"the original program {fault}") from None

    def validate(self, transformed: Program) -> Verdict:
        """Decide whether a bound program computes what the original does.

        Raises:
            PerfDojoError: it is larger than the limit, or its expressions are nested too deep.
        """
        try:
            check_extents(transformed)
            different = _arguments_differ(self.original, transformed)
            if different:
                return Verdict(False, f"the transformed program {different}")
            return self._compare(transformed)
        except Fault as fault:
            return Verdict(False, f"the transformed program {fault}")
        except RecursionError:
            raise PerfDojoError(
                f"{transformed.name} has scopes or expressions nested too deep to be validated",
                transformed.source,
                None,
                "validate before the moves that nest them, or inline less",
            ) from None

    def _compare(self, transformed: Program) -> Verdict:
        check_limit(transformed, self.limit)
        machine = Machine(transformed, self.terms, watched=True)
        for n in range(self.draws):
            outcome = self._outcome(n)
            outcome.draw.used = False
            found = machine.run(outcome.draw)
            if found != outcome.storage:
                verdict = self._judge(outcome, found)
                if not verdict.equal:
                    return verdict
            if not (outcome.needs_draws or outcome.draw.used):
                break
        return Verdict(True)

    def _outcome(self, n: int) -> _Outcome:
        while len(self._outcomes) <= n:
            draw = Draw(self.terms, self.seed + len(self._outcomes))
            storage = self._machine.run(draw)
            for b in self.original.arguments:
                if UNWRITTEN in storage.get(b.name, ()):
                    missing = element_name(b, storage[b.name].index(UNWRITTEN))
                    raise Fault(f"never writes {missing}")
            self._outcomes.append(_Outcome(draw, storage, draw.used))
        return self._outcomes[n]

    # ------------------------------------------------------------ judgement

    def _judge(self, outcome: _Outcome, found: Storage) -> Verdict:
        """Compare the elements that are not the same term by their normal forms."""
        pairs = []
        for b in self.original.arguments:
            for at, (one, two) in enumerate(
                zip(outcome.storage.get(b.name, ()), found.get(b.name, ()), strict=True)
            ):
                if two == UNWRITTEN:
                    name = element_name(b, at)
                    return Verdict(False, f"the transformed program never writes {name}", name)
                if one != two:
                    pairs.append((b, at, one, two))
        if outcome.forms is None:
            all_terms = [t for terms in outcome.storage.values() for t in terms]
            outcome.forms = dict(zip(all_terms, self._normal.of(all_terms), strict=True))
            self._reference = Reference(self.terms, self._normal.made)
        forms = outcome.forms
        normal = Normal(self.terms, self.fp, self._reference)
        for (b, at, one, _), two in zip(pairs, normal.of([p[3] for p in pairs]), strict=True):
            if forms[one] != two:
                return self._different(b, at, forms[one], two)
        return Verdict(True)

    def _different(self, b: Buffer, at: int, one: int, two: int) -> Verdict:
        name = element_name(b, at)
        original, transformed = difference(self.terms, one, two)
        message = f"{name} differs at {self.fp}\n  original:    {original}\n  transformed: {transformed}"
        return Verdict(False, message, name, original, transformed)


def validate(original: Program, transformed: Program, fp: FpLevel) -> Verdict:
    """Decide whether two programs compute the same for all inputs of these sizes, without any tolerance.

    Both run on terms: each element of an `in` or `inout` buffer is a symbol, iteration numbers and what
    follows from them are integers. The last terms in `out` and `inout` buffers must be equal as far as the
    level `fp` says (`normal` has the table). A program that leaves a buffer, reads what nothing wrote, or
    whose concurrent iterations meet, is different; `reuse` dimensions share storage as they do in memory.
    Conditions on data stay symbolic, both ways counted. Only where data serve as an index they get numbers:
    three draws, within `values(lo, hi)`, so that a gather is tested, not proved.

    Args:
        original, transformed: bound, with explicit starts; the same arguments.
    Raises:
        PerfDojoError: a program executes more than `sizes.LIMIT` statements.
        ValueError: the original is no verified program with explicit starts.
    """
    return Validator(original, fp).validate(transformed)


def _arguments_differ(original: Program, transformed: Program) -> str:
    """Return what is wrong with the arguments of the transformed program, "" when nothing is."""
    ours = {b.name: b for b in original.arguments}
    theirs = {b.name: b for b in transformed.arguments}
    for name in (*ours, *theirs):
        if name not in theirs:
            return f"lacks the argument {name}"
        if name not in ours:
            return f"has an argument {name}, which the original lacks"
        if _signature(ours[name]) != _signature(theirs[name]):
            return f"declares the argument {name} differently"
    return ""


def _signature(b: Buffer) -> tuple[object, ...]:
    values = None if b.values is None else tuple(const_int(v) for v in b.values)
    return b.role, b.dtype, b.shape, b.reuse, values
