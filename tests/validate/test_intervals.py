"""Comparisons that no data within the declared ranges can turn are decided."""

from __future__ import annotations

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.validate import validate

TEXT = """kernel k
in p: i32[3] values(2, 5)
in x: f32[3]
out y: f32[3]

3 y[{{0}}] = {value}
"""


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ("p[{0}] > p[{0}]", False),
        ("p[{0}] == p[{0}]", True),
        ("p[{0}] >= 2", True),
        ("p[{0}] < 2", False),
        ("p[{0}] != 5", True),
        ("p[{0}] * 2 - 1 <= 7", True),
        ("2 > min(p[{0}], 7)", False),
        ("i64(p[{0}] + 1) <= 5", True),
        ("i8(p[{0}]) < 2", False),
    ],
)
def test_decided(condition: str, taken: bool) -> None:
    one = bind(parse(TEXT.format(value=f"{condition} ? x[{{0}}] : 0")))
    two = bind(parse(TEXT.format(value="x[{0}]" if taken else "0")))
    assert validate(one, two, "strict").equal


@pytest.mark.parametrize(
    "condition", ["p[{0}] > 2", "p[{0}] == 4", "p[{0}] * 1000000000 > 0", "i8(p[{0}] * 100) > 0"]
)
def test_left_to_the_data(condition: str) -> None:
    one = bind(parse(TEXT.format(value=f"{condition} ? x[{{0}}] : 0")))
    two = bind(parse(TEXT.format(value="x[{0}]")))
    assert not validate(one, two, "strict").equal
