"""Writes the buffers, indices and values of random programs that data movers can serve, mostly."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

WIDTH = {"f64": 1, "f32": 2, "f16": 4}
"""Elements of a word of a stream."""
BINARY = (
    *("{a} + {b}", "{a} - {b}", "{a} * {b}") * 4,
    *("max({a}, {b})", "min({a}, {b})"),
    *(
        "maxnum({a}, {b})",
        "minnum({a}, {b})",
        "fma({a}, {b}, {a})",
        "{a} * {b} + {a}",
        "{a} - {b} * {a}",
        "{b} - {a} * 0.5",
    ),
)
UNARY = ("-({a})", "abs({a})", "0.5 * {a}", "{a} + 1.5", "1.0 - {a}", "maxnum({a}, 0.0)", "max({a}, 0.0)")
SLOW = ("{a} / {b}", "{a} / {b}", "sqrt(abs({a}))", "min({b}, {a})", "({a} < {b} ? {a} : {b})", "exp({a})")
"""What the FPU has no instruction for, or only where it divides."""
CONSTANTS = ("0.0", "-0.0", "0.5", "1.0", "1.5", "3.0", "-2.0", "0.1")

Scopes = list[tuple[str, int]]
"""(name, extent) of the scopes around a place, outermost first."""


@dataclass(slots=True)
class Buffer:
    """A declared buffer; `shape` of an input grows with what reads it."""

    name: str
    role: str
    dtype: str
    shape: list[int]


@dataclass(slots=True)
class Writer:
    """A program that is being written.

    Attributes:
        slow: how often an operation is one that no stream feeds.
        known: buffers that are complete.
        lane: the scope that runs along words of narrow elements; "" where nothing cares for words.
    """

    rng: random.Random
    dtype: str
    slow: float
    buffers: list[Buffer] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    known: list[Buffer] = field(default_factory=list)
    lane: str = ""
    _count: int = 0

    def fresh(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def declare(self, role: str, shape: list[int]) -> Buffer:
        b = Buffer(self.fresh({"in": "x", "tmp": "t"}.get(role, "y")), role, self.dtype, shape)
        self.buffers.append(b)
        return b

    def text(self) -> str:
        header = [f"{b.role} {b.name}: {b.dtype}[{', '.join(map(str, b.shape))}]" for b in self.buffers]
        return "\n".join(["kernel k", *header, *self.lines]) + "\n"

    def extent(self) -> int:
        """Return iterations that fill whole words often, and repeat an element more than 16 times seldom."""
        rng, width = self.rng, WIDTH[self.dtype]
        if rng.random() < 0.06:
            return rng.choice((16, 17, 20, 33))
        if width > 1 and rng.random() < 0.75:
            return width * rng.choice((1, 2, 2, 3, 4))
        return rng.choice((1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 9))

    def scopes(self, count: int) -> Scopes:
        """Return new scopes; narrow elements run along the last one, mostly."""
        made = [(self.fresh("i"), self.extent()) for _ in range(count)]
        narrow = WIDTH[self.dtype] > 1 and made and self.rng.random() < 0.85
        self.lane = made[-1][0] if narrow else ""
        return made

    # ------------------------------------------------------------ operands

    def operand(self, scopes: Scopes) -> str:
        """Return an element of a complete buffer, or of a new input."""
        fitting = [b for b in self.known if all(n > 0 for n in b.shape)]
        if fitting and self.rng.random() < 0.45:
            b = self.rng.choice(fitting[-4:])
            if b.role == "in" and self.rng.random() < 0.5:
                return self._grown(b, scopes, len(b.shape))
            others = [s for s in scopes if s[0] != self.lane]
            at = [self._within(n, others) for n in b.shape]
            if b.shape and (self.lane == "" or self.rng.random() < 0.8):
                at[-1] = self._within(b.shape[-1], [s for s in scopes if s[0] == (self.lane or s[0])])
            return f"{b.name}[{', '.join(at)}]"
        b = self.declare("in", [])
        self.known.append(b)
        return self._grown(b, scopes, self.rng.choice((0, 1, 1, 2, 2, 3)) if scopes else 1)

    def _grown(self, b: Buffer, scopes: Scopes, rank: int) -> str:
        """Return an element of an input, which becomes as large as the indices turn out to be."""
        if self.lane and rank:
            return self._in_words(b, scopes, rank)
        order = self.rng.sample(scopes, len(scopes))
        made = [self._free(order[d : d + 2] or scopes) for d in range(rank)]
        if rank and self.rng.random() < 0.5:
            made[-1] = self._free(scopes[-1:])
        old = b.shape or [1] * rank
        b.shape[:] = [max(n, m) for n, (_, m) in zip(old, made, strict=True)]
        return f"{b.name}[{', '.join(t for t, _ in made)}]"

    def _in_words(self, b: Buffer, scopes: Scopes, rank: int) -> str:
        """Return an element of an input that moves along words, or the same one for all lanes."""
        rng, width = self.rng, WIDTH[self.dtype]
        others = [s for s in scopes if s[0] != self.lane]
        lane = next((s for s in scopes if s[0] == self.lane), ("", 0))
        order = rng.sample(others, len(others))
        made = [self._free(order[d : d + 1]) for d in range(rank - 1)]
        if lane[0] and rng.random() < 0.7:
            offset = width * rng.choice((0, 0, 0, 1, 2))
            text = f"{{{lane[0]}}}" + (f" + {offset}" if offset else "")
            made.append((text, lane[1] + offset))
        else:
            made.append(self._free(order[-1:]))
        made[-1] = made[-1][0], -(-made[-1][1] // width) * width
        old = b.shape or [1] * rank
        b.shape[:] = [max(n, m) for n, (_, m) in zip(old, made, strict=True)]
        return f"{b.name}[{', '.join(t for t, _ in made)}]"

    def _free(self, scopes: Scopes) -> tuple[str, int]:
        """Return an index and the extent that it needs."""
        rng = self.rng
        if not scopes:
            return "0", 1
        (name, extent), other = scopes[0], scopes[-1]
        offset = rng.choice((0, 0, 0, 1, 2, 4))
        chance = rng.random()
        if chance < 0.55:
            text, size = f"{{{name}}}", extent
        elif chance < 0.67 and other[0] != name:
            text, size = f"{{{name}}} + {{{other[0]}}}", extent + other[1] - 1
        elif chance < 0.77:
            text, size = f"{extent - 1} - {{{name}}}", extent
        elif chance < 0.87:
            step = rng.choice((2, 2, 3, 4))
            text, size = f"{step}*{{{name}}}", step * (extent - 1) + 1
        elif chance < 0.91 and extent > 1:
            part = rng.choice((2, 3))
            return rng.choice(((f"{{{name}}} // {part}", -(-extent // part)), (f"{{{name}}} % {part}", part)))
        else:
            text, size = str(rng.randrange(extent)), extent
        return (f"{text} + {offset}", size + offset) if offset else (text, size)

    def _within(self, extent: int, scopes: Scopes) -> str:
        """Return an index that stays below `extent`."""
        rng = self.rng
        found = [str(rng.randrange(extent))]
        for name, n in scopes:
            if n <= extent:
                found += [f"{{{name}}}"] * 6 + [f"{n - 1} - {{{name}}}"]
                step = WIDTH[self.dtype] if name == self.lane else 1
                shifts = range(step, extent - n + 1, step)
                found += [f"{{{name}}} + {rng.choice(shifts)}"] * 3 if shifts else []
            if 2 * n - 1 <= extent:
                found.append(f"2*{{{name}}}")
        return rng.choice(found[1:] or found)

    # ------------------------------------------------------------ values

    def value(self, leaves: list[str], depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.1:
            return rng.choice((*leaves, *leaves, rng.choice(CONSTANTS)))
        a = self.value(leaves, depth - 1)
        if rng.random() < 0.2:
            return f"({rng.choice(UNARY).format(a=a)})"
        form = rng.choice(SLOW if rng.random() < self.slow else BINARY)
        return f"({form.format(a=a, b=self.value(leaves, depth - 1))})"
