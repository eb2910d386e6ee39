"""Stream nests of random programs, run by an independent machine, agree with the reference interpreter."""

from __future__ import annotations

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from tests.lowering.nests.programs import generate
from tests.lowering.nests.running import disagreement, nests

SEEDS = 240


@pytest.mark.parametrize("fp", ["strict", "reassoc"])
@pytest.mark.parametrize("first", range(0, SEEDS, 60))
def test_nests_mean_what_the_program_means(first: int, fp: FpLevel) -> None:
    streamed = 0
    for seed in range(first, first + 60):
        text = generate(seed)
        try:
            program = bind(parse(text, "k.ir"))
            verify(program)
        except PerfDojoError:
            continue
        made = nests(program, fp)
        if made is None:
            continue
        streamed += 1
        for kind in ("normal", "special"):
            assert disagreement(program, made[1], random_inputs(program, seed, kind), fp) == "", (seed, text)
    assert streamed > 15
