"""Operations that run lane by lane: a constant operand keeps its place."""

from __future__ import annotations

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.text.parse import parse
from tests.native import build, case, disagreement

TEXT = """
kernel k
size N = 45
in  p: i32[N]
in  x: f32[N]
out a: i32[N]
out b: i32[N]
out c: f32[N]
out d: f32[N]

N@vector a[{0}] = p[{0}] // 2147483647
N@vector b[{0}] = 2147483647 // p[{0}]
N@vector c[{0}] = pow(x[{0}], 3)
N@vector d[{0}] = pow(3, x[{0}])
"""


def test_a_constant_on_either_side_is_another_function() -> None:
    program = bind(parse(TEXT))
    made = case("sides", program, "avx2", "strict")
    assert disagreement(build([made]), made, random_inputs(program, 1), "strict") == ""
