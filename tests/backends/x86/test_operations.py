"""Every vector operation gives the bits of the interpreter and of the scalar C, lane by lane."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perfdojo.backends.vectors.isa import LANES
from perfdojo.compiler.numpy_types import NUMPY
from tests.backends.vectors.cases import TABLES, Array, Case, cases
from tests.backends.vectors.writing import COUNT, Writer, inputs, same_bits
from tests.backends.x86.building import library

USED_LANES = {"avx2": (4, 8, 16, 32), "avx512": (8, 16, 32, 64)}
"""Lanes that lowering asks for: of the widest element type in a register."""


def wrong_cases(found: list[Case], writer: Writer, built: ctypes.CDLL, scalar: dict[str, str]) -> list[str]:
    wrong = []
    for k, case in enumerate(found):
        arrays = [inputs(t, place) for place, t in enumerate(case.operands)]
        result = call(built, f"vector_{k}", case, arrays)
        with np.errstate(all="ignore"):
            expected = np.asarray(case.check(*arrays)).astype(NUMPY[case.result.name])
        if not same_bits(result, expected):
            wrong.append(f"{case.name}: interpreter")
        if not same_bits(result, call(built, scalar[case.scalar], case, arrays)):
            wrong.append(f"{case.name}: scalar C")
    return wrong


def call(built: ctypes.CDLL, name: str, case: Case, arrays: list[Array]) -> Array:
    out = np.zeros(COUNT, NUMPY[case.result.name])
    getattr(built, name)(*(ctypes.c_void_p(x.ctypes.data) for x in (*arrays, out)))
    return out


def check(
    target: str, found: list[Case], folder: Path, level: str, writer: Writer | None = None
) -> list[str]:
    """Return the cases in which vector code differs from the interpreter or from scalar C."""
    writer = writer or Writer(target)
    scalar: dict[str, str] = {}
    for k, case in enumerate(found):
        writer.add(f"vector_{k}", case, case.lanes)
        if case.scalar not in scalar:
            scalar[case.scalar] = f"scalar_{k}"
            writer.add(f"scalar_{k}", case, 1)
    return wrong_cases(found, writer, library(writer.text(), folder, target, level), scalar)


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_each_operation_gives_the_bits_of_interpreter_and_scalar_c(target: str, tmp_path: Path) -> None:
    assert not check(target, cases(target, USED_LANES[target]), tmp_path, "-O0")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_each_operation_gives_them_when_optimised(target: str, tmp_path: Path) -> None:
    assert not check(target, cases(target, LANES), tmp_path, "-O3")


def test_the_check_sees_a_wrong_instruction(tmp_path: Path) -> None:
    table = TABLES["avx2"].__wrapped__()
    key = ("max", "f32", 8)
    table.records[key] = replace(table.records["max:number", "f32", 8], op="max")
    found = [c for c in cases("avx2", (8,)) if c.name.startswith(("max_f32", "min_f32"))]
    wrong = check("avx2", found, tmp_path, "-O0", Writer("avx2", table))
    assert wrong == ["max_f32x8: interpreter", "max_f32x8: scalar C"]
