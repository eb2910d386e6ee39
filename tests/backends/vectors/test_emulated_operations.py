"""Every vector operation gives the bits of the interpreter and of the scalar C, lane by lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.numpy_types import NUMPY
from tests.backends.vectors.cases import TABLES, Array, Case, cases
from tests.backends.vectors.emulated import Call, results
from tests.backends.vectors.writing import Writer, inputs, same_bits
from tests.native import can_run

TARGETS = [
    pytest.param(t, marks=pytest.mark.skipif(not can_run(t), reason=f"needs compiler and emulator for {t}"))
    for t in ("neon", "rvv")
]
LANES = (2, 4, 8, 16)
OF_THE_C_LIBRARY = {f"{f}_f64" for f in ("exp", "log", "tanh", "erf", "sin", "cos", "pow", "sigmoid")}


@cache
def _inputs(dtype: DType, place: int) -> Array:
    return inputs(dtype, place)


def check(
    target: str, found: list[Case], folder: Path, level: str, writer: Writer | None = None
) -> list[str]:
    """Return the cases in which vector code differs from the interpreter or from scalar C."""
    writer = writer or Writer(target)
    calls: list[Call] = []
    scalar: dict[str, int] = {}
    for k, case in enumerate(found):
        arrays: Sequence[Array] = [_inputs(t, place) for place, t in enumerate(case.operands)]
        writer.add(f"vector_{k}", case, case.lanes)
        calls.append((f"vector_{k}", arrays, case.result.name))
        if case.scalar not in scalar:
            scalar[case.scalar] = k
            writer.add(f"scalar_{k}", case, 1)
    calls += [(f"scalar_{k}", calls[k][1], calls[k][2]) for k in scalar.values()]
    done = results(target, writer.text(), calls, folder, level)
    of_scalar = dict(zip(scalar, done[len(found) :], strict=True))
    wrong = []
    for case, result, (_, arrays, _) in zip(found, done, calls, strict=False):
        with np.errstate(all="ignore"):
            expected = np.asarray(case.check(*arrays)).astype(NUMPY[case.result.name])
        # f64 functions are those of the C library, and that of another machine has others
        if case.scalar not in OF_THE_C_LIBRARY and not same_bits(result, expected):
            wrong.append(f"{case.name}: interpreter")
        if not same_bits(result, of_scalar[case.scalar]):
            wrong.append(f"{case.name}: scalar C")
    return wrong


@pytest.mark.parametrize("target", TARGETS)
def test_each_operation_gives_the_bits_of_interpreter_and_scalar_c(target: str, tmp_path: Path) -> None:
    assert not check(target, cases(target, LANES), tmp_path, "-O0")


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_each_operation_gives_them_when_optimised(target: str, tmp_path: Path) -> None:
    assert not check(target, cases(target, LANES), tmp_path, "-O3")


@pytest.mark.parametrize("target", TARGETS)
def test_the_check_sees_a_wrong_instruction(target: str, tmp_path: Path) -> None:
    table = TABLES[target].__wrapped__()
    table.records["max", "f32", 4] = replace(table.records["maxnum", "f32", 4], op="max")
    found = [c for c in cases(target, (4,)) if c.name.startswith(("max_f32", "min_f32"))]
    wrong = check(target, found, tmp_path, "-O0", Writer(target, table))
    assert wrong == ["max_f32x4: interpreter", "max_f32x4: scalar C"]
