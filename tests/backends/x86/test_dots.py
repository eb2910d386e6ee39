"""Products of neighbours on AVX-512: each record, kernels made of them, emulation, refusals."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.dtypes import BF16, F32, I8, I16, I32, U8, DType
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.compiler.lowering.lir import INDEX, Call, Const, Load, Var, VType
from perfdojo.compiler.lowering.target import FpLevel
from tests.backends.direct import checked, disagreements
from tests.backends.direct import emitted as as_it_is
from tests.backends.vectors.cases import Array
from tests.backends.vectors.writing import COUNT, Writer, inputs, same_bits
from tests.backends.x86.building import extensions_here, library, runs_here
from tests.kernels.library import program
from tests.kernels.sizes import odd_sizes
from tests.native import Case, build, call, case

BOTH = "avx512:vnni,bf16"
NATIVE = runs_here("avx512") and len(extensions_here("avx512")) == 2
WAYS = [False, *([True] if NATIVE else [])]
"""Emulated; natively too where the processor can."""
PRODUCT = """\
kernel k
size M = 7
size N = 40
size K = 23
in  a: {left}[M, K]
in  b: {right}[K, N]
{role} c: {sum}[M, N]

M N K c[{{0}},{{1}}] += {sum}({first}) * {sum}({second})
"""
A, B = "a[{0},{2}]", "b[{2},{1}]"
SIZES: tuple[dict[str, int], ...] = (
    {},
    {"M": 1, "N": 1, "K": 4},
    {"M": 13, "N": 33, "K": 5},
    {"M": 26, "N": 16, "K": 64},
    {"M": 3, "N": 7, "K": 3},
    {"M": 12, "N": 150, "K": 16},
)


def product(left: str, right: str, sum_: str, turned: bool = False, role: str = "out") -> str:
    first, second = (B, A) if turned else (A, B)
    return PRODUCT.format(left=left, right=right, sum=sum_, role=role, first=first, second=second)


def bits(x: Array) -> Array:
    return x.view(np.uint16).astype(np.uint32) << 16


def flushed(x: Array) -> Array:
    result: Array = np.where(np.abs(x) < 2.0**-126, np.copysign(np.float32(0), x), x).astype(np.float32)
    return result


def pairs(sums: Array, a: Array, b: Array) -> Array:
    """Return what the instruction computes; float64 rounds a multiply-add of bf16 and f32 not always once."""
    x, y = (flushed(bits(v).view(np.float32)).astype(np.float64).reshape(len(sums), 2) for v in (a, b))
    result = flushed(sums)
    for k in (1, 0):
        result = flushed(once(x[:, k] * y[:, k], result))
    return result


def once(exact: Array, addend: Array) -> Array:
    """Return exact + addend rounded once to f32: the sum in float64 is rounded to odd before."""
    large = addend.astype(np.float64)
    total = exact + large
    part = total - exact
    off = (exact - (total - part)) + (large - part)
    even = (total.view(np.int64) & 1) == 0
    away = np.where((off > 0) == (total > 0), 1, -1)
    odd = np.where(
        (off != 0) & even & np.isfinite(total), (total.view(np.int64) + away).view(np.float64), total
    )
    return odd.astype(np.float32)


def by_four(sums: Array, a: Array, b: Array) -> Array:
    x, y = (v.astype(np.int64).reshape(len(sums), 4) for v in (a, b))
    result: Array = (sums + (x * y).sum(axis=1)).astype(np.uint32).view(np.int32)
    return result


@pytest.mark.parametrize("native", WAYS)
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_records_do_what_they_say(lanes: int, native: bool, tmp_path: Path) -> None:
    kinds: dict[str, tuple[DType, DType, DType, int]] = {
        "dot:u8": (I32, U8, I8, 4),
        "dot:i8": (I32, I8, I8, 4),
        "dot:bf16": (F32, I16, I16, 2),
    }
    writer, i = Writer("avx512"), Var("i", INDEX)
    for op, (total, left, right, group) in kinds.items():
        at = Call("imul", (i, Const(group, INDEX)), INDEX)
        loads = [Load(x, at, VType(t, group * lanes)) for x, t in (("b", left), ("c", right))]
        value = Call(op, (Load("a", i, VType(total, lanes)), *loads), VType(total, lanes))
        writer.loop(op.replace(":", "_"), {"a": total, "b": left, "c": right, "out": total}, lanes, value)
    built = library(writer.text(), tmp_path, "avx512", native=native)
    for op, (total, left, right, group) in kinds.items():
        sums = inputs(total, 0)
        if total == F32:
            factors = [
                np.concatenate([inputs(BF16, k).view(np.int16) for k in range(p, p + group)]) for p in (1, 3)
            ]
        else:
            factors = [np.concatenate([inputs(t, k) for k in range(group)]) for t in (left, right)]
            factors[0][: COUNT // 2] = factors[1][: COUNT // 2] = -128 if left == I8 else 127
        out = np.zeros(COUNT, sums.dtype)
        getattr(built, op.replace(":", "_"))(*(ctypes.c_void_p(x.ctypes.data) for x in (sums, *factors, out)))
        with np.errstate(all="ignore"):
            expected = pairs(sums, *factors) if total == F32 else by_four(sums, *factors)
        assert same_bits(out, expected), op


def cases(text: str, target: str, fp: FpLevel) -> list[Case]:
    return [case(f"k{n}", checked(text, **sizes), target, fp) for n, sizes in enumerate(SIZES)]


def without_features(found: list[Case]) -> list[Case]:
    """Return cases as a processor without the instructions builds them: emulated."""
    return [replace(c, emitted=replace(c.emitted, requires=("no such feature",))) for c in found]


@pytest.mark.parametrize("native", WAYS)
@pytest.mark.parametrize(
    ("left", "right", "turned"),
    [("i8", "i8", False), ("u8", "i8", False), ("i8", "u8", False), ("i8", "i8", True)],
)
def test_products_of_bytes_are_exact(left: str, right: str, turned: bool, native: bool) -> None:
    made = cases(product(left, right, "i32", turned, "inout"), BOTH, "reassoc")
    texts = [c.emitted.files[0][1] for c in made]
    # one row is no tile, three steps are no group
    assert ["dpbusd" in t for t in texts] == [True, False, True, True, False, True]
    assert not disagreements(made if native else without_features(made), "strict", ("normal", "special"))


@pytest.mark.parametrize("native", WAYS)
def test_sums_of_extreme_products_wrap(native: bool) -> None:
    made = [case("k", checked(product("i8", "i8", "i32"), M=3, N=20, K=140_000), BOTH, "strict")]
    library_ = build(made if native else without_features(made))
    for a, b in ((-128, -128), (-128, 127), (127, 127)):
        given = {"a": np.full((3, 140_000), a, np.int8), "b": np.full((140_000, 20), b, np.int8)}
        wrapped = (a * b * 140_000 + 2**31) % 2**32 - 2**31
        assert (call(library_, made[0].emitted, given)["c"] == wrapped).all()


@pytest.mark.parametrize("native", WAYS)
def test_products_of_bf16_are_within_the_bound(native: bool) -> None:
    made = cases(product("bf16", "bf16", "f32"), BOTH, "fast")
    assert ["dpbf16" in c.emitted.files[0][1] for c in made] == [False, False, True, True, False, True]
    kinds = ("normal", "special", "denormal", "huge", "cancel")
    assert not disagreements(made if native else without_features(made), "fast", kinds)


def test_the_bound_of_bf16_is_needed() -> None:
    small = checked(product("bf16", "bf16", "f32"), M=8, N=16, K=8)
    made = case("k", small, BOTH, "fast")
    given = {k: np.full_like(v, 1e-39) for k, v in random_inputs(small, 1, "normal").items()}
    given["b"] = np.full_like(given["b"], 1e38)
    result = call(build(without_features([made])), made.emitted, given)
    assert (result["c"] == 0).all()
    assert not compare(result, reference(small, given, "fast")).passed
    assert compare(result, reference(small, given, "fast", made.emitted.tensor)).passed


OTHERS = {
    "turned_factor": ("a: i8[23, 13]", "b: i8[23, 70]", "out c: i32[13, 70]",
                      "13 70 k:23 c[{0},{1}] += i32(a[{k},{0}]) * i32(b[{k},{1}])", True),
    "both_turned": ("a: u8[23, 13]", "b: i8[70, 23]", "out c: i32[13, 70]",
                    "13 70 k:23 c[{0},{1}] += i32(a[{k},{0}]) * i32(b[{1},{k}])", True),
    "one_buffer": ("a: i8[30, 50]", "b: i8[1]", "out c: i32[30, 30]",
                   "30 n:30 k:50 c[{0},{n}] += i32(a[{0},{k}]) * i32(a[{n},{k}])", True),
    "channels_last": ("a: i8[9, 8, 20]", "b: i8[3, 3, 20, 40]", "out c: i32[7, 6, 40]",
                      "7 6 40 r:3 s:3 k:20 c[{0},{1},{2}] += i32(a[{0}+{r},{1}+{s},{k}])"
                      " * i32(b[{r},{s},{k},{2}])", True),
    "batches": ("a: i8[3, 13, 21]", "b: i8[3, 21, 34]", "out c: i32[3, 13, 34]",
                "3 13 34 k:21 c[{0},{1},{2}] += i32(a[{0},{1},{k}]) * i32(b[{0},{k},{2}])", True),
    "lane_by_lane": ("a: i8[40, 4]", "b: i8[40, 4]", "inout c: i32[40]",
                     "n:40@vector k:4@unroll c[{n} + {k}//4] += i32(a[{n},{k}]) * i32(b[{n},{k}])", True),
    "one_sum": ("a: i8[64]", "b: i8[64]", "inout c: i32[1]",
                "n:16@vector k:4@unroll c[0] += i32(a[{n}*4+{k}]) * i32(b[{n}*4+{k}])", False),
    "sums_apart": ("a: i8[40, 4]", "b: i8[40, 4]", "inout c: i32[80]",
                   "n:40@vector k:4@unroll c[{n}*2] += i32(a[{n},{k}]) * i32(b[{n},{k}])", False),
    "one_value": ("a: i8[4]", "b: i8[4]", "inout c: i32[40]",
                  "n:40@vector k:4@unroll c[{n}] += i32(a[{k}]) * i32(b[{k}])", False),
    "products_of_bytes": ("a: i8[40, 4]", "b: i8[4]", "inout c: i32[40]",
                          "n:40@vector k:4@unroll c[{n}] += i32(a[{n},{k}] * b[{k}])", False),
    "guard": ("a: i8[40, 4]", "b: i8[4]", "inout c: i32[40]",
              "n:40@vector k:4@unroll c[{n}] += i32(a[{n},{k}]) * i32(b[{k}]) if {n} < 37", False),
}  # fmt: skip
"""Buffers, statement, and whether there are neighbours for the instruction in it."""


def test_other_nests() -> None:
    made = []
    for name, (a, b, c, statement, used) in OTHERS.items():
        text = f"kernel k\nin {a}\nin {b}\n{c}\n\n{statement}\n"
        made.append(case(f"k_{name}", checked(text), BOTH, "strict"))
        assert ("dpbusd" in made[-1].emitted.files[0][1]) == used, name
    assert not disagreements(made if NATIVE else without_features(made))


@pytest.mark.parametrize("native", WAYS)
def test_sums_whose_factors_change_in_their_loop(native: bool) -> None:
    text = """\
kernel k
in  a: i8[6, 64]
in  b: i8[64, 16]
out c: i32[6, 16]
tmp t: i8[16, 16, 4] reuse(0)

6@unroll 16@vector c[{0},{1}] = 0
r:16 16 4 t[{r},{1},{2}] = b[{r}*4+{2},{1}]
| 6@unroll 16@vector 4@unroll c[{1},{2}] += i32(a[{1},{r}*4+{3}]) * i32(t[{r},{2},{3}])
"""
    made = [as_it_is(checked(text), BOTH)]
    assert "pd_dot_i8_i32x16" in made[0].emitted.files[0][1]
    assert not disagreements(made if native else without_features(made))


@pytest.mark.parametrize("native", WAYS)
@pytest.mark.parametrize("name", ["matmul_i8", "matmul_bf16"])
def test_kernels_of_the_library_agree(name: str, native: bool) -> None:
    made = []
    for n, sizes in enumerate(({"M": 1, "N": 1, "K": 1}, *odd_sizes(name), {"M": 30, "N": 70, "K": 41})):
        bound = bind(program(name), sizes)
        made.append(case(f"k{n}_{name}", bound, BOTH, "fast"))
    assert "_dp" in made[-1].emitted.files[0][1]
    assert not disagreements(made if native else without_features(made), "fast")
