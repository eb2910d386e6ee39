"""Small programs, each of which asks one question that larger ones seldom ask.

May an iteration run again, which elements share storage, where do promised values end.
"""

from __future__ import annotations

from tests.fuzz.writer import Writer

RANGES = ("peel_scope", "tile_scope")
"""Moves that may run iterations again."""


def question(w: Writer) -> tuple[str, ...]:
    """Write a program, and return the moves that it is about."""
    chance = w.rng.random()
    if chance < 0.4:
        return ahead(w)
    if chance < 0.55:
        return scan(w)
    return picks(w) if chance < 0.75 else pairs(w)


def ahead(w: Writer) -> tuple[str, ...]:
    """Each iteration writes an element and uses another one, which a later iteration may write."""
    rng, n = w.rng, w.rng.choice((5, 6, 7, 9, 11))
    y, z, i = w.fresh("y"), w.fresh("y"), w.fresh("i")
    d = rng.choice((1, 1, 2))
    w.header += [f"inout {y}: f32[{n + 2}]", f"inout {z}: f32[{n}]"]
    at, used = rng.choice(
        (
            (f"{{{i}}}", f"{{{i}}} + {d}"),
            (f"{n} - {{{i}}}", f"{n - 1} - {{{i}}}"),
            (f"{{{i}}}", str(n // 2)),
            (f"{{{i}}} + 1", str(n // 2)),
            (f"{{{i}}}", f"{{{i}}}"),
        )
    )
    w.lines.append(f"{i}:{n} {y}[{at}] = {w.known[0].name}[{{{i}}} % {w.columns}] * 0.5")
    w.lines.append(f"| {z}[{{{i}}}] = {y}[{used}] - 1.0")
    if rng.random() < 0.3:
        w.lines.append(f"| {y}[{at}] = {z}[{{{i}}}] * 3.0")
    return RANGES


def scan(w: Writer) -> tuple[str, ...]:
    """Each row is computed in one element of storage, whose last value is used behind all rows."""
    rng, rows, n = w.rng, w.rng.choice((4, 4, 6, 8)), w.columns
    t, y, i, k, j = w.fresh("t"), w.fresh("y"), w.fresh("i"), w.fresh("k"), w.fresh("i")
    x = w.fresh("x")
    role = rng.choice(("out", "inout"))
    w.header += [
        f"in {x}: f32[{rows}, {n}]",
        f"tmp {t}: f32[{rows}, {n}] reuse(1)",
        f"{role} {y}: f32[{rows}]",
    ]
    old = f"({{{k}}} >= 1 ? {t}[{{{i}}},{{{k}}} - 1] : 0.25)"
    value = rng.choice((f"{old} * 0.5 + {x}[{{{i}}},{{{k}}}]", f"{x}[{{{i}}},{{{k}}}] * 3.0"))
    scopes = [f"{i}:{rows}", f"{k}:{n}"]
    if rng.random() < 0.3:
        scopes.reverse()
    w.lines.append(f"{' '.join(scopes)} {t}[{{{i}}},{{{k}}}] = {value}")
    w.lines.append(f"{j}:{rows} {y}[{{{j}}}] = {t}[{{{j}}},{n - 1}] - {x}[{{{j}}},0]")
    return ("split_dims",)


def pairs(w: Writer) -> tuple[str, ...]:
    """Elements in pairs, as real and imaginary parts stand, written and read apart."""
    rng, n = w.rng, w.rng.choice((6, 8, 8, 12))
    x, t, y, k, j = w.fresh("x"), w.fresh("t"), w.fresh("y"), w.fresh("k"), w.fresh("k")
    w.header += [f"in {x}: f32[2, {n}]", f"tmp {t}: f32[{2 * n}]", f"inout {y}: f32[{2 * n}]"]
    lines = [f"{t}[2 * {{{k}}} + {part}] = {x}[{part},{{{k}}}]" for part in (0, 1)]
    rng.shuffle(lines)
    w.lines += [f"{k}:{n} {lines[0]}", f"| {lines[1]}"]
    if rng.random() < 0.5:
        w.lines.append(f"{j}:{2 * n} {y}[{{{j}}}] = {t}[{{{j}}}] * 0.5")
    else:
        w.lines.append(f"{j}:{n} {y}[{{{j}}}] = {t}[2 * {{{j}}}] - {t}[2 * {{{j}}} + 1]")
    return ("split_dims",)


def picks(w: Writer) -> tuple[str, ...]:
    """Elements that data pick, under conditions on these data that hold for nearly all promised values."""
    rng, n, m = w.rng, w.columns, w.rng.choice((2, 3, 5))
    a, b, x, y, k = w.fresh("x"), w.fresh("x"), w.fresh("x"), w.fresh("y"), w.fresh("k")
    w.header += [f"in {a}: i32[{n}] values(0, {m})", f"in {b}: i32[{n}] values(0, {m})"]
    w.header += [f"in {x}: f32[{m}]", f"inout {y}: f32[{n}]"]
    one, two = f"{a}[{{{k}}}]", f"{b}[{{{k}}}]"

    def condition() -> str:
        most = m - 1
        return rng.choice(
            (
                f"{one} < {most}",
                f"{one} != {most}",
                f"{one} >= {most}",
                f"{one} - {two} < 1",
                f"{one} - {two} >= {-most}",
                f"{one} - {two} + {most} >= 1",
                f"{one} + {two} < {2 * most}",
                f"i64({one}) - {{{k}}} > {-n}",
                f"i64({one}) - {{{k}}} <= 0",
            )
        )

    guard = f" if {condition()}" if rng.random() < 0.5 else ""
    value = (
        f"{x}[{one}]" if guard and rng.random() < 0.5 else f"({condition()} ? {x}[{one}] : {x}[{two}] * 2.0)"
    )
    w.lines.append(f"{k}:{n} {y}[{{{k}}}] {rng.choice(('=', '+='))} {value}{guard}")
    return ("simplify_conditions",)
