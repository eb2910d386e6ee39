"""Every vector operation gives the bits of the interpreter and of the scalar C, lane by lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from perfdojo.backends.neon.registers import LANES
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.numpy_types import NUMPY
from tests.backends.neon.building import Call, needs_tools, results
from tests.backends.vectors.cases import TABLES, Array, Case, cases
from tests.backends.vectors.writing import Writer, inputs, same_bits

pytestmark = needs_tools
OF_THE_C_LIBRARY = {f"{f}_f64" for f in ("exp", "log", "tanh", "erf", "sin", "cos", "pow", "sigmoid")}


@cache
def _inputs(dtype: DType, place: int) -> Array:
    return inputs(dtype, place)


def check(found: list[Case], folder: Path, level: str, writer: Writer | None = None) -> list[str]:
    """Return the cases in which vector code differs from the interpreter or from scalar C."""
    writer = writer or Writer("neon")
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
    done = results(writer.text(), calls, folder, level)
    of_scalar = dict(zip(scalar, done[len(found) :], strict=True))
    wrong = []
    for case, result, (_, arrays, _) in zip(found, done, calls, strict=False):
        with np.errstate(all="ignore"):
            expected = np.asarray(case.check(*arrays)).astype(NUMPY[case.result.name])
        # f64 functions are those of the C library, and that of AArch64 has others
        if case.scalar not in OF_THE_C_LIBRARY and not same_bits(result, expected):
            wrong.append(f"{case.name}: interpreter")
        if not same_bits(result, of_scalar[case.scalar]):
            wrong.append(f"{case.name}: scalar C")
    return wrong


def test_each_operation_gives_the_bits_of_interpreter_and_scalar_c(tmp_path: Path) -> None:
    assert not check(cases("neon", LANES), tmp_path, "-O0")


@pytest.mark.slow
def test_each_operation_gives_them_when_optimised(tmp_path: Path) -> None:
    assert not check(cases("neon", LANES), tmp_path, "-O3")


def test_the_check_sees_a_wrong_instruction(tmp_path: Path) -> None:
    table = TABLES["neon"].__wrapped__()
    table.records["max", "f32", 4] = replace(table.records["maxnum", "f32", 4], op="max")
    found = [c for c in cases("neon", (4,)) if c.name.startswith(("max_f32", "min_f32"))]
    wrong = check(found, tmp_path, "-O0", Writer("neon", table))
    assert wrong == ["max_f32x4: interpreter", "max_f32x4: scalar C"]
