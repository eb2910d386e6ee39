"""Wrong transformations, each found, with a message that names the place."""

from __future__ import annotations

import pytest

from perfdojo.compiler.lowering.target import FpLevel
from tests.validate.programs import judge

SCAN = "in x: f32[8]\nout y: f32[8]"
ROWS = "in x: f32[4, 6]\nout y: f32[4, 6]"
GATHER = "in t: f32[5, 3]\nin i: i32[4] values(0, 5)\nout y: f32[4, 3]"
TOTAL = "in x: f32[8]\nout s: f32[]"

WRONG: dict[str, tuple[str, str, str, str, FpLevel, str]] = {
    "a recurrence backwards": (
        SCAN,
        "y[0] = x[0]\n7 y[{0}+1] = y[{0}] * x[{0}+1]",
        "y[0] = x[0]\n7 y[7-{0}] = y[6-{0}] * x[7-{0}]",
        "",
        "fast",
        "the transformed program reads y[6] before anything wrote it, in statement y_2 at {i0} = 0",
    ),
    "a recurrence in place backwards": (
        "inout y: f32[8]",
        "7 y[{0}+1] = y[{0}] * y[{0}+1]",
        "7 y[7-{0}] = y[6-{0}] * y[7-{0}]",
        "",
        "fast",
        "y[2] differs at fast\n  original:    y[2] * (y[0] * y[1])\n  transformed: y[1] * y[2]",
    ),
    "a tail one too short": (
        SCAN,
        "8 y[{0}] = x[{0}]",
        "2 3 y[{0}*3+{1}] = x[{0}*3+{1}]\n1 y[{0}+6] = x[{0}+6]",
        "",
        "strict",
        "the transformed program never writes y[7]",
    ),
    "a tail one too long": (
        SCAN,
        "8 y[{0}] = x[{0}]",
        "2 3 y[{0}*3+{1}] = x[{0}*3+{1}]\n3 y[{0}+6] = x[{0}+6]",
        "",
        "strict",
        "the transformed program names x[8], outside of the extent 8, in statement y_2 at {i0_2} = 2",
    ),
    "a tail one too far": (
        SCAN,
        "8 y[{0}] = x[{0}] + 1",
        "2 3 y[{0}*3+{1}] = x[{0}*3+{1}] + 1\n2 y[{0}+6] = x[{0}+5] + 1",
        "",
        "strict",
        "y[6] differs at strict\n  original:    x[6] + 1.0\n  transformed: x[5] + 1.0",
    ),
    "a mask dropped": (
        SCAN,
        "8 y[{0}] = x[{0}]",
        "2 5 y[{0}*5+{1}] = x[{0}*5+{1}]",
        "",
        "strict",
        "the transformed program names x[8], outside of the extent 8, in statement y at {i0} = 1, {i1} = 3",
    ),
    "a causal mask dropped": (
        ROWS,
        "4 6 y[{0},{1}] = {1} <= {0} ? x[{0},{1}] : 0",
        "4 6 y[{0},{1}] = x[{0},{1}]",
        "",
        "fast",
        "y[0,1] differs at fast\n  original:    0.0\n  transformed: x[0,1]",
    ),
    "storage shared too early": (
        ROWS + "\ntmp t: f32[4, 6]",
        "4 6 t[{0},{1}] = exp(x[{0},{1}])\n4 6 y[{0},{1}] = t[{0},5-{1}]",
        "4 6 u[{0},{1}] = exp(x[{0},{1}])\n4 6 y[{0},{1}] = u[{0},5-{1}]",
        "tmp u: f32[4, 6] reuse(0)",
        "fast",
        "y[0,0] differs at fast\n  original:    exp(x[0,5])\n  transformed: exp(x[3,5])",
    ),
    "a buffer used again while it is needed": (
        SCAN + "\ntmp t: f32[8]\ntmp u: f32[8]",
        "8 t[{0}] = exp(x[{0}])\n8 u[{0}] = sin(x[{0}])\n8 y[{0}] = t[{0}] + u[{0}]",
        "8 t[{0}] = exp(x[{0}])\n8 t[{0}] = sin(x[{0}])\n8 y[{0}] = t[{0}] + t[{0}]",
        "",
        "fast",
        "y[0] differs at fast\n  original:    exp(x[0]) + sin(x[0])\n  transformed: sin(x[0]) + sin(x[0])",
    ),
    "another order at strict": (
        TOTAL,
        "s[] = 0\n8 s[] += x[{0}]",
        "s[] = 0\n4 s[] += x[{0}+4]\n4 s[] += x[{0}]",
        "",
        "strict",
        "s[] differs at strict\n  original:    … + x[5] + x[6] + x[7]\n  transformed: … + x[1] + x[2] + x[3]",
    ),
    "a start dropped": (
        TOTAL,
        "s[] = 0\n8 s[] += x[{0}]",
        "8 s[] += x[{0}]",
        "",
        "reassoc",
        "the transformed program reads s[] before anything wrote it, in statement s at {i0} = 0",
    ),
    "a start inside the loop": (
        TOTAL,
        "s[] = 0\n8 s[] += x[{0}]",
        "8 s[] = 0\n| s[] += x[{0}]",
        "",
        "reassoc",
        "s[] differs at reassoc\n  original:    x[0] + x[1] + x[2] + … (6 more)\n  transformed: … (2 more)",
    ),
    "an element counted twice": (
        TOTAL,
        "s[] = 0\n8 s[] += x[{0}]",
        "s[] = 0\n8 s[] += x[min({0}, 6)]",
        "",
        "reassoc",
        "s[] differs at reassoc\n  original:    x[7] + … (8 more)\n  transformed: x[6] + … (8 more)",
    ),
    "rows and columns mixed up": (
        "in x: f32[4, 4]\nout y: f32[4, 4]",
        "4 4 y[{0},{1}] = exp(x[{1},{0}])",
        "4 4 y[{0},{1}] = exp(x[{0},{1}])",
        "",
        "fast",
        "y[0,1] differs at fast\n  original:    exp(x[1,0])\n  transformed: exp(x[0,1])",
    ),
    "the wrong row of a table": (
        GATHER,
        "4 3 y[{0},{1}] = t[i[{0}],{1}]",
        "4 3 y[{0},{1}] = t[(i[{0}] + 1) % 5,{1}]",
        "",
        "fast",
        "",
    ),
    "the table read without its clamp": (
        "in t: f32[5]\nin i: i32[9]\nout y: f32[9]",
        "9 y[{0}] = t[min(max(i[{0}], 0), 4)]",
        "9 y[{0}] = t[max(i[{0}], 0)]",
        "",
        "fast",
        "outside of the extent 5, in statement y at",
    ),
    "a condition on data turned round": (
        SCAN,
        "8 y[{0}] = x[{0}] < 0 ? 0 : exp(x[{0}])",
        "8 y[{0}] = x[{0}] < 0 ? exp(x[{0}]) : 0",
        "",
        "fast",
        "y[0] differs at fast\n  original:    x[0] < 0.0 ? 0.0 : exp(x[0])",
    ),
    "a rounding dropped": (
        "in x: f32[]\nout y: f32[]",
        "y[] = f32(f16(x[])) + 1",
        "y[] = x[] + 1",
        "",
        "fast",
        "y[] differs at fast\n  original:    1.0 + f32(f16(x[]))\n  transformed: x[] + 1.0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_transformation_is_found(name: str) -> None:
    header, before, after, declared, fp, message = WRONG[name]
    found = judge(header, before, after, fp, declared)
    assert not found.equal
    assert message in found.message
    assert judge(header, before, before, fp).equal


def test_the_point_of_difference_is_shown_with_what_is_around_it() -> None:
    header = "in x: f32[8]\nout y: f32[]\ntmp s: f32[]"
    program = "s[] = 0\n8 s[] += {} * x[{0}]\ny[] = rsqrt(s[] / 8 + 1e-5)"
    before, after = program.replace("{}", "x[{0}]"), program.replace("{}", "x[{0}//7*7]")
    found = judge(header, before, after, "reassoc")
    assert (found.element, found.original, found.transformed) == (
        "y[]",
        "1e-05 + (x[1] * x[1] + x[2] * x[2] + x[3] * x[3] + … (6 more)) / 8.0",
        "1e-05 + (x[0] * x[1] + x[0] * x[2] + x[0] * x[3] + … (6 more)) / 8.0",
    )
