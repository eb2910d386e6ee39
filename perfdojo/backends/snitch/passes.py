"""Passes of functions of arrays: straight code on pairs of f32 becomes a loop in which the FPU never waits.

A pass takes four elements, two pairs A and B, in each iteration; each step is two instructions, for A and
for B. Steps of several iterations are mixed (a modulo schedule, Rau 1994): every step has a place in the
loop, and as many issues lie between a step and those that need its result as that takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_APART = {"min": 1, "max": 1}
"""Steps from one to another that needs its result, else 2: issues are two to a step, latencies 2 or 4."""


@dataclass(frozen=True, slots=True)
class Step:
    """`dest = op(args)`, a packed instruction (`encodings.F7`); `dest` is "" where the result goes to memory.

    Arguments are values of the pass, constants ("$name"), and what the movers of ft0 and ft1 bring ("<0",
    "<1").
    """

    op: str
    dest: str
    args: tuple[str, str]

    @property
    def tied(self) -> bool:
        """Whether it adds to what `dest` holds."""
        return self.op in ("mac", "mre")

    @property
    def values(self) -> set[str]:
        """The values of the pass that it reads."""
        own = {self.dest} if self.tied else set()
        return own | {a for a in self.args if a[0] not in "$<"}


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass that is laid out.

    Attributes:
        steps: in the order of their places in the loop.
        stages: for each, how many iterations later than the first it runs.
        registers: number of each value's pair of registers.
    """

    steps: tuple[Step, ...]
    stages: tuple[int, ...]
    registers: dict[str, int]

    @property
    def depth(self) -> int:
        """Iterations that are at work at the same time."""
        return max(self.stages) + 1

    def begin(self) -> Iterator[Step]:
        """Yield the steps in front of the loop."""
        for now in range(self.depth - 1):
            yield from (s for s, stage in zip(self.steps, self.stages, strict=True) if stage <= now)

    def end(self) -> Iterator[Step]:
        """Yield the steps behind the loop."""
        for now in range(1, self.depth):
            yield from (s for s, stage in zip(self.steps, self.stages, strict=True) if stage >= now)


def parsed(text: str) -> list[Step]:
    """Return the steps of a text: `z = mul a $b`, `z += a * b`, `z -= a * b`; to memory `> z`, `> add a $b`.

    A value that is set anew is another one.
    """
    steps: list[Step] = []
    versions: dict[str, int] = {}

    def value(word: str) -> str:
        return word if word[0] in "$<" else f"{word}{versions[word]}"

    for line in text.strip().splitlines():
        words = line.split()
        if words[0] == ">":
            op, a, b = words[1:] if len(words) > 2 else ("mul", words[1], "$one")
            steps.append(Step(op, "", (value(a), value(b))))
        elif words[1] == "=":
            args = value(words[3]), value(words[4])
            versions[words[0]] = versions.get(words[0], 0) + 1
            steps.append(Step(words[2], value(words[0]), args))
        else:
            op = {"+=": "mac", "-=": "mre"}[words[1]]
            steps.append(Step(op, value(words[0]), (value(words[2]), value(words[4]))))
    return steps


def laid_out(steps: Sequence[Step], registers: int) -> Pass:
    """Return a pass whose loop has no gaps; each value is in one pair of registers in all iterations.

    Raises:
        ValueError: there is no such order, or there are too few registers.
    """
    places = _Search(tuple(steps)).places
    count = len(steps)
    found = _registers(_lives(steps, places), count)
    if max(found.values()) >= registers:
        raise ValueError(f"it needs {max(found.values()) + 1} pairs of registers, and there are {registers}")
    order = sorted(range(count), key=lambda k: places[k] % count)
    return Pass(tuple(steps[k] for k in order), tuple(places[k] // count for k in order), found)


class _Search:
    """Tries places for the steps one after the other, those of copies of constants last.

    Attributes:
        places: of all steps, from 0 on.
    """

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self.steps, self.count = steps, len(steps)
        self._constant = [k for k, s in enumerate(steps) if not s.values and not _stream(s)]
        self._order = [k for k in range(self.count) if k not in self._constant]
        self._at: dict[int, int] = {}
        self._taken: set[int] = set()
        if not self._next(0):
            raise ValueError(
                "no order of these steps keeps their values apart from those of the next iteration"
            )
        late = max(0, -min(self._at.values()))
        shift = -(-late // self.count) * self.count
        self.places = [self._at[k] + shift for k in range(self.count)]

    def _next(self, n: int) -> bool:
        if n == self.count:
            return True
        if n < len(self._order):
            k = self._order[n]
            first = max((p + _distance(self.steps[j], self.steps[k]) for j, p in self._at.items()), default=0)
            tried = range(max(first, 0), max(first, 0) + (self.count if n else 1))
        else:
            k = self._constant[n - len(self._order)]
            uses = [p for j, p in self._at.items() if self.steps[k].dest in self.steps[j].values]
            tried = range(min(uses) - 2, max(uses) - self.count, -1)
        for place in tried:
            if place % self.count in self._taken:
                continue
            self._at[k] = place
            self._taken.add(place % self.count)
            if self._apart() and self._next(n + 1):
                return True
            self._taken.discard(place % self.count)
            del self._at[k]
        return False

    def _apart(self) -> bool:
        """Tell whether values and streams of an iteration come before those of the next one, so far."""
        steps, places = [self.steps[k] for k in self._at], list(self._at.values())
        if any(last - first >= self.count for first, last in _lives(steps, places).values()):
            return False
        for name in ("<0", "<1", ">"):
            used = [p for s, p in zip(steps, places, strict=True) if name in _stream(s)]
            if used and max(used) - min(used) >= self.count:
                return False
        return True


def _distance(before: Step, after: Step) -> int:
    """Return by how many places a step has to follow one that stands before it; large negative: by none."""
    if before.dest and before.dest in after.values:
        return _APART.get(before.op, 2)
    if _stream(before) & _stream(after) or (after.tied and after.dest in before.values):
        return 1
    return -(1 << 30)


def _stream(s: Step) -> set[str]:
    return {a for a in s.args if a[0] == "<"} | (set() if s.dest else {">"})


def _lives(steps: Sequence[Step], places: Sequence[int]) -> dict[str, tuple[int, int]]:
    """Return from which to which place each value lives."""
    found: dict[str, tuple[int, int]] = {}
    for s, place in zip(steps, places, strict=True):
        for v in s.values | ({s.dest} if s.dest else set()):
            first, last = found.get(v, (place, place))
            found[v] = min(first, place), max(last, place)
    return found


def _registers(lives: dict[str, tuple[int, int]], count: int) -> dict[str, int]:
    """Return a register for each value: first fit around the circle of the loop."""
    taken: list[set[int]] = []
    found: dict[str, int] = {}
    for v, (first, last) in sorted(lives.items(), key=lambda item: item[1]):
        own = {p % count for p in range(first, last)}
        number = next((n for n, t in enumerate(taken) if not t & own), len(taken))
        if number == len(taken):
            taken.append(set())
        taken[number] |= own
        found[v] = number
    return found
