"""`program(rng)`: random programs with rows for blocks and steps for threads, as moves see them."""

from __future__ import annotations

import random

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from tests.fuzz import programs as others
from tests.fuzz.snitch import programs as nests
from tests.fuzz.snitch.writer import Buffer, Writer

MOST_EXECUTIONS = 1500
EXTENTS = (2, 3, 4, 4, 5, 6, 8, 8, 9, 16, 17, 32, 32, 33, 40)
"""Of what threads share: less than a warp, a warp, and a bit more."""
WIDE = (4, 8, 16, 32, 32, 32)
"""Such that several elements are one access, and warps are full."""
SIGNS = ("+=", "+=", "*=", "max=", "minnum=")


def program(rng: random.Random) -> Program:
    """Return a program of blocks mostly, else one that was made for other targets."""
    kind = rng.random()
    if kind < 0.25:
        return others.program(rng).program
    if kind < 0.45:
        return nests.program(rng)
    for _ in range(200):
        try:
            made = bind(parse(_Block(rng).text(), "k"))
            verify(made)
        except PerfDojoError:
            continue
        if others.executions(made) <= MOST_EXECUTIONS:
            return prepare(made)
    raise AssertionError("no valid program in 200 attempts")


class _Block:
    """Rows, in each of which phases follow each other that read what others wrote to temporaries of the row.

    A phase is a nest over some of the extents. What it reads lies at its own indices, reversed, shifted,
    exchanged, or at one place, so that some threads touch what others wrote and some do not.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.w = Writer(rng, rng.choice(("f32", "f32", "f64", "f16", "i32")), 0.0)
        self.rows = [(self.w.fresh("i"), rng.choice((2, 3, 4, 5))) for _ in range(rng.choice((1, 1, 1, 2)))]
        extents = rng.choice((EXTENTS, EXTENTS, WIDE))
        self.sizes = [rng.choice(extents) for _ in range(rng.choice((1, 1, 2)))]
        self.full: list[Buffer] = []
        self.before = 0
        self.bars = 0

    def text(self) -> str:
        """Return the text of a program; not all are valid."""
        for _ in range(self.rng.choice((1, 1, 2))):
            self.rows = [(self.w.fresh("i"), n) for _, n in self.rows]
            self.full = [b for b in self.full if b.role != "tmp"]
            self.bars, self.before = 0, len(self.full)
            for _ in range(self.rng.randint(1, 3)):
                self._filled()
            for _ in range(self.rng.randint(0, 4)):
                self.rng.choice(_PHASES)(self)
            self._result()
        text = self.w.text()
        if self.w.dtype == "i32":
            for old, new in ((".0", ""), (".5", ""), ("0.1", "2"), ("maxnum", "max"), ("minnum", "min")):
                text = text.replace(old, new)
        return text

    # ------------------------------------------------------------ lines

    def _line(self, scopes: list[tuple[str, int]], statement: str, more: int = 0) -> None:
        """Add a statement in scopes of the row, or in `more` that the line before opened."""
        bars = "| " * (self.bars + more)
        opened = [] if self.bars else self.rows
        self.bars = len(self.rows)
        nest = " ".join(f"{name}:{n}" for name, n in (*opened, *scopes))
        self.w.lines.append(f"{bars}{nest} {statement}".replace("  ", " "))

    def _steps(self, shape: list[int]) -> list[tuple[str, int]]:
        return [(self.w.fresh("k"), n) for n in shape]

    def _shape(self) -> list[int]:
        rank = self.rng.choice((0, *range(1, len(self.sizes) + 1), len(self.sizes)))
        return self.rng.sample(self.sizes, rank)

    def _at(self, b: Buffer, scopes: list[tuple[str, int]]) -> str:
        """Return an element at indices of some scopes; of what is not full yet, in the same row."""
        rng, found = self.rng, []
        own = len(self.rows) if b.role != "tmp" and b not in self.full[: self.before] else 0
        found += [f"{{{name}}}" for name, _ in self.rows[:own]]
        for n in b.shape[own:]:
            fitting = [s for s in scopes if s[1] <= n]
            chance = rng.random()
            if not fitting or chance < 0.1:
                found.append(str(rng.randrange(n)))
                continue
            name, extent = rng.choice(fitting)
            shift = rng.randint(0, n - extent)
            if chance < 0.55:
                found.append(f"{{{name}}}" + (f" + {shift}" if shift else ""))
            elif chance < 0.8:
                found.append(f"{n - 1} - {{{name}}}")
            elif chance < 0.9:
                found.append(f"({{{name}}} + {rng.randrange(1, n + 1)}) % {n}")
            else:
                found.append(f"{{{name}}} // 2")
        return f"{b.name}[{', '.join(found)}]"

    def _value(self, scopes: list[tuple[str, int]], depth: int = 2) -> str:
        rng, leaves = self.rng, []
        b: Buffer | None = None
        for _ in range(rng.choice((1, 2, 2))):
            if b is not None and rng.random() < 0.35:
                pass  # two elements of one buffer
            elif self.full and rng.random() < 0.75:
                b = rng.choice(self.full[-4:])
            else:
                b = self.w.declare("in", [n for _, n in (*self.rows, *scopes)])
                if rng.random() < 0.3:
                    return self._own(b, [*self.rows, *scopes])  # no more than a copy
            leaves.append(self._at(b, scopes if b.role == "tmp" else [*self.rows, *scopes]))
        return self.w.value(leaves, rng.randint(0, depth))

    def _guard(self, scopes: list[tuple[str, int]]) -> str:
        if not scopes or self.rng.random() < 0.8:
            return ""
        name, n = self.rng.choice([*scopes, *self.rows])
        return f" if {{{name}}} {self.rng.choice(('<', '>=', '!='))} {self.rng.randrange(n)}"

    # ------------------------------------------------------------ phases

    def _filled(self) -> None:
        """A temporary, of the row or of all rows, gets its elements."""
        shape = self._shape()
        scopes = self._steps(shape)
        order = scopes if self.rng.random() < 0.8 else self.rng.sample(scopes, len(scopes))
        t = self.w.declare("tmp", shape)
        self._line(order, f"{self._own(t, scopes)} = {self._value(scopes)}")
        self.full.append(t)

    def _own(self, t: Buffer, scopes: list[tuple[str, int]]) -> str:
        return f"{t.name}[{', '.join(f'{{{name}}}' for name, _ in scopes)}]"

    def _total(self) -> None:
        """Sums over some steps, one for each of others."""
        kept, over = self._steps(self._shape()), self._steps([self.rng.choice(self.sizes)])
        t = self.w.declare("tmp", [n for _, n in kept])
        start = self.rng.choice(("0.0", "1.0", self._value(kept, 0)))
        sign = self.rng.choice(SIGNS)
        inside = self.rng.random() < 0.5
        self._line(kept, f"{self._own(t, kept)} = {start}")
        again = kept if inside else self._steps(t.shape)
        scopes = [*again, *over]
        update = f"{self._own(t, again)} {sign} {self._value(scopes)}{self._guard(scopes)}"
        self._line(over if inside else scopes, update, len(kept) if inside else 0)
        self.full.append(t)

    def _again(self) -> None:
        """Elements of a temporary are changed in place, or some of them are set."""
        temporaries = [b for b in self.full if b.role == "tmp"]
        if temporaries:
            t = self.rng.choice(temporaries)
            scopes = self._steps(t.shape)
            sign = self.rng.choice(("=", "=", "+=", "max="))
            self._line(scopes, f"{self._own(t, scopes)} {sign} {self._value(scopes)}{self._guard(scopes)}")

    def _turns(self) -> None:
        """A loop whose iterations fill a temporary and use it, as products of tiles do."""
        loop = self._steps([self.rng.choice((2, 3, 4))])
        shape = self._shape()
        first, second = self._steps(shape), self._steps(self._shape())
        total = self.w.declare("tmp", [n for _, n in second])
        before = self._steps(total.shape)
        self._line(before, f"{self._own(total, before)} = 0.0")
        t = self.w.declare("tmp", shape)
        x = self.w.declare("in", [n for _, n in (*self.rows, *loop, *first)])
        self._line([*loop, *first], f"{self._own(t, first)} = {self._own(x, [*self.rows, *loop, *first])}")
        self.full.append(t)
        scopes = [*loop, *second]
        leaf = self.w.value([self._at(t, second), self._at(t, second), self._at(x, [*self.rows, *scopes])], 1)
        self._line(second, f"{self._own(total, second)} += {leaf}{self._guard(scopes)}", 1)
        self.full.append(total)

    def _each(self) -> None:
        """A few elements for each step, along all scopes or some of them, which the same step uses."""
        scopes = self._steps(self._shape() or self.sizes[:1])
        kept = self.rng.sample(scopes, self.rng.randint(0, len(scopes)))
        few = self._steps([self.rng.choice((2, 3))])
        t = self.w.declare("tmp", [n for _, n in (*kept, *few)])
        filled = self._value([*scopes, *few])
        self._line([*scopes, *few], f"{self._own(t, [*kept, *few])} = {filled}")
        y = self.w.declare("out", [n for _, n in (*self.rows, *scopes)])
        place = self._own(y, [*self.rows, *scopes])
        at = [f"{{{name}}}" for name, _ in kept]
        leaves = [f"{t.name}[{', '.join((*at, str(n)))}]" for n in range(few[0][1])]
        self._line([], f"{place} = {self.w.value(leaves, 2)}", len(scopes))
        self.full.append(y)

    def _result(self) -> None:
        """An output, or an argument that is read as well."""
        scopes = self._steps(self._shape())
        role = self.rng.choice(("out", "out", "inout"))
        y = self.w.declare(role, [n for _, n in (*self.rows, *scopes)])
        sign = self.rng.choice(("=", "+=", "max=")) if role == "inout" else "="
        self._line(scopes, f"{self._own(y, [*self.rows, *scopes])} {sign} {self._value(scopes)}")
        self.full.append(y)


_PHASES = (_Block._filled, _Block._total, _Block._again, _Block._turns, _Block._each, _Block._result)
