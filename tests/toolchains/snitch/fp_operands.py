"""Operands for tests of arithmetic: values at every border, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.toolchains.snitch.fp_formats import Format


def hard_values(f: Format) -> list[int]:
    """Zeros, subnormals, both sides of every border, ones, infinities, both kinds of NaN; of both signs."""
    one, ulp = f.bias << f.fraction_bits, 1
    normal = 1 << f.fraction_bits
    sizes = [
        0,
        1,
        2,
        3,
        normal - 1,
        normal,
        normal + 1,
        one - 1,
        one,
        one + ulp,
        one + normal,
        one + normal // 2,
    ]
    sizes += [
        f.infinity - 1,
        f.infinity - 2,
        f.infinity - normal,
        f.infinity - 2 * normal,
        f.infinity,
        f.infinity + 1,
        f.nan,
        f.nan + 1,
    ]
    return [s | sign << (f.width - 1) for s in sizes for sign in (0, 1)]


def random_value(f: Format, source: random.Random) -> int:
    """A third uniform, a third with few significant bits, a third near 1, so that sums cancel."""
    bits = source.getrandbits(f.width)
    kind = source.randrange(3)
    if kind == 1:
        return bits & ~((1 << source.randrange(f.fraction_bits)) - 1)
    if kind == 2:
        kept = bits & (1 << (f.width - 1) | (1 << f.fraction_bits) - 1)
        return kept | f.bias + source.randrange(-3, 4) << f.fraction_bits
    return bits


def operands(f: Format, count: int, arity: int) -> Iterator[tuple[list[int], int]]:
    """Hard and random values, mixed, with a rounding mode."""
    source = random.Random(f.code * 10 + arity)
    hard = hard_values(f)
    for _ in range(count):
        values = [
            source.choice(hard) if source.random() < 0.4 else random_value(f, source) for _ in range(arity)
        ]
        yield values, source.randrange(5)


def lanes(f: Format, register: int) -> list[int]:
    return [register >> i & (1 << f.width) - 1 for i in range(0, 64, f.width)]


def register_of(f: Format, values: list[int]) -> int:
    """Lanes from the lowest up; what is missing is ones."""
    low = sum(v << i * f.width for i, v in enumerate(values))
    return low | (1 << 64) - (1 << f.width * len(values))


def show(*values: int) -> str:
    return " ".join(hex(v) for v in values)
