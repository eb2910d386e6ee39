"""What each floating-point level identifies, and what it does not."""

from __future__ import annotations

from typing import Literal

import pytest

from perfdojo.compiler.lowering.target import FP_LEVELS, FpLevel
from tests.validate.programs import judge

FLOATS = """
in a: f32[8]
in b: f32[8]
in c: f32[]
in d: f32[]
out s: f32[]
out y: f32[8]"""

INTEGERS = """
in a: i32[8]
in b: i32[8]
in c: i32[]
in d: i32[]
out s: i32[]
out y: i32[8]"""

REST = "\n8 y[{0}] = a[{0}]"
SUM = "s[] = 0\n8 s[] += a[{0}]"
DOT = "s[] = 0\n8 s[] += a[{0}] * b[{0}]"

PAIRS: dict[str, tuple[str, str, FpLevel | Literal[""]]] = {
    "the program itself": (SUM, SUM, "strict"),
    "a reduction and the sum it stands for": (SUM, "s[] = 0\n8 s[] = s[] + a[{0}]", "strict"),
    "a start written in place": ("s[] = 0\n8 s[] += a[{0}]", "s[] = 0 + a[0]\n7 s[] += a[{0}+1]", "strict"),
    "a literal that is converted": ("s[] = 0.1 * c[]", "s[] = f32(0.1) * c[]", "strict"),
    "a select of two equal values": ("s[] = a[0]", "s[] = c[] < d[] ? a[0] : a[0]", "strict"),
    "the sign of a constant": ("8 s[] = -({0} < 8 ? 2.5 : c[])", "s[] = -2.5", "strict"),
    "two signs": ("s[] = -(-c[])", "s[] = c[]", "strict"),
    "a guard and the select it stands for": (
        "s[] = 0\n8 s[] += a[{0}] if b[{0}] < c[]",
        "s[] = 0\n8 s[] = b[{0}] < c[] ? s[] + a[{0}] : s[]",
        "strict",
    ),
    "an fma in a reduction": (DOT, "s[] = 0\n8 s[] = fma(a[{0}], b[{0}], s[])", "contract"),
    "an fma": ("s[] = c[] * d[] + a[0]", "s[] = fma(d[], c[], a[0])", "contract"),
    "an fma of a difference": ("s[] = a[0] - c[] * d[]", "s[] = fma(-c[], d[], a[0])", "contract"),
    "an fma with a negative factor": ("s[] = c[] - 4 * d[]", "s[] = fma(-4.0, d[], c[])", "contract"),
    "an fma with a negative addend": ("s[] = c[] * d[] - a[0]", "s[] = fma(c[], d[], -a[0])", "contract"),
    "operands the other way round": ("s[] = c[] + d[]", "s[] = d[] + c[]", "contract"),
    "a sum backwards": (SUM, "s[] = 0\n8 s[] += a[7-{0}]", "reassoc"),
    "a sum that starts at its last element": (
        "s[] = d[]\n8 s[] += a[{0}]",
        "s[] = a[7]\n7 s[] += a[{0}]\ns[] += d[]",
        "reassoc",
    ),
    "accumulators": (
        DOT,
        "4 t[{0}] = 0\n2 4 t[{1}] += a[4*{0}+{1}] * b[4*{0}+{1}]\ns[] = 0\n4 s[] += t[{0}]",
        "reassoc",
    ),
    "accumulators with fma, combined as a tree": (
        DOT,
        "4 t[{0}] = 0\n8 t[{0}%4] = fma(a[{0}], b[{0}], t[{0}%4])\ns[] = (t[0] + t[1]) + (t[2] + t[3])",
        "reassoc",
    ),
    "a product in pieces": (
        "s[] = 1\n8 s[] *= a[{0}]",
        "4 t[{0}] = 1\n8 t[{0}%4] *= a[{0}]\ns[] = t[0]\n3 s[] *= t[{0}+1]",
        "reassoc",
    ),
    "a maximum without its start": (
        "s[] = -inf\n8 s[] max= a[{0}]",
        "s[] = a[7]\n7 s[] max= a[{0}]",
        "reassoc",
    ),
    "a minimum, some elements twice": (
        "s[] = inf\n8 s[] min= a[{0}]",
        "s[] = inf\n6 s[] min= a[{0}]\n6 s[] min= a[{0}+2]",
        "reassoc",
    ),
    "a guarded sum in pieces": (
        "s[] = 0\n8 s[] += a[{0}] if b[{0}] < c[]",
        "4 t[{0}] = 0\n8 t[{0}//2] += a[{0}] if b[{0}] < c[]\ns[] = 0\n4 s[] += t[{0}]",
        "reassoc",
    ),
    "an fma in a guarded reduction": (
        "s[] = 0\n8 s[] += a[{0}] * b[{0}] if b[{0}] < c[]",
        "s[] = 0\n8 s[] = fma(a[{0}], b[{0}], s[]) if b[{0}] < c[]",
        "contract",
    ),
    "an fma in a guarded reduction backwards": (
        "s[] = 0\n8 s[] += a[{0}] * b[{0}] if b[{0}] < c[]",
        "s[] = 0\n8 s[] = fma(a[7-{0}], b[7-{0}], s[]) if b[7-{0}] < c[]",
        "reassoc",
    ),
    "an fma in a reduction, backwards, and what follows": (
        f"{DOT}\ns[] = max(s[] + d[], exp(s[]))",
        "s[] = 0\n8 s[] = fma(a[7-{0}], b[7-{0}], s[])\ns[] = max(s[] + d[], exp(s[]))",
        "reassoc",
    ),
    "a maximum backwards, and the maximum with another": (
        "s[] = -inf\n8 s[] max= max(a[{0}], b[{0}])\ns[] = max(max(s[], c[]), d[])",
        "s[] = -inf\n8 s[] max= max(a[7-{0}], b[7-{0}])\ns[] = max(max(s[], c[]), d[])",
        "reassoc",
    ),
    "a sum of nothing but one operand, in another sum": (
        "s[] = c[] + a[0]",
        "t[0] = a[0]\n4 t[0] += -0.0\ns[] = c[] + t[0]",
        "reassoc",
    ),
    "a product of one operand, in another product": (
        "s[] = c[] * a[0]",
        "t[0] = a[0]\n4 t[0] *= 1.0\ns[] = c[] * t[0]",
        "reassoc",
    ),
    "a sum of sums": (SUM, "4 t[{0}] = 0\n| 2 t[{0}] += a[2*{0}+{1}]\ns[] = 0\n4 s[] += t[{0}]", "reassoc"),
    "a division": ("s[] = c[] / d[]", "s[] = c[] * (1 / d[])", "fast"),
    "a division by a literal": ("s[] = c[] / 8", "s[] = c[] * 0.125", "fast"),
    "an inverse root": ("s[] = c[] * rsqrt(d[])", "s[] = c[] / sqrt(d[])", "fast"),
    "a sum whose order the writer chose": ("s[] = (a[0] + a[1]) + a[2]", "s[] = a[0] + (a[1] + a[2])", ""),
    "a chain of sums that is no reduction": (
        "s[] = 0\n8 s[] = s[] + a[{0}]",
        "s[] = 0\n8 s[] += a[7-{0}]",
        "",
    ),
    "a sum without its zero": (SUM, "s[] = a[0]\n7 s[] += a[{0}+1]", ""),
    "a sum, one element twice": (SUM, "s[] = 0\n8 s[] += a[{0}]\ns[] += a[0]", ""),
    "a product distributed": ("s[] = c[] * (a[0] + a[1])", "s[] = c[] * a[0] + c[] * a[1]", ""),
    "a difference the other way round": ("s[] = c[] - d[]", "s[] = d[] - c[]", ""),
    "a comparison that forgets NaN": ("s[] = c[] < d[] ? 1 : 0", "s[] = c[] >= d[] ? 0 : 1", ""),
}

ALWAYS = {
    "a sum backwards": (SUM, "s[] = 0\n8 s[] += a[7-{0}]"),
    "a sum in any grouping": ("s[] = a[0] + a[1] - (c[] - d[])", "s[] = d[] + (a[1] - c[]) + a[0]"),
    "a sum without its zero": (SUM, "s[] = a[0]\n7 s[] += a[{0}+1]"),
    "a product": ("s[] = a[0] * a[1] * c[]", "s[] = c[] * (a[1] * a[0])"),
    "a maximum": ("s[] = max(max(a[0], a[1]), c[])", "s[] = max(a[1], max(c[], max(a[0], a[1])))"),
    "what cancels": ("s[] = c[]", "s[] = c[] + a[0] - a[0]"),
    "constants": ("s[] = c[] + 5", "s[] = 2 + c[] + 3"),
    "conditions": (
        "s[] = a[0] < c[] and a[1] < d[] ? 1 : 2",
        "s[] = a[1] < d[] and a[0] < c[] ? 1 : 2",
    ),
}

NEVER = {
    "a sum, one element twice": (SUM, "s[] = 0\n8 s[] += a[{0}]\ns[] += a[0]"),
    "a quotient": ("s[] = (a[0] + a[1]) // 2", "s[] = a[0] // 2 + a[1] // 2"),
    "a minimum for a maximum": ("s[] = min(c[], d[])", "s[] = max(c[], d[])"),
    "another constant": ("s[] = c[] + 5", "s[] = c[] + 6"),
}


@pytest.mark.parametrize("level", FP_LEVELS)
@pytest.mark.parametrize("name", PAIRS)
def test_floats_are_equal_from_their_level_on(name: str, level: FpLevel) -> None:
    before, after, lowest = PAIRS[name]
    expected = lowest != "" and FP_LEVELS.index(level) >= FP_LEVELS.index(lowest)
    found = judge(FLOATS, before + REST, after + REST, level, "tmp t: f32[4]")
    assert found.equal == expected, found.message
    assert expected or found.element == "s[]"


@pytest.mark.parametrize("level", ["strict", "fast"])
@pytest.mark.parametrize("name", ALWAYS)
def test_integers_are_equal_at_every_level(name: str, level: FpLevel) -> None:
    before, after = ALWAYS[name]
    found = judge(INTEGERS, before + REST, after + REST, level)
    assert found.equal, found.message


@pytest.mark.parametrize("name", NEVER)
def test_integers_that_differ_differ_at_every_level(name: str) -> None:
    before, after = NEVER[name]
    assert not judge(INTEGERS, before + REST, after + REST, "strict").equal
    assert not judge(INTEGERS, before + REST, after + REST, "fast").equal


def test_small_integers_wrap() -> None:
    header = "in a: i8[2]\nout s: i8[]"
    assert judge(header, "s[] = a[0] + 100 + 100", "s[] = a[0] - 56", "strict").equal
    assert not judge(header, "s[] = i8(i32(a[0]) + i32(a[1]))", "s[] = a[0] + a[1]", "strict").equal
