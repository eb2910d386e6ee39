"""Maxima and minima that keep a NaN: streamed, and computed again where one was among their operands."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from perfdojo.backends import get_target
from perfdojo.backends.emission import EmitOptions
from perfdojo.backends.snitch import FLAGS, TARGET
from perfdojo.backends.snitch.emission import emitted
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.lir import Stream
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.nests.nest import Compute, Loop, StreamNest
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from perfdojo.toolchains.snitch.measure import measure
from perfdojo.toolchains.snitch.run import Built, build, run
from tests.backends.direct import checked

CLIPPED = "m:6@stream n:4 u:4@unroll y[{0},{1}*4+{2}] = min(max(x[{0},{1}*4+{2}], 0.5), 2 * x[0,0])"
PAIRS = "m:6@stream n:8@frep v:2@vector y[{0},{1}*2+{2}] = max(x[{0},{1}*2+{2}], x[5-{0},{1}*2+{2}])"
ROWS = """r:2@stream q:3@unroll m[{0}*3+{1}] = -inf
| n:16@frep q:3@unroll m[{0}*3+{2}] max= x[{0}*3+{2},{1}]
6 16 y[{0},{1}] = m[{0}] - x[{0},{1}]"""
LANES = """r:2@stream q:3@unroll v:2@vector p[{0}*3+{1},{2}] = -inf
| n:8@frep q:3@unroll v:2@vector p[{0}*3+{2},{3}] max= x[{0}*3+{2},{1}*2+{3}]
| q:3@unroll m[{0}*3+{1}] = -inf
| q:3@unroll v:2@unroll m[{0}*3+{1}] max= p[{0}*3+{1},{2}]
6 16 y[{0},{1}] = m[{0}] - x[{0},{1}]"""
CASES = [(CLIPPED, "f64"), (ROWS, "f64"), (PAIRS, "f32"), (LANES, "f32")]


def kernel(body: str, dtype: str = "f64") -> Program:
    named = body
    for scope in "mnuqvr":
        named = named.replace(f"{scope}:", "")
    return checked(
        f"kernel k\nin x: {dtype}[6, 16]\nout y: {dtype}[6, 16]\n"
        f"tmp m: {dtype}[6]\ntmp p: {dtype}[6, 2]\n\n{named}\n"
    )


@pytest.fixture(scope="module")
def tools() -> Tools:
    try:
        return find_tools()
    except MissingTool as missing:
        pytest.skip(str(missing))


def nest(program: Program) -> StreamNest:
    """Return the first nest of a lowered program."""
    function = lower(program, get_target("snitch"), "reassoc")
    assert not function.notes
    return next(s.nest for s in function.body if isinstance(s, Stream))


def built(program: Program, tools: Tools) -> Built:
    found = build(emitted(program, TARGET, "reassoc", EmitOptions(program, FLAGS)), tools)
    assert not isinstance(found, Failure), found.text
    return found


@pytest.mark.parametrize(("body", "dtype"), CASES)
def test_nans_are_kept_wherever_they_are(body: str, dtype: str, tools: Tools) -> None:
    program = kernel(body, dtype)
    assert nest(program).checks
    ready = built(program, tools)
    inputs = random_inputs(program, 1, "normal")
    tried = [inputs["x"]]
    for place in [(0, 0), (5, 15), (2, 7), (3, 8)]:
        tried.append(inputs["x"].copy())
        tried[-1][place] = np.nan
    huge = inputs["x"] * (np.finfo(inputs["x"].dtype).max / 8)
    huge[1, 1], huge[1, 2] = np.inf, -np.inf
    for x in [*tried, huge]:
        result = run(ready, {"x": x})
        assert result.outcome == "ok", result.text
        verdict = compare(result.outputs, reference(program, {"x": x}, "reassoc"))
        assert verdict.passed, verdict.message


def test_infinities_and_large_numbers_are_no_reason_to_begin_again(tools: Tools) -> None:
    ready = built(kernel(CLIPPED), tools)
    x = np.ones((6, 16))
    fast = measure(ready, {"x": x}).cycles
    x *= 1e300
    x[0, 1], x[0, 2] = np.inf, -np.inf
    assert measure(ready, {"x": x}).cycles == fast
    x[3, 3] = np.nan
    assert measure(ready, {"x": x}).cycles > 2 * fast


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("6@stream 16 y[{0},{1}] = max(x[{0},{1}], y[{0},{1}])", "y is changed where it lies"),
        ("6@stream 16 y[{0},{1}] max= x[{0},{1}]", "y is changed where it lies"),
        ("6@stream 16 y[{0},{1}] = max(y[{0},{1}], 0)", "y is changed where it lies"),
    ],
)
def test_what_cannot_be_run_twice_is_not_streamed(body: str, why: str) -> None:
    program = checked(f"kernel k\nin x: f64[6, 16]\ninout y: f64[6, 16]\n\n{body}\n")
    (note,) = lower(program, get_target("snitch"), "reassoc").notes
    assert why in note


def test_at_strict_zeros_of_both_signs_differ() -> None:
    (note,) = lower(kernel(CLIPPED), get_target("snitch"), "strict").notes
    assert "it computes min, which the FPU has no instruction for" in note


def test_maxima_of_maxima_are_looked_at_once() -> None:
    text = "6@stream 4@frep y[{0},{1}] = max(max(x[{0},{1}*4], x[{0},{1}*4+1]), max(x[{0},{1}*4+2], 1.0))"
    program = checked(f"kernel k\nin x: f64[6, 16]\nout y: f64[6, 4]\n\n{text}\n")
    (loop,) = (i for i in nest(program).body if isinstance(i, Loop))
    assert Counter(i.op for i in loop.body if isinstance(i, Compute)) == {"maxnum": 3, "fma": 2}
