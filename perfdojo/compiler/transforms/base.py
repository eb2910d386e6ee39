"""What a transformation is: a frozen record of arguments that answers three questions about a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from perfdojo.compiler.diagnostics import nearest
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.ir import BLOCK, Program, Scope, Statement
from perfdojo.compiler.lowering.target import FpLevel, Target, at_least
from perfdojo.compiler.text.header import RESERVED
from perfdojo.compiler.text.resolve import MAX_SCOPES
from perfdojo.compiler.walk import const_int


@dataclass(frozen=True, slots=True)
class Setting:
    """For what a schedule is made: the machine, and how far results may differ from the reference."""

    target: Target
    fp: FpLevel = "reassoc"

    def allows(self, needed: FpLevel) -> bool:
        """Tell whether the floating-point level allows what `needed` allows."""
        return at_least(self.fp, needed)

    def reorders(self, dtype: DType) -> bool:
        """Tell whether reductions into elements of `dtype` may change their order; those of integers may."""
        return not dtype.is_float or self.allows("reassoc")


class Violation(NamedTuple):
    """A legality condition that does not hold.

    Attributes:
        condition: its number.
        reason: a sentence.
        advice: what to do instead, or "".
        known: names one of which the last word of the reason may have meant.
    """

    condition: int
    reason: str
    advice: str = ""
    known: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """What to do instead, or ""; looked for when it is asked for, as most violations are not told."""
        return self.advice or nearest(self.reason.rsplit(" ", 1)[-1], self.known)


class Illegal(ValueError):
    """`apply` was asked for something that `why_not` refuses; a mistake of the caller."""


@dataclass(frozen=True, slots=True)
class Transform(ABC):
    """One atomic move: the fields are its arguments and, through `spelling`, its text.

    A program here is bound and verified and has explicit starts (`prepare`); so is what `apply` returns.
    A subclass is its own specification: its docstring has one sentence, a before -> after picture, and the
    legality conditions with the numbers that `violations` yields. (D) marks those about dependences.

    Class attributes:
        level: the lowest floating-point level at which some instance is legal.
        aliases: the field's other words for it.
    """

    level: ClassVar[FpLevel] = "strict"
    aliases: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        """Yield the legal instances, in the order of the text; numbers from a bounded menu."""

    @abstractmethod
    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        """Yield the conditions that do not hold; the first ones may make the later ones meaningless."""

    @abstractmethod
    def rewrite(self, program: Program) -> Program:
        """Return the transformed program, taking for granted that the move is legal."""

    def rewrite_for(self, program: Program, setting: Setting) -> Program:
        """Return the same for a machine: all moves but `plan` make the same for each."""
        return self.rewrite(program)

    def why_not(self, program: Program, setting: Setting) -> Violation | None:
        """Return why the move is not legal; None when it is."""
        found = next(iter(self.violations(program, setting)), None)
        limited = self._is_limited(program, setting)
        if found is not None or not (limited or tight(program)):
            return found
        result = self.rewrite_for(program, setting)
        return _outgrown(result) or (_newly_over(program, result, setting) if limited else None)

    def _is_limited(self, program: Program, setting: Setting) -> bool:
        """Tell whether the move could ask for more than a block of a GPU can have."""
        if not setting.target.shared_bytes:
            return False
        if getattr(self, "space", "") == "shared" or any(b.space == "shared" for b in program.buffers):
            return True
        return any(p.node.mark in BLOCK for p in program.scopes.values())

    def apply(self, program: Program, setting: Setting) -> Program:
        """Return the transformed program.

        Raises:
            Illegal: the move is not legal here.
        """
        found = self.why_not(program, setting)
        if found is not None:
            raise Illegal(f"{self}: {found.reason}")
        return self.rewrite_for(program, setting)

    def __str__(self) -> str:
        from perfdojo.compiler.transforms.spelling import spell

        return spell(self)


MAX_STATEMENTS = 1024
"""Of a program that a move has made larger; twenty peeled scopes, one in another, would have a million."""


def tight(program: Program) -> bool:
    """Tell whether a move could make the program larger than programs may be."""
    return 2 * program.depth > MAX_SCOPES or 2 * len(program.statements) > MAX_STATEMENTS


def _outgrown(program: Program) -> Violation | None:
    if program.depth > MAX_SCOPES:
        return Violation(0, f"there would be {program.depth} nested scopes, over {MAX_SCOPES}")
    count = len(program.statements)
    if count > MAX_STATEMENTS:
        return Violation(0, f"there would be {count} statements, over {MAX_STATEMENTS}")
    return None


def _newly_over(before: Program, after: Program, setting: Setting) -> Violation | None:
    """Return that a move goes over a limit of blocks, which the program before it keeps."""
    from perfdojo.compiler.transforms._gpu import over_limits

    found = over_limits(after, setting)
    return None if found is None or over_limits(before, setting) is not None else found


def legal(moves: Iterable[Transform], program: Program, setting: Setting) -> Iterator[Transform]:
    """Yield the moves that are legal: what most `candidates` end with."""
    return (m for m in moves if m.why_not(program, setting) is None)


# ------------------------------------------------------------- conditions that many moves share


def no_scope(program: Program, *names: str) -> Iterator[Violation]:
    """Yield condition 0, that the named scopes exist, where it does not hold."""
    for name in names:
        if name not in program.scopes:
            yield Violation(0, f"there is no scope {name}", known=tuple(program.scopes))


def no_statement(program: Program, *names: str) -> Iterator[Violation]:
    """Yield condition 0, that the named statements exist, where it does not hold."""
    for name in names:
        if name not in program.statements:
            yield Violation(0, f"there is no statement {name}", known=tuple(program.statements))


def no_node(program: Program, *names: str) -> Iterator[Violation]:
    """Yield condition 0, that the named scopes or statements exist, where it does not hold."""
    for name in names:
        if name not in program.scopes and name not in program.statements:
            known = (*program.scopes, *program.statements)
            yield Violation(0, f"there is no scope or statement {name}", known=known)


def no_buffer(program: Program, *names: str) -> Iterator[Violation]:
    """Yield condition 0, that the named buffers exist, where it does not hold."""
    known = [b.name for b in program.buffers]
    for name in names:
        if name not in known:
            yield Violation(0, f"there is no buffer {name}", known=tuple(known))


def no_free_name(program: Program, names: Iterable[str]) -> Iterator[Violation]:
    """Yield condition 0, that names of new things are free and none of the language's, where it fails."""
    from perfdojo.compiler.tree import taken_names

    names = tuple(names)
    if not names:
        return
    taken = taken_names(program)
    for name in names:
        if name in RESERVED:
            yield Violation(
                0, f"{name} is a word of the language and names nothing new", "choose another name"
            )
        if name in taken:
            yield Violation(0, f"the name {name} is taken")
        taken.add(name)


def extent_of(program: Program, scope: str) -> int:
    """Return the iterations of a scope."""
    return const_int(program.scopes[scope].node.extent)


def siblings(program: Program, name: str) -> tuple[Scope | Statement, ...]:
    """Return the body that holds the scope, else the statement, called `name`."""
    place = program.scopes.get(name) or program.statements[name]
    return place.around[-1].body if place.around else program.body


def made(names: tuple[str, ...], number: int, derived: str, taken: set[str]) -> str:
    """Return the given name of the new thing `number`, else one derived from an old one; take it."""
    from perfdojo.compiler.tree import fresh

    return names[number] if number < len(names) else fresh(derived, taken)
