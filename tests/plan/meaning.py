"""The assertion of all tests of meaning: planned programs are valid, readable, and compute the same bits."""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Any

import numpy as np

from perfdojo.compiler.interpret import interpret, random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan import plan
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.verify import verify


def _inputs(program: Program, kind: str) -> dict[str, Any]:
    return random_inputs(program, zlib.crc32(program.name.encode()), kind)


@lru_cache(maxsize=32)  # a program is planned for one target after the other
def _meaning(program: Program, kind: str) -> dict[str, Any]:
    return interpret(program, _inputs(program, kind))


def assert_same_meaning(
    before: Program, target: Target, fp: FpLevel, threads: int = 1, kind: str = "normal"
) -> None:
    """Plan a bound program and compare both on random inputs; which NaN a NaN is does not count."""
    after = plan(before, target, fp, threads)
    assert parse(render(after), "planned.ir") == after
    verify(after)
    inputs = _inputs(before, kind)
    expected, got = _meaning(before, kind), interpret(after, inputs)
    for name, values in expected.items():
        same = values.tobytes() == got[name].tobytes()
        if not same and before.buffer(name).dtype.is_float:
            a, b = values.astype(np.float64), got[name].astype(np.float64)
            same = bool(np.all(((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))))
        assert same, f"{name} differs:\n{render(after)}"
