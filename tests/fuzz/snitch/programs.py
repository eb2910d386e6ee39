"""`program(rng)`: random programs of nests that data movers can serve, as moves see them."""

from __future__ import annotations

import random

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int
from tests.fuzz import programs as others
from tests.fuzz.snitch.writer import CONSTANTS, Buffer, Scopes, Writer
from tests.lowering.nests.programs import generate as marked

MOST_EXECUTIONS = 1200
"""Statement executions above which a program is not taken."""
MOST_BYTES = 12_000
"""Of all its buffers."""
SIGNS = ("+=", "+=", "+=", "+=", "*=", "maxnum=", "minnum=", "max=", "min=")


def program(rng: random.Random) -> Program:
    """Return a program: nests mostly, of floats; now and then one that was made for other targets."""
    for _ in range(200):
        kind = rng.random()
        if kind < 0.12:
            made = others.program(rng).program
            if others.executions(made) <= MOST_EXECUTIONS:
                return made
            continue
        text = marked(rng.getrandbits(30)) if kind < 0.24 else written(rng)
        try:
            made = bind(parse(text, "k"))
            verify(made)
        except PerfDojoError:
            continue
        if others.executions(made) <= MOST_EXECUTIONS and _bytes(made) <= MOST_BYTES:
            return prepare(made)
    raise AssertionError("no valid program in 200 attempts")


def _bytes(made: Program) -> int:
    total = 0
    for b in made.buffers:
        size = b.dtype.bytes
        for n in b.shape:
            size *= const_int(n)
        total += size
    return total


def written(rng: random.Random) -> str:
    """Return the text of a program of one to four nests of one type; not all of them are valid."""
    dtype = rng.choice(("f64", "f64", "f64", "f32", "f32", "f16"))
    w = Writer(rng, dtype, rng.choice((0.0, 0.0, 0.0, 0.15)))
    kinds = (*(_elementwise, _reduction) * 2, _reduction, _rows, _update, _chain, _wide, _scan)
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        rng.choice(kinds)(w)
    for b in w.buffers:
        if b.role == "tmp" and b is w.known[-1]:
            b.role = "out"
    return w.text()


def _at(scopes: Scopes) -> str:
    return ", ".join(f"{{{name}}}" for name, _ in scopes)


def _open(scopes: Scopes) -> str:
    return " ".join(f"{name}:{n}" for name, n in scopes)


def _made(w: Writer, scopes: Scopes, role: str = "") -> Buffer:
    return w.declare(role or w.rng.choice(("out", "out", "tmp")), [n for _, n in scopes])


def _elementwise(w: Writer) -> None:
    """One to three statements, which may pass a value through a temporary."""
    scopes = w.scopes(w.rng.choice((1, 1, 2, 2, 3, 4)))
    bars = "| " * len(scopes)
    leaves = [w.operand(scopes) for _ in range(w.rng.randint(1, 3))]
    lines = []
    if w.rng.random() < 0.3:
        t = w.declare("tmp", [] if w.rng.random() < 0.6 else [scopes[-1][1]])
        place = f"{t.name}[{_at(scopes[-1:]) if t.shape else ''}]"
        lines.append(f"{place} = {w.value(leaves, 2)}")
        leaves.append(place)
    made = []
    for _ in range(w.rng.choice((1, 1, 1, 2))):
        order = scopes if w.rng.random() < 0.75 else w.rng.sample(scopes, len(scopes))
        y = _made(w, order)
        lines.append(f"{y.name}[{_at(order)}] = {w.value(leaves, w.rng.choice((1, 2, 2, 3)))}")
        made.append(y)
    w.known += made
    w.lines += [f"{_open(scopes)} {lines[0]}", *(f"{bars}{line}" for line in lines[1:])]


def _reduction(w: Writer) -> None:
    """A sum, product or extremum over one or two scopes, from a start that may be written."""
    rows, steps = w.scopes(w.rng.choice((0, 1, 1, 2, 2, 3))), w.scopes(w.rng.choice((1, 1, 2)))
    inner = [*rows, *steps]
    if w.lane and rows and w.rng.random() < 0.6:
        w.lane = rows[-1][0]
    if w.rng.random() < 0.3:
        w.rng.shuffle(inner)
    value = w.value([w.operand(inner) for _ in range(w.rng.choice((1, 2, 2)))], w.rng.choice((0, 1, 1, 2)))
    sign = w.rng.choice(SIGNS)
    if w.rng.random() < 0.2:
        y = _made(w, rows, "inout")
    else:
        y = _made(w, rows)
        if w.rng.random() < 0.5:
            together = bool(rows) and inner == [*rows, *steps] and w.rng.random() < 0.5
            first = rows if together else [(w.fresh("i"), n) for _, n in rows]
            start = w.rng.choice(CONSTANTS) if w.rng.random() < 0.6 else w.operand(first)
            w.lines.append(f"{_open(first)} {y.name}[{_at(first)}] = {start}".strip())
            if together:
                w.lines.append(f"{'| ' * len(rows)}{_open(steps)} {y.name}[{_at(rows)}] {sign} {value}")
                w.known.append(y)
                return
    w.lines.append(f"{_open(inner)} {y.name}[{_at(rows)}] {sign} {value}")
    w.known.append(y)


def _rows(w: Writer) -> None:
    """Each row is summed, and scaled by what came out."""
    (row,), (first,) = w.scopes(1), w.scopes(1)
    second = w.fresh("i"), first[1]
    x = w.operand([row, first])
    s = w.declare("tmp", [] if w.rng.random() < 0.5 else [row[1]])
    total = f"{s.name}[{_at([row]) if s.shape else ''}]"
    y = _made(w, [row, second])
    w.lines += [
        f"{_open([row])} {_open([first])} {total} {w.rng.choice(SIGNS)} {w.value([x], 1)}",
        f"| {_open([second])} {y.name}[{_at([row, second])}] = "
        + w.value([total, x.replace(f"{{{first[0]}}}", f"{{{second[0]}}}")], 2),
    ]
    w.known.append(y)


def _update(w: Writer) -> None:
    """A buffer whose elements are read and written by turns, in places that meet or do not."""
    scopes = w.scopes(w.rng.choice((1, 2, 2)))
    y = w.declare("inout", [n + w.rng.choice((0, 0, 1, 2)) for _, n in scopes])
    if w.lane:
        y.shape[-1] = scopes[-1][1] + w.rng.choice((0, 0, 4))
    free = [n - m for n, (_, m) in zip(y.shape, scopes, strict=True)]

    def place() -> str:
        moved = [w.rng.choice((0, 0, n)) for n in free]
        parts = (f"{{{name}}}" + (f" + {m}" if m else "") for (name, _), m in zip(scopes, moved, strict=True))
        return f"{y.name}[{', '.join(parts)}]"

    leaves = [place(), *([place()] if w.rng.random() < 0.3 else []), w.operand(scopes)]
    w.lines.append(f"{_open(scopes)} {place()} = {w.value(leaves, 2)}")
    if w.rng.random() < 0.35:
        target = _made(w, scopes, "out")
        w.lines.append(f"{'| ' * len(scopes)}{target.name}[{_at(scopes)}] = {w.value([place(), *leaves], 1)}")
        w.known.append(target)
    w.known.append(y)


def _chain(w: Writer) -> None:
    """Rows that go through a temporary of one row, which the second scope reads in another order."""
    (row,), (first,) = w.scopes(1), w.scopes(1)
    second = w.fresh("i"), first[1]
    t = w.declare("tmp", [first[1]])
    y = _made(w, [row, second])
    other = w.rng.choice((_at([second]), _at([second]), f"{first[1] - 1} - {_at([second])}"))
    filled = w.value([w.operand([row, first])], 1)
    w.lane = second[0] if w.lane else ""
    read = [f"{t.name}[{other}]", w.operand([row, second])]
    w.lines += [
        f"{_open([row])} {_open([first])} {t.name}[{_at([first])}] = {filled}",
        f"| {_open([second])} {y.name}[{_at([row, second])}] = {w.value(read, 2)}",
    ]
    w.known.append(y)


def _wide(w: Writer) -> None:
    """More buffers than there are movers, so that some are loaded and stored between streams."""
    scopes = w.scopes(w.rng.choice((1, 1, 2)))
    leaves = [w.operand(scopes) for _ in range(w.rng.randint(3, 5))]
    made = [_made(w, scopes) for _ in range(w.rng.choice((1, 1, 2)))]
    bars = f"{_open(scopes)} "
    for y in made:
        w.rng.shuffle(leaves)
        value = leaves[0]
        for leaf in leaves[1:]:
            value = w.rng.choice(("({v} + {x})", "({x} - {v})", "({x} * {v})", "fma({x}, 0.5, {v})")).format(
                v=value, x=leaf
            )
        w.lines.append(f"{bars}{y.name}[{_at(scopes)}] = {value}")
        bars = "| " * len(scopes)
    w.known += made


def _scan(w: Writer) -> None:
    """A value that goes from step to step beside results; a result may take the place of its start."""
    rows, (step,) = w.scopes(w.rng.choice((0, 1))), w.scopes(1)
    inner = [*rows, step]
    s = w.declare("tmp", [])
    y = _made(w, inner, w.rng.choice(("out", "inout")))
    own = f"{y.name}[{', '.join([*(f'{{{n}}}' for n, _ in rows), str(w.rng.randrange(step[1]))])}]"
    start = own if y.role == "inout" and w.rng.random() < 0.7 else w.operand(rows)
    first = f"{_open(rows)} " if rows else ""
    x = [w.operand(inner) for _ in range(w.rng.choice((1, 2)))]
    total, early = f"{s.name}[]", w.rng.random() < 0.4
    value = w.value(x if early and w.rng.random() < 0.7 else [total, *x], w.rng.choice((0, 1, 2)))
    update = f"{total} {w.rng.choice(('+=', '+=', '*='))} {w.value(x, 1)}"
    result = f"{y.name}[{_at(inner)}] = {value}"
    each = (result, update) if early else (update, result)
    w.lines += [
        f"{first}{total} = {start}",
        f"{'| ' * len(rows)}{_open([step])} {each[0]}",
        f"{'| ' * len(inner)}{each[1]}",
    ]
    if early:
        z = _made(w, rows, "out")
        w.lines.append(f"{'| ' * len(rows)}{z.name}[{_at(rows)}] = {total}")
        w.known.append(z)
    w.known.append(y)
