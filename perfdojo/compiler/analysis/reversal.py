"""Whether two accesses meet in iterations that a move would make change places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import value_at
from perfdojo.compiler.analysis.frames import Frame
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.analysis.systems import System
from perfdojo.compiler.analysis.undecided import Undecided

_VERBS = {"read": ("read", "reads"), "write": ("write", "writes"), "reduce": ("update", "updates")}


@dataclass(frozen=True, slots=True)
class Clash:
    """Two accesses to one element that a move would make change places.

    Attributes:
        first, second: the accesses, that which runs first before the move first.
        at, then: the iterations of all scopes around the first and around the second; None when nobody knows.
        depth: how many of these scopes, from outermost, the move leaves alone; their iterations are the same.
        element: the element, as `name[0,3]`.
        certain: it happens whatever the data are.
    """

    first: Access
    second: Access
    at: Mapping[str, int] | None
    then: Mapping[str, int] | None
    depth: int
    element: str
    certain: bool

    def __str__(self) -> str:
        one, two = self.first, self.second
        can = "" if self.certain else "can "
        does, does_too = (_VERBS[a.kind][self.certain] for a in (one, two))
        what = f"{one.statement.name} {can}{does} {self.element}"
        if self.at is None or self.then is None:
            return (
                f"{what} and {two.statement.name} {can}{does_too} it in iterations that are too complicated "
                "to be decided; they would change places"
            )
        around = list(self.at)[: self.depth]
        where = f" (at {_numbers(self.at, around)})" if around else ""
        what += _moved(self.at, self.depth)
        return (
            f"{what} and {two.statement.name} {can}{does_too} it{_moved(self.then, self.depth)}{where}; "
            "they would change places"
        )


def _moved(at: Mapping[str, int], depth: int) -> str:
    names = list(at)[depth:]
    return f" at {_numbers(at, names)}" if names else ""


def _numbers(at: Mapping[str, int], names: Iterable[str]) -> str:
    return ", ".join(f"{n} = {at[n]}" for n in names)


@dataclass(frozen=True, slots=True)
class Move:
    """The pairs of iterations that change places: x's runs before y's, and after it when the move is made.

    Attributes:
        depth: the scopes outside this depth are in the same iteration for both.
        windows: for each of the scopes that follow, the range of x's iteration number minus y's.
    """

    depth: int
    windows: tuple[Range, ...]


def clash(known: Model, x: Access, y: Access, move: Move) -> Clash | None:
    """Return iterations of x and y that name one element and change places; None when there are none."""
    system = System(known, _frame(known, x, y, move), x, y)
    name = x.load.buffer
    try:
        found = system.solution()
    except Undecided:
        return _exact_clash(known, x, y, move)
    if found is None:
        return None
    if system.vague:
        return _exact_clash(known, x, y, move)
    one, two = (
        [value_at(a.indices[d], at) for d in known.stored(name)] for a, at in zip((x, y), found, strict=True)
    )
    assert one == two, "a solution names two elements"
    at, then = ({s.name: at[s.name] for s in a.scopes} for a, at in zip((x, y), found, strict=True))
    return Clash(x, y, at, then, move.depth, known.element(name, one), True)


def most(known: Model, x: Access, y: Access, depth: int, lowest: int) -> int | None:
    """Return by how much x's iteration of the scope at `depth` exceeds y's at most where they meet.

    Args:
        lowest: the smallest difference of interest; None is the answer when no difference reaches it.
    """
    scope, other = x.scopes[depth].name, y.scopes[depth].name
    last = known.forms.extents[scope] - 1
    if lowest > last:
        return None
    system = System(known, _frame(known, x, y, Move(depth, ((lowest, last),))), x, y)
    try:
        found = system.solution(largest=True)
        if found is None:
            return None
        if not system.vague:
            return found[0][scope] - found[1][other]
    except Undecided:
        pass
    sets = known.sets
    try:
        with sets.decided():
            return sets.most(x, y, depth, lowest)
    except Undecided:
        return last


def _exact_clash(known: Model, x: Access, y: Access, move: Move) -> Clash | None:
    """What integer sets say; where they are too complicated, all elements in any iterations."""
    sets = known.sets
    name = x.load.buffer
    try:
        with sets.decided():
            found = sets.window(x, y, move.depth, move.windows)
            if found is None:
                return None
            certain = sets.is_certain(x) and sets.is_certain(y)
    except Undecided:
        whole = f"{name}[{','.join('*' * len(x.indices))}]"
        return Clash(x, y, None, None, move.depth, whole, False)
    i, j, at = found
    return Clash(x, y, _named(x, i), _named(y, j), move.depth, known.element(name, at), certain)


def _frame(known: Model, x: Access, y: Access, move: Move) -> Frame:
    key = ("frame", x.position, y.position, move)
    if key not in known.answers:
        known.answers[key] = Frame(known.forms, x.scopes, y.scopes, move.depth, move.windows)
    return known.answers[key]  # type: ignore[return-value]


def _named(access: Access, iteration: Sequence[int]) -> dict[str, int]:
    return {s.name: n for s, n in zip(access.scopes, iteration, strict=True)}
