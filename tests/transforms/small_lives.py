"""`lives(seed)`: small programs whose temporaries live in turns, across iterations, in shared storage."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify

RANKS = {"a": 1, "b": 1, "c": 2, "d": 2, "s": 0, "q": 0, "x": 1, "h": 1}
TEMPORARIES = "abcdsq"


@dataclass
class _Writer:
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def index(self, depth: int) -> str:
        rng = self.rng
        if not depth:
            return str(rng.randrange(2))
        i = f"{{{rng.randrange(depth)}}}"
        odd = (f"({i} + 1) % 4", f"3 - {i}", f"max({i} - 1, 0)", "2", f"g[{i}]", f"{i} // 2")
        return i if rng.random() < 0.7 else rng.choice(odd)

    def access(self, buffer: str, depth: int) -> str:
        if RANKS[buffer] == 2 and depth > 1 and self.rng.random() < 0.6:
            return f"{buffer}[{{{depth - 2}}},{{{depth - 1}}}]"
        return f"{buffer}[{','.join(self.index(depth) for _ in range(RANKS[buffer]))}]"

    def statement(self, bars: str, depth: int) -> None:
        rng = self.rng
        target = rng.choice((*TEMPORARIES, "h"))
        # What was written is read mostly, so that many programs are accepted.
        known = [*self.written[-3:], "x", "h"] if rng.random() < 0.95 else list(TEMPORARIES)
        loads = " + ".join(self.access(rng.choice(known), depth) for _ in range(rng.choice((1, 1, 2))))
        sign = rng.choice(("=", "=", "=", "+=" if target in self.written else "="))
        guard = f" if {{0}} < {rng.randint(1, 3)}" if depth and rng.random() < 0.07 else ""
        value = f"{loads} * 2.0" if rng.random() < 0.5 else loads
        self.lines.append(f"{bars} {self.access(target, depth)} {sign} {value}{guard}")
        self.written.append(target)

    def nest(self, around: int, opens: str) -> None:
        depth = around + self.rng.choice((0, 1, 1, 2))
        bars = f"{opens} {' '.join(['4'] * (depth - around))}"
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self.statement(bars, depth)
            bars = "| " * depth


def lives(seed: int) -> Program | None:
    """Return the program of `seed` as moves see it; None when no attempt is accepted."""
    for attempt in range(60):
        writer = _Writer(random.Random(f"{seed}/{attempt}"))
        rng = writer.rng
        header = ["kernel k", "in x: f32[4]", "in g: i64[4] values(0, 4)", "inout h: f32[4]"]
        header.append("out y: f32[4, 4]")
        for name in TEMPORARIES:
            kinds = ("", "", "", " reuse(0)", " reuse(1)", " reuse(0, 1)")
            storage = rng.choice(kinds[: 2 + 2 * RANKS[name]])
            header.append(f"tmp {name}: f32[{', '.join('4' * RANKS[name])}]{storage}")
        around = rng.randrange(2)
        for n in range(rng.randint(2, 4)):
            writer.nest(around, ("4" if n == 0 else "|") if around else "")
        opens = "| 4" if around else "4 4"
        total = " + ".join(writer.access(name, 2) for name in (*writer.written[-2:], "x"))
        try:
            last = f"{opens} y[{{0}},{{1}}] = {total}\n"
            found = bind(parse("\n".join([*header, *writer.lines, last])))
            verify(found)
        except PerfDojoError:
            continue
        return prepare(found)
    return None
