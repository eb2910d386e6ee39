"""Masks protect memory, gathers find their elements, reductions go pairwise, numbers spread into lanes."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from perfdojo.backends.vectors.isa import LANES
from perfdojo.backends.x86.memory import GATHERED
from perfdojo.compiler.dtypes import BOOL, DTYPES, F32, I32, I64, DType
from perfdojo.compiler.interpret.exact import operation
from perfdojo.compiler.lowering.lir import INDEX, Call, Const, Load, Store, Var, VType
from perfdojo.compiler.numpy_types import NUMPY
from tests.backends.vectors.cases import TARGETS, Array
from tests.backends.vectors.writing import COUNT, Writer, inputs, same_bits
from tests.backends.x86.building import library

I = Var("i", INDEX)  # noqa: E741
START, FIVE = Const(0, INDEX), Const(5, INDEX)
PAGE = mmap.PAGESIZE
REDUCTIONS = ("add", "mul", "max", "min")

libc = ctypes.CDLL(None, use_errno=True)


class Fence:
    """Memory that ends where the process must not read or write."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 2 * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        assert libc.mprotect(ctypes.c_void_p(start + PAGE), PAGE, 0) == 0

    def array(self, values: Array) -> Array:
        """Return a copy of `values` whose end is the fence."""
        result = np.frombuffer(self.memory, values.dtype, values.size, PAGE - values.nbytes)
        result[...] = values
        return result


@dataclass
class Built:
    """The functions of one target."""

    target: str
    library: Any

    def __call__(self, name: str, *arrays: Array) -> None:
        getattr(self.library, name)(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))


def shapes(target: str, op: str) -> Iterator[tuple[DType, int]]:
    return ((d, n) for d in DTYPES.values() for n in LANES if TARGETS[target].supports(op, d, n))


def gathers(target: str) -> list[tuple[DType, DType, int]]:
    fits = TARGETS[target].supports
    return [(d, o, n) for d, n in shapes(target, "gather") for o in (I32, I64) if fits("iota", o, n)]


@pytest.fixture(scope="module", params=["avx2", "avx512"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    target: str = request.param
    writer = Writer(target)
    write_masked(writer, target)
    for dtype, offset, n in gathers(target):
        lanes, mask = Load("b", I, VType(offset, n)), Load("c", I, VType(BOOL, n))
        buffers = {"a": dtype, "b": offset, "c": BOOL, "out": dtype}
        for name, where in (("gather", None), ("masked", mask)):
            gathered = Load("a", FIVE, VType(dtype, n), where, lanes)
            writer.loop(f"{name}_{dtype}_{offset}x{n}", buffers, n, gathered)
    for op in REDUCTIONS:
        for dtype, n in shapes(target, f"reduce_{op}"):
            value = Call(f"reduce_{op}", (Load("a", I, VType(dtype, n)),), VType(dtype))
            writer.loop(f"{op}_{dtype}x{n}", {"a": dtype, "out": dtype}, n, value)
    for dtype, n in shapes(target, "splat"):
        value = Call("splat", (Load("a", I, VType(dtype)),), VType(dtype, n))
        writer.loop(f"splat_{dtype}x{n}", {"a": dtype, "out": dtype}, n, value)
    for dtype, n in shapes(target, "iota"):
        writer.loop(f"iota_{dtype}x{n}", {"out": dtype}, n, Call("iota", (), VType(dtype, n)))
    return Built(target, library(writer.text(), tmp_path_factory.mktemp(target), target))


def write_masked(writer: Writer, target: str) -> None:
    count = Load("a", START, VType(I64))
    for dtype, n in shapes(target, "masked_load"):
        mask = Call("first", (count,), VType(BOOL, n))
        buffers = {"a": I64, "b": dtype, "out": dtype}
        load = Load("b", START, VType(dtype, n), mask)
        writer.function(f"load_{dtype}x{n}", buffers, Store("out", START, load))
        store = Store("out", START, Load("b", START, VType(dtype, n)), mask)
        writer.function(f"store_{dtype}x{n}", buffers, store)


def test_masked_loads_and_stores_touch_their_lanes_only(built: Built) -> None:
    source, sink = Fence(), Fence()
    for dtype, n in shapes(built.target, "masked_load"):
        assert TARGETS[built.target].supports("masked_store", dtype, n)
        whole = inputs(dtype, 1)[:n]
        for k in (-3, 0, 1, n // 2 + 1, n - 1, n, n + 1, 2**40):
            number, kept = np.array([k], np.int64), min(max(k, 0), n)
            out = np.ones(n, whole.dtype)
            built(f"load_{dtype}x{n}", number, source.array(whole[:kept]), out)
            expected = np.concatenate([whole[:kept], np.zeros(n - kept, whole.dtype)])
            assert same_bits(out, expected), f"load {dtype}x{n} {k}"
            written = sink.array(np.ones(kept, whole.dtype))
            built(f"store_{dtype}x{n}", number, whole, written)
            assert same_bits(written, whole[:kept]), f"store {dtype}x{n} {k}"


def test_gathers_read_the_lanes_of_their_mask_only(built: Built) -> None:
    assert {d for d, _, _ in gathers(built.target)} == set(GATHERED)
    for dtype, offset, n in gathers(built.target):
        values, wanted = inputs(dtype, 1), inputs(BOOL, 2)
        lanes = np.random.default_rng(3).integers(-5, COUNT - 5, COUNT).astype(NUMPY[offset.name])
        expected = values[lanes + 5]
        out = np.ones(COUNT, values.dtype)
        built(f"gather_{dtype}_{offset}x{n}", values, lanes, wanted, out)
        assert same_bits(out, expected), f"{dtype} {offset}"
        lanes[~wanted] = 2**30
        built(f"masked_{dtype}_{offset}x{n}", values, lanes, wanted, out)
        assert same_bits(out, np.where(wanted, expected, values.dtype.type(0))), f"masked {dtype} {offset}"


def pairwise(op: str, dtype: DType, rows: Array) -> Array:
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        rows = np.asarray(operation(op, dtype)(rows[:, :half], rows[:, half:]))
    return rows[:, 0]


def test_reductions_go_pairwise(built: Built) -> None:
    for op in REDUCTIONS:
        for dtype, n in shapes(built.target, f"reduce_{op}"):
            for a in (inputs(dtype, place) for place in (0, 1, 2)):
                out = np.zeros(COUNT, a.dtype)
                built(f"{op}_{dtype}x{n}", a, out)
                with np.errstate(all="ignore"):
                    expected = pairwise(op, dtype, a.reshape(-1, n))
                assert same_bits(out[::n], expected), f"{op} {dtype}x{n}"


def test_numbers_spread_into_lanes(built: Built) -> None:
    for dtype, n in shapes(built.target, "splat"):
        a = inputs(dtype, 0)
        out = np.zeros(COUNT, a.dtype)
        built(f"splat_{dtype}x{n}", a, out)
        assert same_bits(out, np.repeat(a[::n], n)), f"{dtype}x{n}"
    for dtype, n in shapes(built.target, "iota"):
        out = np.zeros(COUNT, NUMPY[dtype.name])
        built(f"iota_{dtype}x{n}", out)
        assert np.array_equal(out, np.arange(COUNT) % n), f"{dtype}x{n}"


def test_what_does_not_fit_is_not_supported() -> None:
    supports = TARGETS["avx2"].supports
    assert supports("add", F32, 8)
    assert not supports("add", F32, 16)
    assert not supports("masked_load", DTYPES["i8"], 32)
    assert not supports("cast:f64", F32, 8)
    assert not supports("select", BOOL, 64)
    assert TARGETS["avx512"].supports("select", BOOL, 64)
    assert not TARGETS["avx512"].supports("add", DTYPES["f16"], 32)
