"""`flows(rng)`: small chains of temporaries, whose values flow through storage that is shared and used again.

Rows run in one scope or in one scope for each stage. Stages read what stages before them wrote, in the same
row or in the one before, shifted, reversed, in strides, with borders; what they write is shifted as well.
"""

from __future__ import annotations

import random

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from tests.fuzz.questions import RANGES, question
from tests.fuzz.sweeps import carried, chain, diagonal, sums, sweep
from tests.fuzz.writer import Buffer, Writer

ORDER = (
    "collapse_scopes",
    "fission_scope",
    "join_scopes",
    "parallelize",
    "peel_scope",
    "reorder",
    "swap_siblings",
    "tile_scope",
)
"""Moves that change the order of accesses."""
SUMS = ("reorder", "split_reduction", "vectorize")
"""Moves that give a sum several accumulators."""
STORAGE = (
    "create_temporary",
    "expand_buffer",
    "materialize_dims",
    "reuse_buffers",
    "reuse_dims",
    "split_dims",
)
VALUES = ("create_temporary", "hoist", "inline", "recompute", "simplify_conditions")
SIGNS = ("=", "=", "=", "+=", "+=", "max=", "min=")


def flows(rng: random.Random) -> tuple[Program, tuple[str, ...]]:
    """Return a program that `verify` accepts, and the moves for which its structure matters most."""
    for _ in range(200):
        writer = Writer(rng, rng.choice((1, 2, 3, 4, 4, 6)), rng.choice((1, 3, 4, 5, 8, 9, 17)))
        try:
            text, moves = kernel(writer)
            made = bind(parse(text, "flows"))
            verify(made)
        except PerfDojoError:
            continue
        return made, moves
    raise AssertionError("no valid program in 200 attempts")


def kernel(w: Writer) -> tuple[str, tuple[str, ...]]:
    """Return the text of a program, and moves to be made on it."""
    rng = w.rng
    dtypes = ("f32", "f32", "i32") if rng.random() < 0.3 else ("f32",)
    w.mark = rng.choice(("", "", "@parallel", "@vector"))
    w.known = [w.declare("in", r, d) for d in ("f32", "i32") for r in (1, 2)]
    kind = rng.random()
    moves: tuple[str, ...] = ORDER
    if kind < 0.32:
        stages(w, dtypes)
        moves = rng.choice((STORAGE, VALUES, ORDER))
    elif kind < 0.49:
        sums(w)
        moves = rng.choice((ORDER, ORDER, SUMS))
    elif kind < 0.7:
        for _ in range(rng.choice((1, 1, 2))):
            sweep(w)
        moves = rng.choice((ORDER, ORDER, RANGES))
    elif kind < 0.81:
        chain(w)
        moves = rng.choice((ORDER, VALUES, VALUES))
    elif kind < 0.86:
        carried(w)
        moves = ("reuse_buffers", "reuse_dims")
    elif kind < 0.88:
        diagonal(w)
        moves = STORAGE
    else:
        moves = question(w)
    text = "\n".join(w.lines)
    header = [h for h in w.header if not h.startswith("in ") or f"{h.split()[1][:-1]}[" in text]
    return "\n".join(["kernel flows", *header, text]) + "\n", moves


def stages(w: Writer, dtypes: tuple[str, ...]) -> None:
    """Temporaries that are filled one behind the other, some more than once, and an output."""
    rng = w.rng
    together = rng.random() < 0.6
    temporaries: list[Buffer] = []
    for _ in range(rng.randint(1, 3)):
        if temporaries and rng.random() < 0.5:
            temporaries.append(w.another(temporaries[-1]))
            continue
        rank = rng.choice((0, 1, 1, 2))
        note = rng.choice(("", " reuse(0)", " reuse(1)" if rank == 2 else "")) if rank else ""
        temporaries.append(w.declare("tmp", rank, rng.choice(dtypes), note))
    stages = [*temporaries, *(rng.choice(temporaries) for _ in range(rng.randint(0, 3)))]
    if rng.random() < 0.4:
        rng.shuffle(stages)
    if rng.random() < 0.4:  # values that the first row finds
        zeros = {0: "", 1: "{z%d}", 2: "0,{z%d}"}
        for n, t in enumerate(temporaries):
            scope = f"z{n}:{t.extent} " if t.rank else ""
            at = zeros[t.rank] % n if t.rank else ""
            w.lines.append(f"{scope}{t.name}[{at}] = {'0.5' if t.dtype == 'f32' else '1'}")
        w.known += temporaries
    outs = [w.declare(rng.choice(("out", "inout")), rng.choice((1, 2, 2)), rng.choice(dtypes))]
    stages += outs
    if rng.random() < 0.3:
        stages.append(stages.pop(rng.randrange(len(stages))))
    opened = False
    for target in stages:
        row = "i" if together else w.fresh("i")
        bars = "| "
        if not opened or not together:
            mark = w.mark if w.mark == "@parallel" and rng.random() < 0.6 else ""
            w.lines.append(f"{row}:{w.rows}{mark} >")
            opened = True
        if rng.random() < 0.2:
            split(w, bars, f"{{{row}}}", target)
        else:
            stage(w, bars, f"{{{row}}}", target)
        if target not in w.known:
            w.known.append(target)
    joined: list[str] = []
    for line in w.lines:  # a scope stands before its first node
        if joined and joined[-1].endswith(">"):
            line = joined.pop()[:-1] + line.removeprefix("| ")
        joined.append(line)
    w.lines = joined


def stage(w: Writer, bars: str, row: str, target: Buffer) -> None:
    """Lines that fill `target`, from what is known so far."""
    rng = w.rng
    k = "" if target.rank == 0 and rng.random() < 0.4 else w.fresh("k")
    steps = rng.choice((target.extent, target.extent, target.extent, max(1, target.extent - 1)))
    if rng.random() < 0.15:
        steps = max(1, target.extent // 2)
    first = f"{row}," if target.rank == 2 else ""
    at = f"{first}{w.column(target.extent, k, steps)}" if target.rank else ""
    if target.rank and rng.random() < 0.6 and steps <= target.extent:
        at = f"{first}{{{k}}}"
    sign = rng.choice(SIGNS) if k else "="
    if k and rng.random() < 0.5:
        sign = w.signs.get(target.name, sign)
    w.signs[target.name] = sign
    guard = ""
    if k and rng.random() < 0.15:
        guard = f" if {{{k}}} {rng.choice(('>=', '<', '!='))} {rng.randint(0, steps)}"
    elif rng.random() < 0.25:
        guard = f" if {row} {rng.choice(('<', '>='))} 1"
    value = w.value(row, k, steps, target, sign)
    mark = w.mark if rng.random() < 0.6 else ""
    scope = f"{k}:{steps}{mark} " if k else ""
    w.lines.append(f"{bars}{scope}{target.name}[{at}] {sign} {value}{guard}")


def split(w: Writer, bars: str, row: str, target: Buffer) -> None:
    """Two lines: the first row fills `target`, later ones update it."""
    k, sign = w.fresh("k"), w.rng.choice(("+=", "+=", "max=", "="))
    at = {0: "", 1: f"{{{k}}}", 2: f"{row},{{{k}}}"}[target.rank]
    guards = [(f"{row} < 1", "="), (f"{row} >= 1", sign)]
    if w.rng.random() < 0.4:
        guards = [(f"{row} >= {w.rows}", "="), *reversed(guards)]
    lines = []
    for guard, s in guards:
        value = w.value(row, k, target.extent, target, "+=")
        lines.append(f"{target.name}[{at}] {s} {value} if {guard}")
    scope = f"{k}:{target.extent} "
    w.lines.append(f"{bars}{scope}{lines[0]}")
    w.lines += [f"| | {one}" for one in lines[1:]]
