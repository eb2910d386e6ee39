"""The examples compute what their first lines say, at any size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse
from tests.kernels.check import assert_computes

FOLDER = Path(__file__).parents[2] / "examples"


def smooth(x: Any, weight: Any, R: int) -> Any:
    padded = np.pad(x, ((0, 0), (R, R)))
    return np.lib.stride_tricks.sliding_window_view(padded, len(weight), 1) @ weight


EXAMPLES: dict[str, tuple[Callable[..., Any], dict[str, int]]] = {
    "centre": (lambda x: x - x.mean(-1, keepdims=True), {"B": 7, "N": 37}),
    "scale": (lambda a, b, x: a * x + b, {"M": 7, "N": 37}),
    "smooth": (smooth, {"B": 7, "H": 37, "R": 3}),
}


def test_every_example_has_a_reference() -> None:
    assert sorted(EXAMPLES) == sorted(f.stem for f in FOLDER.glob("*.ir"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_computes_what_it_says(name: str) -> None:
    function, prime = EXAMPLES[name]
    program = parse((FOLDER / f"{name}.ir").read_text("utf-8"), name)
    for sizes in (dict.fromkeys(prime, 1), prime, *({**prime, s: 1000} for s in prime if s != "R")):
        assert_computes(bind(program, sizes), function)
