"""Writes declarations, indices and values of the random chains of `flows`."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

FUNCTIONS = ("abs({})", "-{}", "{} * 0.5", "{} * 3.0 - 1.0", "1.0 - {} * 2.0", "max({}, 0.25)", "2.0 / {}")


@dataclass
class Buffer:
    """A declared buffer: its name, type, rank and extent of the last dimension."""

    name: str
    dtype: str
    rank: int
    extent: int


@dataclass
class Writer:
    """A program that is being written, with so many rows and columns; `known` can be read.

    Attributes:
        mark: of those scopes that have one.
    """

    rng: random.Random
    rows: int
    columns: int
    header: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    known: list[Buffer] = field(default_factory=list)
    signs: dict[str, str] = field(default_factory=dict)
    count: int = 0
    mark: str = ""

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def declare(self, role: str, rank: int, dtype: str, note: str = "") -> Buffer:
        extent = self.columns + self.rng.choice((0, 0, 1, 2))
        b = Buffer(self.fresh({"in": "x", "tmp": "t", "out": "y", "inout": "y"}[role]), dtype, rank, extent)
        shape = {0: "", 1: f"{extent}", 2: f"{self.rows}, {extent}"}[rank]
        self.header.append(f"{role} {b.name}: {dtype}[{shape}]{note}")
        return b

    def another(self, b: Buffer) -> Buffer:
        """Declare a temporary like b."""
        like = Buffer(self.fresh("t"), b.dtype, b.rank, b.extent)
        header = next(h for h in self.header if h.startswith(f"tmp {b.name}:"))
        self.header.append(header.replace(f" {b.name}:", f" {like.name}:"))
        return like

    def column(self, extent: int, k: str, steps: int) -> str:
        """An index that stays below `extent` while k runs over `steps`; "" when none does."""
        free = extent - steps
        found = [
            f"({{{k}}} + {self.rng.randint(1, 3)}) % {extent}",
            f"{{{k}}} % {extent}",
            "0",
            str(extent - 1),
        ]
        if free >= 0:
            found += [f"{{{k}}}"] * 6 + [f"{steps - 1} - {{{k}}}", f"{{{k}}} // 2", f"({{{k}}} + 1) // 2"]
        if free > 0:
            found += [f"{{{k}}} + {self.rng.randint(1, free)}"] * 3
        if 2 * steps <= extent + 1:
            found += [f"2 * {{{k}}}"] * 3
        if 2 * steps <= extent:
            found.append(f"2 * {{{k}}} + 1")
        return self.rng.choice(found)

    def load(self, b: Buffer, row: str, k: str, steps: int) -> str:
        rng = self.rng
        at = self.column(b.extent, k, steps) if k else str(rng.randrange(b.extent))
        border, shift = rng.choice(("0", "1.5", "-2.0")), rng.choice((1, 1, 2))
        if b.rank == 0:
            return f"{b.name}[]"
        if b.rank == 2 and rng.random() < 0.1:
            one = border if b.dtype == "f32" else border.split(".")[0]
            part = f"{b.name}[{row} - 1,{rng.choice((at, '0'))}]"
            return f"({row} >= 1 ? {rng.choice(('{}', '{} * 3', '-{}')).format(part)} : {one})"
        first = f"{row}," if b.rank == 2 else ""
        if k and rng.random() < 0.2 and steps <= b.extent:
            if b.dtype != "f32":
                border = border.split(".")[0]
            inside, moved = rng.choice(
                (
                    (f"{{{k}}} >= {shift}", f"{{{k}}} - {shift}"),
                    (f"{{{k}}} + {shift} < {b.extent}", f"{{{k}}} + {shift}"),
                    (f"{{{k}}} + 1 >= 2 and {{{k}}} < {b.extent}", f"{{{k}}} - 1"),
                )
            )
            if rng.random() < 0.3:
                outside = (
                    inside.replace(">=", "<") if "and" not in inside and ">=" in inside else f"not ({inside})"
                )
                return f"({outside} ? {border} : {b.name}[{first}{moved}])"
            return f"({inside} ? {b.name}[{first}{moved}] : {border})"
        return f"{b.name}[{first}{at}]"

    def window(self, b: Buffer, row: str, k: str, steps: int) -> str:
        """Both neighbours of an element, with borders that are the same mostly; "" where there are none."""
        if b.rank == 0 or steps > b.extent:
            return ""
        first = f"{row}," if b.rank == 2 else ""
        borders = ("0", "3", "-2")
        left = self.rng.choice(borders)
        right = left if self.rng.random() < 0.6 else self.rng.choice(borders)
        low = f"({{{k}}} >= 1 ? {b.name}[{first}{{{k}}} - 1] : {left})"
        high = f"({{{k}}} + 1 < {b.extent} ? {b.name}[{first}{{{k}}} + 1] : {right})"
        return f"{low} {self.rng.choice('+-')} {high}"

    def value(self, row: str, k: str, steps: int, target: Buffer, sign: str) -> str:
        rng, dtype = self.rng, target.dtype
        of = [b for b in self.known if b.dtype == dtype]
        if sign != "=":  # s += s doubles with each iteration, and the terms of the validator do
            of = [b for b in of if b is not target]
        if k and rng.random() < 0.2 and of:
            window = self.window(rng.choice(of[-3:]), row, k, steps)
            if window:
                return window
        parts = [self.load(b, row, k, steps) for b in rng.choices(of[-3:], k=rng.choice((1, 1, 2, 2, 3)))]
        if dtype == "f32":
            parts = [rng.choice(FUNCTIONS).format(p) if rng.random() < 0.3 else p for p in parts]
        if k and len(parts) > 1 and rng.random() < 0.15:
            a, b = rng.randint(0, steps), rng.randint(0, steps)
            parts[:2] = [f"({{{k}}} < {a} ? {parts[0]} : ({{{k}}} < {b} ? {parts[1]} : {parts[-1]}))"]
        text = parts[0]
        for p in parts[1:]:
            text = f"{text} {rng.choice('++-*')} {p}"
        return text
