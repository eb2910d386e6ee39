"""Strides of buffers with an order, padding and dimensions that share storage."""

from __future__ import annotations

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.text.parse import parse


@pytest.mark.parametrize(
    ("attributes", "strides", "elems"),
    [
        ("", (15, 5, 1), 30),
        ("order(2, 1, 0)", (1, 2, 6), 30),
        ("pad(0, 0, 3)", (24, 8, 1), 48),
        ("pad(1, 0, 0)", (15, 5, 1), 45),
        ("order(1, 0, 2) pad(4, 0, 1)", (6, 36, 1), 108),
        ("reuse(1)", (5, 0, 1), 10),
        ("reuse(0, 1, 2)", (0, 0, 0), 1),
        ("reuse(2) pad(0, 2, 9)", (5, 1, 0), 10),
    ],
)
def test_strides(attributes: str, strides: tuple[int, ...], elems: int) -> None:
    text = (
        f"kernel k\nout y: f32[2, 3, 5]\ntmp t: f32[2, 3, 5] {attributes}\n\n2 3 5 t[{{0}},{{1}},{{2}}] = 1\n"
    )
    found = layout(bind(parse(text, "k.ir")).buffer("t"))
    assert (found.strides, found.elems, found.bytes) == (strides, elems, 4 * elems)
