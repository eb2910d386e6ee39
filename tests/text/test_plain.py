"""The plain reader takes what is usual, and reads it as the grammar does."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Source
from perfdojo.compiler.text.grammar import by_grammar
from perfdojo.compiler.text.plain import plainly
from perfdojo.compiler.text.raw import RawKernel
from perfdojo.compiler.text.render import render
from tests.kernels.library import texts
from tests.random_programs.generate import generate

WRONG = sorted(Path(__file__).parents[1].glob("errors/*.ir"))
PIECES = re.compile(r"\s+|\w+|\W")
INSERTED = (
    *(
        "if",
        "not",
        "and",
        "or",
        "in",
        "out",
        "size",
        "fixed",
        "max",
        "inf",
        "nan",
        "kernel",
        "x",
        "{0}",
        "@vector",
    ),
    *("=", "min=", "max=", "maxnum=", "==", "<=", "//", "1", "1.", "1.5", ".5", "1e5", "2e", "16x"),
    *"?:,()[]{}|-+%<#.\n\r",
)


def judged(text: str) -> RawKernel | None:
    """Return what the grammar makes of a text, None for nothing."""
    try:
        return by_grammar(text, Source("k.ir", text))
    except PerfDojoError:
        return None


def changed(text: str, rng: random.Random) -> str:
    """Return the text with one piece left out, doubled, put elsewhere, or another in its place."""
    pieces = PIECES.findall(text)
    at = rng.randrange(len(pieces))
    other = rng.choice((rng.choice(INSERTED), rng.choice(pieces)))
    there = rng.choice(([], [pieces[at]] * 2, [other], [pieces[at], other], [pieces[at], " ", other]))
    return "".join((*pieces[:at], *there, *pieces[at + 1 :])) + "\n"


@pytest.mark.parametrize("name", texts())
def test_kernels_of_the_library_are_read_plainly(name: str) -> None:
    found = plainly(texts()[name] + "\n")
    assert found is not None
    assert found == judged(texts()[name] + "\n")


def test_random_programs_are_read_plainly() -> None:
    for seed in range(60):
        text = render(generate(seed) if seed % 2 else bind(generate(seed)))
        found = plainly(text)
        assert found is not None, text
        assert found == judged(text), text


@pytest.mark.parametrize("path", WRONG, ids=lambda p: p.stem)
def test_wrong_programs_are_read_as_the_grammar_does_or_left_to_it(path: Path) -> None:
    text = path.read_text("utf-8") + "\n"
    found = plainly(text)
    assert found is None or found == judged(text)


@pytest.mark.parametrize("seeds", [range(150), pytest.param(range(150, 30_000), marks=pytest.mark.slow)])
def test_changed_texts_are_read_as_the_grammar_does_or_left_to_it(seeds: range) -> None:
    wholes = [*texts().values(), *(p.read_text("utf-8") for p in WRONG)]
    taken = 0
    for seed in seeds:
        rng = random.Random(seed)
        whole = rng.choice(wholes) if rng.random() < 0.5 else render(generate(seed))
        text = changed(changed(whole, rng), rng) if rng.random() < 0.3 else changed(whole, rng)
        found = plainly(text)
        taken += found is not None
        assert found is None or found == judged(text), text
    assert 0.2 * len(seeds) < taken < 0.9 * len(seeds)


@pytest.mark.parametrize(
    ("value", "deeper"),
    [
        ("(" * 39 + "{0}" + ")" * 39, "(" * 60 + "{0}" + ")" * 60),
        ("- " * 38 + "x[{0}]", "- " * 60 + "x[{0}]"),
        ("not " * 38 + "true", "not " * 60 + "true"),
        ("x[{0}] ? 1 : " * 30 + "2", "x[{0}] ? 1 : " * 60 + "2"),
    ],
)
def test_nesting_is_followed_a_while_then_left_to_the_grammar(value: str, deeper: str) -> None:
    text = "kernel k\nin x: f32[4]\nout y: f32[4]\n\n4 y[{0}] = "
    assert plainly(f"{text}{value}\n") == judged(f"{text}{value}\n") is not None
    assert plainly(f"{text}{deeper}\n") is None
    assert judged(f"{text}{deeper}\n") is not None
