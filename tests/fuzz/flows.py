"""`flows(rng)`: small chains of temporaries, whose values flow through storage that is shared and used again.

Rows run in one scope or in one scope for each stage. Stages read what stages before them wrote, in the same
row or in the one before, shifted, reversed, in strides, with borders; what they write is shifted as well.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify

FUNCTIONS = ("abs({})", "-{}", "{} * 0.5", "{} * 3.0 - 1.0", "1.0 - {} * 2.0", "max({}, 0.25)", "2.0 / {}")
SIGNS = ("=", "=", "=", "+=", "+=", "max=", "min=")


@dataclass
class _Buffer:
    name: str
    dtype: str
    rank: int
    extent: int


@dataclass
class _Writer:
    rng: random.Random
    rows: int
    columns: int
    header: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    known: list[_Buffer] = field(default_factory=list)
    signs: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def declare(self, role: str, rank: int, dtype: str, note: str = "") -> _Buffer:
        extent = self.columns + self.rng.choice((0, 0, 1, 2))
        b = _Buffer(self.fresh({"in": "x", "tmp": "t", "out": "y", "inout": "y"}[role]), dtype, rank, extent)
        shape = {0: "", 1: f"{extent}", 2: f"{self.rows}, {extent}"}[rank]
        self.header.append(f"{role} {b.name}: {dtype}[{shape}]{note}")
        return b

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
            found += [f"{{{k}}}"] * 6 + [f"{steps - 1} - {{{k}}}", f"{{{k}}} // 2"]
        if free > 0:
            found += [f"{{{k}}} + {self.rng.randint(1, free)}"] * 3
        if 2 * steps <= extent + 1:
            found += [f"2 * {{{k}}}"] * 3
        return self.rng.choice(found)

    def load(self, b: _Buffer, row: str, k: str, steps: int) -> str:
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

    def window(self, b: _Buffer, row: str, k: str, steps: int) -> str:
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

    def value(self, row: str, k: str, steps: int, target: _Buffer, sign: str) -> str:
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

    def stage(self, bars: str, row: str, target: _Buffer) -> None:
        """Lines that fill `target`, from what is known so far."""
        rng = self.rng
        k = "" if target.rank == 0 and rng.random() < 0.4 else self.fresh("k")
        steps = rng.choice((target.extent, target.extent, target.extent, max(1, target.extent - 1)))
        if rng.random() < 0.1:
            steps = max(1, target.extent // 2)
        first = f"{row}," if target.rank == 2 else ""
        at = f"{first}{self.column(target.extent, k, steps)}" if target.rank else ""
        if target.rank and rng.random() < 0.6 and steps <= target.extent:
            at = f"{first}{{{k}}}"
        sign = rng.choice(SIGNS) if k else "="
        if k and rng.random() < 0.5:
            sign = self.signs.get(target.name, sign)
        self.signs[target.name] = sign
        guard = ""
        if k and rng.random() < 0.15:
            guard = f" if {{{k}}} {rng.choice(('>=', '<', '!='))} {rng.randint(0, steps)}"
        elif rng.random() < 0.25:
            guard = f" if {row} {rng.choice(('<', '>='))} 1"
        value = self.value(row, k, steps, target, sign)
        scope = f"{k}:{steps} " if k else ""
        self.lines.append(f"{bars}{scope}{target.name}[{at}] {sign} {value}{guard}")

    def split(self, bars: str, row: str, target: _Buffer) -> None:
        """Two lines: the first row fills `target`, later ones update it."""
        k, sign = self.fresh("k"), self.rng.choice(("+=", "+=", "max=", "="))
        at = {0: "", 1: f"{{{k}}}", 2: f"{row},{{{k}}}"}[target.rank]
        lines = []
        for guard, s in ((f"{row} < 1", "="), (f"{row} >= 1", sign)):
            value = self.value(row, k, target.extent, target, "+=")
            lines.append(f"{target.name}[{at}] {s} {value} if {guard}")
        scope = f"{k}:{target.extent} "
        self.lines.append(f"{bars}{scope}{lines[0]}")
        self.lines.append(f"| | {lines[1]}")

    def sweep(self) -> None:
        """A perfect nest in which elements of one buffer depend on each other in all directions."""
        rng = self.rng
        b = self.declare("inout", rng.choice((1, 2, 2)), rng.choice(("f32", "f32", "i32")))
        i, k = self.fresh("i"), self.fresh("k")

        def at(dr: int, dc: int) -> str:
            column = f"{{{k}}} + {dc}" if b.rank == 2 or rng.random() < 0.7 else f"{{{i}}} + {{{k}}} + {dc}"
            return f"{b.name}[{f'{{{i}}} + {dr},' if b.rank == 2 else ''}{column}]"

        def near() -> str:
            return at(rng.randint(0, 2), rng.randint(0, 2))

        rows, columns = self.rows + 1, max(1, b.extent - 2)
        if b.rank == 2:
            self.header[-1] = f"inout {b.name}: {b.dtype}[{rows + 2}, {columns + 2}]"
        else:
            self.header[-1] = f"inout {b.name}: {b.dtype}[{rows + columns + 2}]"
        order = [f"{i}:{rows}", f"{k}:{columns}"]
        if rng.random() < 0.5:
            order.reverse()
        target = at(1, 1)
        sign = rng.choice(("=", "=", "=", "+=", "max="))
        terms = [near() for _ in range(rng.choice((1, 1, 2)))] if sign == "=" else [f"{self.known[-1].name}"]
        same = [x for x in self.known if x.dtype == b.dtype]

        def given() -> str:
            return self.load(rng.choice(same), f"{{{i}}} % {self.rows}", k, columns)

        is_input = sign != "=" or rng.random() < 0.3
        if is_input:
            terms = [given()]
        scale = " * 0.5" if b.dtype == "f32" else " + 3"
        self.lines.append(f"{' '.join(order)} {target} {sign} {' - '.join(terms)}{scale}")
        chance = rng.random()
        if sign != "=" and chance < 0.4:
            self.lines.append(f"| | {target} {sign} {given()}")
        elif is_input and chance < 0.7:
            c = self.declare("inout", 1, b.dtype)
            self.header[-1] = f"inout {c.name}: {b.dtype}[{columns}]"
            self.lines.append(f"| | {c.name}[{{{k}}}] = {near()}{scale}")
        elif chance < 0.8:
            again = rng.choice((near(), target))
            value = near() if rng.random() < 0.7 else "1"
            self.lines.append(f"| | {again} {rng.choice(('=', sign, '+='))} {value}")

    def chain(self) -> None:
        """One buffer is computed from another one, which then changes, before it is read."""
        rng, rows, n = self.rng, self.rows, self.columns
        dtype = "f32"
        source = self.declare("inout", rng.choice((1, 2)), dtype)
        offset = rng.choice((0, 0, 1, 2))
        rank = rng.choice((0, 1, 1, 2))
        t = _Buffer(self.fresh("t"), dtype, rank, n + offset)
        shape = {0: "", 1: f"{n + offset}", 2: f"{rows}, {n + offset}"}[rank]
        note = rng.choice(("", "", " reuse(0)")) if rank == 1 else ""
        self.header.append(f"tmp {t.name}: {dtype}[{shape}]{note}")
        y = self.declare("inout", 2, dtype)
        i, together = self.fresh("i"), rng.random() < 0.5
        kept = rng.random() < 0.5

        def line(target: str, value: str, k: str, sign: str = "=", guard: str = "") -> None:
            scope = f"{k}:{n} " if k else ""
            row = i if together else self.fresh("i")
            text = f"{scope}{target} {sign} {value}{guard}".replace("ROW", row)
            opens = not together or not any(f"{i}:{rows}" in x for x in self.lines)
            self.lines.append(f"{row}:{rows} {text}" if opens else f"| {text}")

        def at(b: _Buffer, k: str, moved: int = 0) -> str:
            column = f"{{{k}}} + {moved}" if k else str(moved)
            return f"{b.name}[{ {0: '', 1: column, 2: '{ROW},' + column}[b.rank] }]"

        def changed() -> None:
            k = self.fresh("k")
            line(
                at(source, k, rng.choice((0, 0, source.extent - n))),
                f"{self.known[0].name}[{{{k}}}] * 0.5",
                k,
            )

        k = self.fresh("k") if rank else ""
        value = self.value("{ROW}", k, n, _Buffer("", dtype, 1, n), "=")
        guard = f" if {{ROW}} < {rows}" if rng.random() < 0.2 else ""
        if not kept:
            changed()
        line(at(t, k, offset), f"{at(source, k or '', 0)} * 3.0 + {value}", k, guard=guard)
        if kept:
            changed()
        k = self.fresh("k")
        moved = rng.choice((offset, offset, 0))
        line(at(y, k), f"{at(t, k, moved) if rank else t.name + '[]'} + {at(source, k)}", k)
        if rng.random() < 0.4:
            changed()

    def kernel(self) -> str:
        rng = self.rng
        dtypes = ("f32", "f32", "i32") if rng.random() < 0.3 else ("f32",)
        self.known = [self.declare("in", r, d) for d in ("f32", "i32") for r in (1, 2)]
        kind = rng.random()
        if kind < 0.5:
            self.stages(dtypes)
        elif kind < 0.75:
            for _ in range(rng.choice((1, 1, 2))):
                self.sweep()
        else:
            self.chain()
        text = "\n".join(self.lines)
        header = [h for h in self.header if not h.startswith("in ") or f"{h.split()[1][:-1]}[" in text]
        return "\n".join(["kernel flows", *header, text]) + "\n"

    def stages(self, dtypes: tuple[str, ...]) -> None:
        """Temporaries that are filled one behind the other, some more than once, and an output."""
        rng = self.rng
        together = rng.random() < 0.6
        temporaries: list[_Buffer] = []
        for _ in range(rng.randint(1, 3)):
            rank = rng.choice((0, 1, 1, 2))
            note = rng.choice(("", "", " reuse(0)")) if rank else ""
            temporaries.append(self.declare("tmp", rank, rng.choice(dtypes), note))
        stages = [*temporaries, *(rng.choice(temporaries) for _ in range(rng.randint(0, 3)))]
        if rng.random() < 0.4:
            rng.shuffle(stages)
        if rng.random() < 0.4:  # values that the first row finds
            zeros = {0: "", 1: "{z%d}", 2: "0,{z%d}"}
            for n, t in enumerate(temporaries):
                scope = f"z{n}:{t.extent} " if t.rank else ""
                at = zeros[t.rank] % n if t.rank else ""
                self.lines.append(f"{scope}{t.name}[{at}] = {'0.5' if t.dtype == 'f32' else '1'}")
            self.known += temporaries
        outs = [self.declare(rng.choice(("out", "inout")), rng.choice((1, 2, 2)), rng.choice(dtypes))]
        stages += outs
        if rng.random() < 0.3:
            stages.append(stages.pop(rng.randrange(len(stages))))
        opened = False
        for target in stages:
            row = "i" if together else self.fresh("i")
            bars = "| "
            if not opened or not together:
                mark = rng.choice(("", "", "", "@parallel"))
                self.lines.append(f"{row}:{self.rows}{mark} >")
                opened = True
            if rng.random() < 0.1:
                self.split(bars, f"{{{row}}}", target)
            else:
                self.stage(bars, f"{{{row}}}", target)
            if target not in self.known:
                self.known.append(target)
        joined: list[str] = []
        for line in self.lines:  # a scope stands before its first node
            if joined and joined[-1].endswith(">"):
                line = joined.pop()[:-1] + line.removeprefix("| ")
            joined.append(line)
        self.lines = joined


def flows(rng: random.Random) -> Program:
    """Return a program that `verify` accepts."""
    for _ in range(200):
        writer = _Writer(rng, rng.choice((1, 2, 3, 4)), rng.choice((1, 3, 4, 5, 8, 9, 17)))
        try:
            made = bind(parse(writer.kernel(), "flows"))
            verify(made)
        except PerfDojoError:
            continue
        return made
    raise AssertionError("no valid program in 200 attempts")
