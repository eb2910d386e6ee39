"""Moves between lanes move those that they say, and transposes and every second element are right."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from perfdojo.backends.vectors.isa import LANES
from perfdojo.compiler.dtypes import F32, F64, I32, I64, DType
from perfdojo.compiler.lowering.lir import INDEX, Call, Load, Var, VType
from tests.backends.direct import checked, disagreements, emitted
from tests.backends.vectors.cases import TARGETS
from tests.backends.vectors.writing import COUNT, Writer, inputs
from tests.backends.x86.building import library
from tests.native import Case

TYPES = (F32, F64, I32, I64)
SQUARE = """\
kernel square_{type}_{lanes}
in  x: {type}[{rows}, 40]
out y: {type}[40, {rows}]

(40//{lanes}) {lanes}@unroll {rows}@vector y[{{0}}*{lanes}+{{1}},{{2}}] = x[{{2}},{{0}}*{lanes}+{{1}}]
"""
SECONDS = """\
kernel second_{type}_{n}
in  x: {type}[5, {twice}]
out y: {type}[5, {n}]

5 {n}@vector y[{{0}},{{1}}] = x[{{0}},2*{{1}}] * x[{{0}},2*{{1}}+1] + x[{{0}},2*{{1}}+1]
"""


def steps(target: str) -> list[tuple[DType, int, int]]:
    return [
        (t, n, n >> k)
        for t in TYPES
        for n in LANES
        for k in range(1, n.bit_length())
        if TARGETS[target].supports("load", t, n)
    ]


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_lanes_are_exchanged(target: str, tmp_path: Path) -> None:
    writer, i = Writer(target), Var("i", INDEX)
    for dtype, n, d in steps(target):
        for op in ("low", "high"):
            assert TARGETS[target].supports(f"zip_{op}:{d}", dtype, n)
            pair = tuple(Load(x, i, VType(dtype, n)) for x in "ab")
            value = Call(f"zip_{op}:{d}", pair, VType(dtype, n))
            writer.loop(f"{op}_{dtype}x{n}_{d}", {"a": dtype, "b": dtype, "out": dtype}, n, value)
    built = library(writer.text(), tmp_path, target)
    for dtype, n, d in steps(target):
        a, b = inputs(dtype, 0), inputs(dtype, 1)
        rows, lanes = (x.reshape(-1, n) for x in (a, b)), np.arange(n)
        first, second = rows
        clear = lanes & d == 0
        low = np.where(clear, first, second[:, (lanes - d) % n])
        high = np.where(clear, first[:, (lanes + d) % n], second)
        for op, expected in (("low", low), ("high", high)):
            out = np.zeros(COUNT, a.dtype)
            function = getattr(built, f"{op}_{dtype}x{n}_{d}")
            function(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, out)))
            assert out.tobytes() == expected.tobytes(), (op, dtype.name, n, d)


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_squares_are_transposed_in_registers(target: str) -> None:
    shapes = [(t, n, rows) for t in TYPES for n in (4, 8) for rows in (n, 2 * n, 2 * n + 3)]
    made = [
        emitted(checked(SQUARE.format(type=t, lanes=n, rows=r).replace("square", f"square_{r}", 1)), target)
        for t, n, r in shapes
        if TARGETS[target].supports("load", t, n)
    ]
    assert not disagreements(made, kinds=("normal",))
    whole = [c for c in made if "gather" not in c.emitted.files[0][1]]
    assert {c.name.split("_")[2] for c in whole} == {t.name for t in TYPES}


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_lanes_are_parted(target: str, tmp_path: Path) -> None:
    writer, i = Writer(target), Var("i", INDEX)
    shapes = [(t, n) for t in TYPES for n in LANES if TARGETS[target].supports("load", t, n)]
    for dtype, n in shapes:
        pair = tuple(Load(x, i, VType(dtype, n)) for x in "ab")
        for op in ("evens", "odds"):
            value = Call(op, pair, VType(dtype, n))
            writer.loop(f"{op}_{dtype}x{n}", {"a": dtype, "b": dtype, "out": dtype}, n, value)
    built = library(writer.text(), tmp_path, target)
    for dtype, n in shapes:
        a, b = inputs(dtype, 0), inputs(dtype, 1)
        both = np.concatenate([a.reshape(-1, n), b.reshape(-1, n)], axis=1)
        for first, op in enumerate(("evens", "odds")):
            out = np.zeros(COUNT, a.dtype)
            getattr(built, f"{op}_{dtype}x{n}")(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, out)))
            assert out.tobytes() == both[:, first::2].tobytes(), (op, dtype.name, n)


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_every_second_element_needs_no_gather(target: str) -> None:
    """Whatever is left behind whole vectors; the emulation traps where a load leaves its array."""
    shapes = [(t, n) for t in TYPES for n in (4, 5, 7, 8, 9, 16, 17, 23, 24, 31, 40)]
    made = [emitted(checked(SECONDS.format(type=t, n=n, twice=2 * n)), target) for t, n in shapes]
    assert not disagreements(made)
    whole = {(c.name.split("_")[1], int(c.name.split("_")[2])) for c in made if "gather" not in _code(c)}
    assert whole >= {(t.name, n) for t in TYPES for n in (4, 8, 16, 24, 40)}


def _code(case: Case) -> str:
    return case.emitted.files[0][1]
