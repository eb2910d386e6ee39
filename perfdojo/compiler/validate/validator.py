"""Translation validation: do two programs compute the same, decided on terms, without any tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Buffer, Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.validate.difference import difference
from perfdojo.compiler.validate.draws import TRIES, Draw, opposite
from perfdojo.compiler.validate.faults import Fault, check_extents
from perfdojo.compiler.validate.machine import Machine
from perfdojo.compiler.validate.normal import Normal
from perfdojo.compiler.validate.reference import Reference
from perfdojo.compiler.validate.simpler import is_condition, simpler, with_numbers
from perfdojo.compiler.validate.sizes import LIMIT, check_limit
from perfdojo.compiler.validate.terms import UNWRITTEN, Terms, element_name
from perfdojo.compiler.walk import const_int

Storage = dict[str, list[int]]
MORE_DRAWS = 16
"""Draws where programs are equal with the numbers drawn only, be it that these leave something out."""
MOST_WAYS = 24
"""Draws more, in which conditions that left something out go the other way."""


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
    """What the original computes under one draw, and the normal forms of that once they are wanted.

    `asked` and `leant` are those of the draw behind it.
    """

    draw: Draw
    storage: Storage
    asked: frozenset[int]
    leant: frozenset[int]
    forms: dict[int, int] | None = None


class _Pair(NamedTuple):
    """An element of a buffer: its terms in both programs, and their normal forms."""

    buffer: Buffer
    at: int
    original: int
    transformed: int
    forms: tuple[int, int]


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
        n, wanted = 0, self.draws
        ways: dict[int, set[bool]] = {}
        while n < wanted:
            outcome = self._outcome(n)
            wrong, only_then = self._run(machine, outcome, ways)
            if wrong is not None:
                return wrong
            if not outcome.draw.asked:
                return Verdict(True)
            if only_then:
                wanted = max(self.draws, MORE_DRAWS)
            n += 1
        for seed in range(MOST_WAYS):
            one = next((c for c, values in ways.items() if len(values) == 1), None)
            if one is None:
                break
            (value,) = ways[one]
            ways[one] = {True, False}
            draw = opposite(self.terms, one, not value, seed * TRIES)
            if draw is not None:
                wrong, _ = self._run(machine, self._executed(draw), ways)
                if wrong is not None:
                    return wrong
        return Verdict(True)

    def _run(
        self, machine: Machine, outcome: _Outcome, ways: dict[int, set[bool]]
    ) -> tuple[Verdict | None, bool]:
        """Return what is wrong under a draw, and whether the programs are equal with its numbers only.

        The conditions that this leant on are noted in `ways`.
        """
        draw = outcome.draw
        draw.asked, draw.leant = set(outcome.asked), set(outcome.leant)
        found = machine.run(draw)
        different = [] if found == outcome.storage else self._different(outcome, found)
        if isinstance(different, Verdict):
            return different, False
        wrong = self._with_numbers(draw, different) if different else None
        for condition in draw.leant:
            ways.setdefault(condition, set()).add(bool(draw.index(condition)))
        return wrong, bool(different or draw.leant)

    def _outcome(self, n: int) -> _Outcome:
        while len(self._outcomes) <= n:
            self._outcomes.append(self._executed(Draw(self.terms, self.seed + len(self._outcomes))))
        return self._outcomes[n]

    def _executed(self, draw: Draw) -> _Outcome:
        """Return what the original computes under a draw.

        Raises:
            ValueError: it has no meaning.
        """
        try:
            storage = self._machine.run(draw)
        except Fault as fault:
            raise ValueError(f"the original program {fault}") from None
        for b in self.original.arguments:
            if UNWRITTEN in storage.get(b.name, ()):
                missing = element_name(b, storage[b.name].index(UNWRITTEN))
                raise ValueError(f"the original program never writes {missing}")
        return _Outcome(draw, storage, frozenset(draw.asked), frozenset(draw.leant))

    # ------------------------------------------------------------ judgement

    def _different(self, outcome: _Outcome, found: Storage) -> Verdict | list[_Pair]:
        """Return the elements that are not the same term and have not the same normal form."""
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
        found_forms = normal.of([p[3] for p in pairs])
        return [
            _Pair(b, at, one, two, (forms[one], form))
            for (b, at, one, two), form in zip(pairs, found_forms, strict=True)
            if forms[one] != form
        ]

    def _with_numbers(self, draw: Draw, pairs: list[_Pair]) -> Verdict | None:
        """Compare elements for inputs with the numbers taken for granted; conditions are looked into."""
        roots = [t for p in pairs for t in (p.original, p.transformed)]
        numbers = with_numbers(self.terms, draw.given(), roots)
        ints = self.terms.ints
        draw.leant |= {t for t, made in numbers.items() if made in ints and is_condition(self.terms, t)}
        simple = simpler(self.terms, numbers, roots)
        normal = Normal(self.terms, self.fp)
        ours = normal.of([simple[p.original] for p in pairs])
        reference = Reference(self.terms, normal.made)
        theirs = Normal(self.terms, self.fp, reference).of([simple[p.transformed] for p in pairs])
        for pair, one, two in zip(pairs, ours, theirs, strict=True):
            if one != two:
                return self._verdict(pair)
        return None

    def _verdict(self, pair: _Pair) -> Verdict:
        name = element_name(pair.buffer, pair.at)
        original, transformed = difference(self.terms, *pair.forms)
        message = f"{name} differs at {self.fp}\n  original:    {original}\n  transformed: {transformed}"
        return Verdict(False, message, name, original, transformed)


def validate(original: Program, transformed: Program, fp: FpLevel) -> Verdict:
    """Decide whether two programs compute the same for all inputs of these sizes, without any tolerance.

    Both run on terms: each element of an `in` or `inout` buffer is a symbol, iteration numbers and what
    follows from them are integers. The last terms in `out` and `inout` buffers must be equal as far as the
    level `fp` says (`normal` has the table). A program that leaves a buffer, reads what nothing wrote, or
    whose concurrent iterations meet, is different; `reuse` dimensions share storage as they do in memory.
    Conditions on data stay symbolic, both ways counted; one that those around it decide drops out. Only where
    data serve as an index they get numbers: three draws, within `values(lo, hi)`, so that a gather is tested,
    not proved. Where the programs are equal only for the numbers drawn there are more draws, and each
    condition that this leant on goes both ways, if numbers are found for that.

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
