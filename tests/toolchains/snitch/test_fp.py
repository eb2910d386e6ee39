"""The simulator's scalar arithmetic against rational arithmetic and against tables of all values."""

from __future__ import annotations

import ctypes
import random
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from tests.toolchains.snitch import fp_reference as ref
from tests.toolchains.snitch.fp_formats import (
    AB,
    FORMATS,
    NX,
    OF,
    RDN,
    RMM,
    RNE,
    RTZ,
    RUP,
    UF,
    B,
    D,
    Format,
    Result,
    decode,
)
from tests.toolchains.snitch.fp_operands import hard_values, operands, random_value, show
from tests.toolchains.snitch.fp_simulator import Simulator

MODES = range(5)
by_format = pytest.mark.parametrize("f", FORMATS, ids=lambda f: f.name)


@by_format
def test_arithmetic(fp: Simulator, f: Format) -> None:
    for (a, b, c), mode in operands(f, 400, 3):
        text = show(a, b, c, mode)
        sum_, times, fused = ref.add(f, a, b, mode), ref.mul(f, a, b, mode), ref.fma(f, a, b, c, mode)
        assert fp("fp_add", f.code, a, b, mode) == sum_, text
        assert fp("fp_soft_add", f.code, a, b, mode) == sum_, text
        assert fp("fp_mul", f.code, a, b, mode) == times, text
        assert fp("fp_soft_mul", f.code, a, b, mode) == times, text
        assert fp("fp_fma", f.code, a, b, c, mode, False, False) == fused, text
        assert fp("fp_soft_fma", f.code, a, b, c, mode) == fused, text
        assert fp("fp_div", f.code, a, b, mode) == ref.div(f, a, b, mode), text
        assert fp("fp_sqrt", f.code, a, mode) == ref.sqrt(f, a, mode), text


@by_format
def test_every_pair_of_hard_values(fp: Simulator, f: Format) -> None:
    for a in hard_values(f):
        for b in hard_values(f):
            mode = (a + b) % 5
            assert fp("fp_add", f.code, a, b, mode) == ref.add(f, a, b, mode), show(a, b, mode)
            assert fp("fp_mul", f.code, a, b, mode) == ref.mul(f, a, b, mode), show(a, b, mode)


@by_format
def test_fused_operations_on_what_is_not_finite(fp: Simulator, f: Format) -> None:
    sizes = [0, f.bias << f.fraction_bits, f.infinity, f.infinity + 1, f.nan]
    values = [s | sign << (f.width - 1) for s in sizes for sign in (0, 1)]
    for i, (a, b, c) in enumerate(product(values, repeat=3)):
        mode = i % 5
        assert fp("fp_fma", f.code, a, b, c, mode, False, False) == ref.fma(f, a, b, c, mode), show(
            a, b, c, mode
        )


@by_format
def test_products_next_to_the_smallest_normal_number(fp: Simulator, f: Format) -> None:
    """Here a tiny value may be rounded up to a normal one, with underflow or without."""
    source = random.Random(f.code)
    normal = 1 << f.fraction_bits
    for _ in range(150):
        a = f.bias - f.bias // 2 << f.fraction_bits | source.getrandbits(f.fraction_bits)
        b = ref.div(f, normal, a, RNE).bits + source.randrange(-2, 3)
        mode = source.choice([RNE, RNE, RNE, RTZ, RDN, RUP, RMM])
        c = source.choice([0, 0, 0, 1, 1 | 1 << (f.width - 1), normal])
        assert fp("fp_mul", f.code, a, b, mode) == ref.mul(f, a, b, mode), show(a, b, mode)
        assert fp("fp_fma", f.code, a, b, c, mode, False, False) == ref.fma(f, a, b, c, mode), show(
            a, b, c, mode
        )


def test_products_whose_last_bits_are_too_small_for_the_format(fp: Simulator) -> None:
    near_one = D.bias << D.fraction_bits | 1
    for e in range(1, D.bias, 3):
        small = e << D.fraction_bits | 1
        for c in (0, ref.mul(D, near_one, small, RNE).bits):
            fused = fp("fp_fma", D.code, near_one, small, c, RNE, False, False)
            assert fused == ref.fma(D, near_one, small, c, RNE), show(small, c)


def test_a_root_just_above_a_representable_number(fp: Simulator) -> None:
    """Of a 53-bit integer whose square is 7 less than a multiple of 2^53."""
    root = 1
    for bit in range(3, 54):
        if (root * root + 7) % (1 << bit):
            root += 1 << (bit - 2)
    root = max(root, (1 << 53) - root)
    square = ref.round_value(D, Fraction(root * root + 7), RNE)
    assert square.flags == 0
    below = ref.round_value(D, Fraction(root), RNE).bits
    for mode in MODES:
        wanted = Result(below + (mode == RUP), NX)
        assert ref.sqrt(D, square.bits, mode) == wanted
        assert fp("fp_sqrt", D.code, square.bits, mode) == wanted


@by_format
def test_fused_near_halfway_and_with_cancellation(fp: Simulator, f: Format) -> None:
    source = random.Random(f.code)
    for _ in range(250):
        a, b = random_value(f, source), random_value(f, source)
        near = ref.mul(f, a, b, RNE).bits ^ source.choice([0, 1, 1 << (f.width - 1)])
        for mode in MODES:
            assert fp("fp_fma", f.code, a, b, near, mode, False, False) == ref.fma(f, a, b, near, mode), show(
                a, b, mode
            )


@by_format
def test_signs_of_fused_operations(fp: Simulator, f: Format) -> None:
    top = 1 << (f.width - 1)
    for (a, b, c), mode in operands(f, 60, 3):
        assert fp("fp_sub", f.code, a, b, mode) == ref.add(f, a, b ^ top, mode)
        for neg_product, neg_addend in product((False, True), repeat=2):
            wanted = ref.fma(f, a ^ top * neg_product, b, c ^ top * neg_addend, mode)
            assert fp("fp_fma", f.code, a, b, c, mode, neg_product, neg_addend) == wanted


@by_format
def test_order_and_signs(fp: Simulator, f: Format) -> None:
    top = 1 << (f.width - 1)
    for (a, b), _ in operands(f, 400, 2):
        text = show(a, b)
        assert fp("fp_min", f.code, a, b) == ref.extreme(f, a, b, False), text
        assert fp("fp_max", f.code, a, b) == ref.extreme(f, a, b, True), text
        for how in ("eq", "lt", "le"):
            assert fp(f"fp_{how}", f.code, a, b) == ref.compare(f, a, b, how), f"{how} {text}"
        size = a & ~top
        assert fp("fp_sgnj", f.code, a, b).bits == size | b & top
        assert fp("fp_sgnjn", f.code, a, b).bits == size | ~b & top
        assert fp("fp_sgnjx", f.code, a, b).bits == size | (a ^ b) & top
        assert fp("fp_class", f.code, a).bits == ref.classify(f, a), text


@by_format
def test_conversions_between_formats(fp: Simulator, f: Format) -> None:
    for to in FORMATS:
        for (a,), mode in operands(f, 150, 1):
            assert fp("fp_cvt", to.code, f.code, a, mode) == ref.convert(to, f, a, mode), (
                f"{to.name} {show(a, mode)}"
            )


@by_format
def test_integers(fp: Simulator, f: Format) -> None:
    source = random.Random(f.code)
    edges = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**24 + 1, 65504, 65519, 65520, 240, 248]
    integers = edges + [source.getrandbits(32) >> source.randrange(32) for _ in range(100)]
    near = [ref.from_int(f, n, RTZ).bits + d for n in integers for d in (0, 1)]
    for bits in hard_values(f) + near + [1 << (f.width - 1) | n for n in near]:
        mode = source.randrange(5)
        signed, unsigned = (
            ref.to_int(f, bits, mode, *span) for span in ((-(2**31), 2**31 - 1), (0, 2**32 - 1))
        )
        assert fp("fp_to_i32", f.code, bits, mode) == signed, show(bits, mode)
        assert fp("fp_to_u32", f.code, bits, mode) == unsigned, show(bits, mode)
    for n in integers:
        mode = source.randrange(5)
        assert fp("fp_from_u32", f.code, n, mode) == ref.from_int(f, n, mode)
        for signed_n in (n // 2, -((n + 1) // 2)):
            assert fp("fp_from_i32", f.code, signed_n, mode) == ref.from_int(f, signed_n, mode)


@by_format
def test_boxes(fp: Simulator, f: Format) -> None:
    ones = (1 << 64) - (1 << f.width)
    for v in hard_values(f):
        assert fp("fp_box", f.code, v).bits == ones | v
        assert fp("fp_unbox", f.code, ones | v).bits == v
        if f is not D:
            assert fp("fp_unbox", f.code, (ones ^ 1 << f.width) | v).bits == f.nan


def by_table(f: Format, x: npt.NDArray[np.float64], mode: int) -> npt.NDArray[np.int64]:
    """Round exact numbers, none of them zero, to table entries; flags in bit 8 up, as in fp_check.c."""
    table = np.array([float(decode(f, bits).value) for bits in range(f.infinity)] + [2.0 ** (f.bias + 1)])
    size, negative = np.abs(x), x < 0
    above = np.minimum(np.searchsorted(table, size, side="left"), f.infinity)
    below = np.where(table[above] == size, above, above - 1)
    # Of what lies above the last entry, the infinity is the nearest.
    below = np.where(size > table[-1], f.infinity, below)
    to_low, to_high = size - table[below], table[above] - size
    nearest = np.where((to_low < to_high) | ((to_low == to_high) & (below % 2 == 0)), below, above)
    away = np.where(to_low < to_high, below, above)
    chosen = [nearest, below, np.where(negative, above, below), np.where(negative, below, above), away][mode]
    overflows = (chosen == f.infinity) | (size >= table[-1])
    to_largest = overflows & ((mode == RTZ) | ((mode == RDN) & ~negative) | ((mode == RUP) & negative))
    bits = np.where(to_largest, f.infinity - 1, np.where(overflows, f.infinity, chosen))
    inexact = overflows | (table[below] != size)
    # Tiny: below the smallest normal number, and not rounded up to it on a grid of half the step.
    half_step = table[1] / 2
    rest = size - (float(f.smallest_normal) - half_step)
    outward = (mode == RUP) & ~negative | (mode == RDN) & negative
    nearer = (mode in (RNE, RMM)) & (rest >= half_step / 2)
    tiny = (size < float(f.smallest_normal)) & ~((rest > 0) & (outward | nearer))
    flags = inexact * NX + overflows * OF + (tiny & inexact) * UF
    return np.asarray(bits | negative << 7 | flags << 8)


@pytest.mark.parametrize("f", [B, AB], ids=lambda f: f.name)
@pytest.mark.parametrize("multiply", [False, True], ids=["add", "mul"])
def test_every_pair_of_an_eight_bit_format(fp: Simulator, f: Format, multiply: bool) -> None:
    numbers = [decode(f, bits) for bits in range(256)]
    finite = np.array([n.kind == "finite" for n in numbers])
    values = np.array([float(n.value) for n in numbers])
    with np.errstate(invalid="ignore"):
        exact = np.multiply.outer(values, values) if multiply else np.add.outer(values, values)
    plain = np.logical_and.outer(finite, finite) & (exact != 0)
    reference = ref.mul if multiply else ref.add
    for mode in MODES:
        out = np.zeros((256, 256), dtype=np.uint16)
        fp.library.all_pairs(multiply, f.code, mode, out.ctypes.data_as(ctypes.c_void_p))
        assert np.array_equal(out[plain], by_table(f, exact[plain], mode))
        # Zeros, infinities and NaNs have rules of their own: a sample of their pairs.
        for a, b in np.argwhere(~plain)[mode::31].tolist():
            wanted = reference(f, a, b, mode)
            assert out[a, b] == wanted.bits | wanted.flags << 8, show(a, b, mode)


@by_format
def test_fast_paths_give_what_the_soft_ones_give(fp: Simulator, f: Format) -> None:
    first = (ctypes.c_uint64 * 6)()
    check = fp.library.fast_against_soft
    check.restype = ctypes.c_int64
    count = ctypes.c_int64(400_000)
    assert check(f.code, ctypes.c_uint64(1 + f.code), count, first) == 0, show(*first)
