"""Random programs of one @stream scope: loops in any order, operands that move anyhow, sums, updates."""

from __future__ import annotations

import random

HEAD = "kernel k\n{buffers}\n"


def generate(seed: int, dtype: str = "f64") -> str:
    """Return the text of a random program; some are wrong, and some no data mover can serve."""
    rng = random.Random(seed)
    kinds = (_elementwise, _elementwise, _reduction, _reduction, _updates, _chain, _lanes, _lanes)
    return rng.choice(kinds)(rng, dtype)


def _index(rng: random.Random, scopes: list[tuple[int, int]]) -> tuple[str, int]:
    """Return an index on some scopes, (number, extent), and its extent."""
    text, size = "", 1
    for number, extent in rng.sample(scopes, min(len(scopes), rng.choice((1, 1, 1, 2)))):
        factor = rng.choice((1, 1, 1, 2))
        text += ("" if not text else " + ") + (f"{factor}*" if factor > 1 else "") + f"{{{number}}}"
        size += factor * (extent - 1)
    offset = rng.choice((0, 0, 1, 3))
    return (text or "0") + (f" + {offset}" if offset else ""), size + offset


def _operand(rng: random.Random, name: str, scopes: list[tuple[int, int]], dims: int) -> tuple[str, str]:
    """Return an access of an input and its shape."""
    made = [_index(rng, scopes) for _ in range(dims)]
    return f"{name}[{', '.join(t for t, _ in made)}]", ", ".join(str(n) for _, n in made)


def _value(rng: random.Random, leaves: list[str], depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice((*leaves, *leaves, "0.5", "3.0"))
    a, b = _value(rng, leaves, depth - 1), _value(rng, leaves, depth - 1)
    form = rng.choice(("{a} + {b}", "{a} - {b}", "{a} * {b}", "maxnum({a}, {b})", "-({a})", "abs({a})"))
    return "(" + form.format(a=a, b=b) + ")"


def _nest(rng: random.Random, extents: list[int], marks: list[str]) -> str:
    return " ".join(f"{n}{m}" for n, m in zip(extents, marks, strict=True))


def _marks(rng: random.Random, count: int) -> list[str]:
    marks = ["@stream"] + [""] * (count - 1)
    if count > 1 and rng.random() < 0.7:
        marks[-1] = "@frep"
    if count > 2 and rng.random() < 0.4:
        marks[-2:] = ["@frep", "@unroll"]
    return marks


def _elementwise(rng: random.Random, dtype: str) -> str:
    extents = [rng.choice((1, 2, 3, 4, 5)) for _ in range(rng.randint(1, 4))]
    scopes = list(enumerate(extents))
    buffers, leaves = [], []
    for k in range(rng.randint(1, 3)):
        access, shape = _operand(rng, f"x{k}", scopes, rng.randint(1, 3))
        leaves.append(access)
        buffers.append(f"in x{k}: {dtype}[{shape}]")
    target = rng.sample(scopes, len(scopes))
    buffers.append(f"out y: {dtype}[{', '.join(str(n) for _, n in target)}]")
    value = _value(rng, leaves)
    left = f"y[{', '.join(f'{{{k}}}' for k, _ in target)}]"
    return _text(buffers, f"{_nest(rng, extents, _marks(rng, len(extents)))} {left} = {value}")


def _reduction(rng: random.Random, dtype: str) -> str:
    rows, steps = rng.randint(0, 2), rng.randint(1, 2)
    block = rng.choice((1, 2, 4))
    extents = [1, *(rng.choice((1, 2, 3, 5)) for _ in range(rows + steps)), block]
    scopes = list(enumerate(extents))
    targets = [*scopes[1 : 1 + rows], scopes[-1]]
    buffers, leaves = [], []
    for k in range(rng.randint(1, 2)):
        access, shape = _operand(rng, f"x{k}", scopes[1:], rng.randint(1, 3))
        leaves.append(access)
        buffers.append(f"in x{k}: {dtype}[{shape}]")
    start = rng.choice(("0", "1.5", "-0.0"))
    buffers.append(f"out y: {dtype}[{', '.join(str(n) for _, n in targets)}]")
    sign = rng.choice(("+=", "+=", "+=", "*=", "maxnum=", "-"))
    value = rng.choice((" * ".join(leaves), leaves[0], f"abs({leaves[0]})"))
    outer = "1@stream " + " ".join(str(n) for _, n in scopes[1 : 1 + rows])
    first = f"y[{', '.join([*(f'{{{k}}}' for k, _ in targets[:-1]), f'{{{1 + rows}}}'])}]"
    left = f"y[{', '.join(f'{{{k}}}' for k, _ in targets)}]"
    inner = [str(n) for _, n in scopes[1 + rows : -1]]
    inner[-1] += rng.choice(("@frep", "@frep", ""))
    update = f"{left} {sign} {value}" if sign != "-" else f"{left} = {left} - {value}"
    bars = "| " * (1 + rows)
    if rng.random() < 0.3:
        update = f"{left} = fma({leaves[0]}, {leaves[-1]}, {left})"
    lines = [
        f"{outer} {block}@unroll {first} = {start}",
        f"{bars}{' '.join(inner)} {block}@unroll {update}",
    ]
    return _text(buffers, "\n".join(lines))


def _updates(rng: random.Random, dtype: str) -> str:
    """Updates in place, some of which read what others have written."""
    n = rng.choice((4, 8, 12))
    shift = rng.choice((0, 0, 0, 1, 2))
    read = f"y[{{0}} + {shift}]" if rng.random() < 0.5 else "y[{0}]"
    write = "y[{0}]" if rng.random() < 0.7 else f"y[{{0}} + {shift}]"
    value = rng.choice(("{r} + x[{{0}}]", "x[{{0}}] * {r}", "maxnum({r}, 0.0)")).format(r=read)
    buffers = [f"in x: {dtype}[{n}]", f"inout y: {dtype}[{n + shift}]"]
    return _text(buffers, f"{n}@stream {write} = {value}")


def _chain(rng: random.Random, dtype: str) -> str:
    """Values that pass from one statement to another through a temporary."""
    n, m = rng.choice((2, 3, 4)), rng.choice((1, 2, 4, 6))
    other = rng.choice(("{1}", f"{m - 1} - {{1}}"))
    buffers = [f"in x: {dtype}[{n}, {m}]", f"tmp t: {dtype}[{m}]", f"out y: {dtype}[{n}, {m}]"]
    marks = [rng.choice(("", "@frep", "@unroll")) for _ in range(2)]
    lines = [
        f"{n}@stream {m}{marks[0]} t[{{1}}] = {_value(rng, ['x[{0},{1}]'])}",
        f"| {m}{marks[1]} y[{{0}},{{1}}] = {_value(rng, ['t[' + other + ']', 'x[{0},{1}]'])}",
    ]
    return _text(buffers, "\n".join(lines))


def _lanes(rng: random.Random, dtype: str) -> str:
    """Pairs of f32: rows, blocks, copies, lanes; operands are words, or scalars for both lanes; sums."""
    rows, blocks, copies = rng.choice((1, 2, 3)), rng.choice((1, 2, 4)), rng.choice((1, 2, 4))
    width = blocks * copies * 2
    place = f"{{1}}*{2 * copies} + {{2}}*2 + {{3}}"
    leaves = [f"x0[{{0}}, {place}]"]
    buffers = [f"in x0: f32[{rows}, {width}]"]
    if rng.random() < 0.6:
        wide = rng.random() < 0.5
        leaves.append("x1[{0}*2, {2}]" if wide else "x1[{0}*2, {1}*2 + 1]")
        buffers.append(f"in x1: f32[{2 * rows}, {max(2 * blocks, copies)}]")
    if rng.random() < 0.6:
        leaves.append(f"x2[{place}]")
        buffers.append(f"in x2: f32[{width}]")
    scopes = f"{rows}@stream {blocks}{rng.choice(('', '@frep'))} {copies}@unroll 2@vector"
    if rng.random() < 0.6:
        buffers.append(f"out y: f32[{rows}, {width}]")
        return _text(buffers, f"{scopes} y[{{0}}, {place}] = {_value(rng, leaves)}")
    buffers.append(f"out y: f32[{rows}, {2 * copies}]")
    lines = [
        f"{rows}@stream {copies}@unroll 2@vector y[{{0}}, {{1}}*2 + {{2}}] = {rng.choice(('0', '1.5'))}",
        f"| {blocks}{rng.choice(('', '@frep'))} {copies}@unroll 2@vector "
        + f"y[{{0}}, {{2}}*2 + {{3}}] += {' * '.join(leaves[:2])}",
    ]
    if rng.random() < 0.5:
        buffers[-1] = f"out y: f32[{rows}, {copies}]"
        lines = [
            f"{rows}@stream {copies}@unroll y[{{0}}, {{1}}] = 0",
            f"| {blocks}{rng.choice(('', '@frep'))} 2@vector {copies}@unroll "
            + f"y[{{0}}, {{3}}] += x0[{{0}}, {{1}}*{2 * copies} + {{3}}*2 + {{2}}]",
        ]
        buffers = [buffers[0], buffers[-1]]
    return _text(buffers, "\n".join(lines))


def _text(buffers: list[str], body: str) -> str:
    return HEAD.format(buffers="\n".join(buffers)) + body + "\n"
