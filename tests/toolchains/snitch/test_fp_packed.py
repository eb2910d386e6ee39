"""The simulator's packed operations against the scalar ones, rational arithmetic and measured words."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tests.toolchains.snitch import fp_reference as ref
from tests.toolchains.snitch.fp_formats import AB, AH, NV, B, Format, H, Result, S, decode
from tests.toolchains.snitch.fp_operands import lanes, operands, random_value, register_of
from tests.toolchains.snitch.fp_simulator import Simulator
from tests.toolchains.snitch.measured import LANE_WISE, TWO_FORMATS, Measured


@pytest.mark.parametrize("m", LANE_WISE, ids=lambda m: f"{m.op}{'.r' * m.replicate}.{m.to.name}")
def test_measured_lane_wise_operations(fp: Simulator, m: Measured) -> None:
    assert fp.vec(m.op, m.to, m.registers, m.replicate).bits == m.result


@pytest.mark.parametrize("m", TWO_FORMATS, ids=lambda m: f"{m.op}.{m.to.name}.{m.source.name}")
def test_measured_operations_of_two_formats(fp: Simulator, m: Measured) -> None:
    assert fp.wide(m.op, m.to, m.source, m.registers, m.replicate).bits == m.result


@pytest.mark.parametrize("f", [S, H, AH, B, AB], ids=lambda f: f.name)
def test_lane_wise_operations_are_the_scalar_ones(fp: Simulator, f: Format) -> None:
    scalar = {
        "add": "fp_add",
        "sub": "fp_sub",
        "mul": "fp_mul",
        "div": "fp_div",
        "min": "fp_min",
        "max": "fp_max",
    }
    for values, mode in operands(f, 40, 3 * 64 // f.width):
        n = len(values) // 3
        d, a, b = values[:n], values[n : 2 * n], values[2 * n :]
        registers = (register_of(f, d), register_of(f, a), register_of(f, b))
        for replicate in (False, True):
            right = [b[0]] * n if replicate else b
            for op, name in scalar.items():
                rounding = () if op in ("min", "max") else (mode,)
                each = [fp(name, f.code, x, y, *rounding) for x, y in zip(a, right, strict=True)]
                check_lanes(fp.vec(op, f, registers, replicate, mode), f, each)
            for op, negate in (("mac", False), ("mre", True)):
                triples = zip(a, right, d, strict=True)
                each = [fp("fp_fma", f.code, x, y, z, mode, negate, False) for x, y, z in triples]
                check_lanes(fp.vec(op, f, registers, replicate, mode), f, each)
        check_lanes(fp.vec("sqrt", f, registers, False, mode), f, [fp("fp_sqrt", f.code, x, mode) for x in a])


def check_lanes(got: Result, f: Format, each: list[Result]) -> None:
    flags = 0
    for r in each:
        flags |= r.flags
    assert got == Result(register_of(f, [r.bits for r in each]), flags)


@pytest.mark.parametrize("f", [S, H, B], ids=lambda f: f.name)
def test_packed_compares(fp: Simulator, f: Format) -> None:
    inverse = {"ne": "eq", "ge": "lt", "gt": "le"}
    for values, _ in operands(f, 60, 2 * 64 // f.width):
        half = len(values) // 2
        a, b = values[:half], values[half:]
        for op in ("eq", "ne", "lt", "ge", "le", "gt"):
            each = [ref.compare(f, x, y, inverse.get(op, op)) for x, y in zip(a, b, strict=True)]
            bits = [not r.flags and bool(r.bits) != (op in inverse) for r in each]
            flags = NV if any(r.flags for r in each) else 0
            wanted = Result(sum(bit << i for i, bit in enumerate(bits)), flags)
            assert fp.vec(op, f, (0, register_of(f, a), register_of(f, b))) == wanted, op


SUMS = [(S, H), (S, AH), (H, B), (AH, AB), (S, S), (H, H)]


@pytest.mark.parametrize(("to", "f"), SUMS, ids=[f"{a.name}{b.name}" for a, b in SUMS])
def test_sums_and_dot_products_round_once(fp: Simulator, to: Format, f: Format) -> None:
    one = decode(f, f.bias << f.fraction_bits)
    sum_name = "sum" if to is f else "sumex"
    source = random.Random(f.code)
    for values, mode in operands(f, 120, 2 * 64 // f.width):
        n = 64 // f.width
        a, b = values[:n], values[n:]
        count = n // 2
        accumulators = [random_value(to, source) for _ in range(64 // to.width)]
        registers = (register_of(to, accumulators), register_of(f, a), register_of(f, b))
        x, y = [decode(f, v) for v in a], [decode(f, v) for v in b]
        for op, right in ((sum_name, [one] * n), ("dotpex", y)):
            if op == "dotpex" and to is f:
                continue
            for negate in (False, True):
                left = [ref.opposite(v) for v in x] if negate else x
                pairs = [[(left[i], right[i]), (left[i + 1], right[i + 1])] for i in range(0, n, 2)]
                each = [
                    ref.dot(to, p, decode(to, c), mode)
                    for p, c in zip(pairs, accumulators[:count], strict=True)
                ]
                check_lanes(fp.wide("n" * negate + op, to, f, registers, False, mode), to, each)


def test_three_terms_of_far_apart_sizes(fp: Simulator) -> None:
    """A large product cancelled by another leaves the smallest term, however small."""
    large, small, top = 0x7BFF, 0x0001, 0x8000
    tiny = 0x00000001
    rs1, rs2 = (
        register_of(H, [large, large, small, small]),
        register_of(H, [large, large | top, small, small | top]),
    )
    got = fp.wide("dotpex", S, H, (register_of(S, [tiny, tiny]), rs1, rs2))
    assert got == Result(register_of(S, [tiny, tiny]))


def test_an_accumulator_that_cancels_a_product_leaves_the_other_one(fp: Simulator) -> None:
    one, large, tiny, top = AH.bias << 7, AH.bias + 100 << 7, AH.bias - 100 << 7 | 1, 1 << 15
    rs1, rs2 = register_of(AH, [large, tiny, tiny, large | top]), register_of(AH, [one] * 4)
    wanted = tiny << 16
    accumulators = register_of(S, [(large | top) << 16, large << 16])
    assert fp.wide("dotpex", S, AH, (accumulators, rs1, rs2)) == Result(register_of(S, [wanted, wanted]))


@pytest.mark.parametrize("negate", [False, True])
def test_dot_products_of_zeros_infinities_and_nans(fp: Simulator, negate: bool) -> None:
    half = [0, 0x8000, 0x3C00, 0x7C00, 0x7E00]
    single = [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000]
    for i, (a, b, c, d, e) in enumerate(product(half, half, half, half, single)):
        mode = i % 5
        registers = (register_of(S, [e, e]), register_of(H, [a, c, a, c]), register_of(H, [b, d, b, d]))
        first, second = decode(H, a), decode(H, c)
        if negate:
            first, second = ref.opposite(first), ref.opposite(second)
        wanted = ref.dot(S, [(first, decode(H, b)), (second, decode(H, d))], decode(S, e), mode)
        got = fp.wide("n" * negate + "dotpex", S, H, registers, False, mode)
        check_lanes(got, S, [wanted, wanted])


def test_replicated_dot_product_takes_the_replicated_lane_as_accumulator(fp: Simulator) -> None:
    rs1, rs2 = (
        register_of(H, [0x3C00, 0x4000, 0x4200, 0x4400]),
        register_of(H, [0x4000, 0x3C00, 0xBC00, 0x3800]),
    )
    lane = 0x40004000
    wanted = fp.wide("dotpex", S, H, (lane | lane << 32, rs1, rs2))
    assert fp.wide("dotpex", S, H, (0, rs1, rs2), replicate=True) == wanted


CONVERSIONS = [(S, H), (H, S), (H, AH), (B, S), (S, B), (H, B), (B, AB)]


@pytest.mark.parametrize(("to", "f"), CONVERSIONS, ids=[f"{a.name}{b.name}" for a, b in CONVERSIONS])
def test_packed_conversions(fp: Simulator, to: Format, f: Format) -> None:
    count = 64 // max(to.width, f.width)
    for values, mode in operands(f, 50, 64 // f.width):
        rs1 = register_of(f, values)
        upper = values[len(values) // 2 :] if to.width > f.width else values
        for op, taken in (("cvt", values[:count]), ("cvtu", upper[:count])):
            each = [fp("fp_cvt", to.code, f.code, v, mode) for v in taken]
            check_lanes(fp.wide(op, to, f, (0, rs1, 0), False, mode), to, each)


def test_cast_and_pack_keeps_the_other_lanes(fp: Simulator) -> None:
    rd = 0x1122334455667788
    one, two = 0x3F800000, 0x40000000
    for i, op in enumerate(("cpka", "cpkb", "cpkc", "cpkd")):
        wanted = lanes(B, rd)
        wanted[2 * i : 2 * i + 2] = [0x3C, 0x40]
        assert fp.wide(op, B, S, (rd, one | 7 << 32, two | 9 << 32)) == Result(register_of(B, wanted))
