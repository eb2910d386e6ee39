"""Random programs around products: any order of loops and dimensions, starts, epilogues, padding, batches."""

from __future__ import annotations

import random

EXTENTS = (1, 2, 3, 5, 7, 8, 9, 16, 17, 24, 33)


def product(seed: int) -> str:
    """Return the text of a kernel around one product of two operands."""
    rng = random.Random(seed)
    extents = {d: rng.choice(EXTENTS) for d in "bmnkl"}
    extents["b"], extents["l"] = rng.choice((1, 2, 3)), rng.choice((1, 2, 3))
    batch = rng.random() < 0.4
    second = rng.random() < 0.3
    left, right = ["m", "k"], ["k", "n"]
    target = ["m", "n"]
    if batch:
        for dims in (left, right, target):
            if dims is target or rng.random() < 0.8:
                dims.append("b")
    if second:
        left.append("l")
        right.append("l")
    for dims in (left, right, target):
        rng.shuffle(dims)
    order = [d for d in "bmnkl" if (d != "b" or batch) and (d != "l" or second)]
    if rng.random() < 0.5:
        rng.shuffle(order)
    dtype = rng.choice(("f32", "f32", "f64", "i32"))
    zero = "0" if dtype == "i32" else "0.0"

    def access(name: str, dims: list[str], padded: str = "") -> str:
        return f"{name}[{', '.join(f'{{{d}}}+{{l}}-1' if d == padded else f'{{{d}}}' for d in dims)}]"

    def shape(dims: list[str]) -> str:
        return f"[{', '.join(str(extents[d]) for d in dims)}]"

    a = access("a", left)
    if second and "l" in left and rng.random() < 0.6:
        left.remove("l")
        d = rng.choice(("m", "k"))
        a = access("a", left, d)
        a = f"({{{d}}}+{{l}} >= 1 and {{{d}}}+{{l}} <= {extents[d]} ? {a} : {zero})"
    sign = rng.choice(("+=", "+=", "+=", "max="))
    value = f"{a} {rng.choice('*+')} {access('c', right)}"
    body = [_nest(rng, order, extents, f"t{access('', target)} {sign} {value}")]
    role = rng.choice(("out", "inout", "tmp"))
    if rng.random() < 0.3:
        body.insert(0, _nest(rng, target, extents, f"t{access('', target)} = {zero}", True))
    outputs = ""
    if role == "tmp" or rng.random() < 0.3:
        outputs = f"out y: {dtype}{shape(target)}\n"
        element = f"t{access('', target)}"
        body.append(_nest(rng, target, extents, f"y{access('', target)} = {element} + {element}", True))
    inputs = f"in a: {dtype}{shape(left)}\nin c: {dtype}{shape(right)}\n"
    return f"kernel p\n{inputs}{role} t: {dtype}{shape(target)}\n{outputs}\n" + "\n".join(body) + "\n"


def _nest(
    rng: random.Random, dims: list[str], extents: dict[str, int], statement: str, shuffle: bool = False
) -> str:
    """One nest; its scopes are named after the dimensions, with a number of their own."""
    order = list(dims)
    if shuffle and rng.random() < 0.5:
        rng.shuffle(order)
    mark = rng.randrange(10**9)
    for d in order:
        statement = statement.replace(f"{{{d}}}", f"{{{d}{mark}}}")
    return " ".join(f"{d}{mark}:{extents[d]}" for d in order) + " " + statement
