"""The words of a schedule: the plain reader takes what is usual, and reads it as the grammar does."""

from __future__ import annotations

import random
import re
from importlib import resources

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Source
from perfdojo.compiler.schedule.grammar import by_grammar
from perfdojo.compiler.schedule.lines import Text, plainly

TEXTS = [
    f.read_text("utf-8") + "\n"
    for f in sorted(resources.files("perfdojo").joinpath("kernels").iterdir(), key=lambda f: f.name)
    if f.name.endswith(".sched")
]
SHORT = [t for t in TEXTS if len(t) < 600]
PIECES = re.compile(r"\s+|\w+|\W")
INSERTED = ("schedule", "on", "at", "try", "end", "name", "->", "-> a b", "-3", "16x", *"[],-#.@\n\r")


def judged(text: str) -> Text | None:
    """Return what the grammar makes of a text, None for nothing."""
    try:
        return by_grammar(text, Source("k.sched", text))
    except PerfDojoError:
        return None


def changed(text: str, rng: random.Random) -> str:
    """Return the text with one piece left out, doubled, or another in its place or beside it."""
    pieces = PIECES.findall(text)
    at = rng.randrange(len(pieces))
    other = rng.choice((rng.choice(INSERTED), rng.choice(pieces)))
    there = rng.choice(([], [pieces[at]] * 2, [other], [pieces[at], other], [pieces[at], " ", other]))
    return "".join((*pieces[:at], *there, *pieces[at + 1 :])) + "\n"


def test_shipped_schedules_are_read_plainly() -> None:
    assert TEXTS
    for text in TEXTS:
        found = plainly(text)
        assert found is not None, text
        assert found == judged(text)


@pytest.mark.parametrize("seeds", [range(300), pytest.param(range(300, 30_000), marks=pytest.mark.slow)])
def test_changed_texts_are_read_as_the_grammar_does_or_left_to_it(seeds: range) -> None:
    taken = 0
    for seed in seeds:
        rng = random.Random(seed)
        text = changed(rng.choice(SHORT), rng)
        text = changed(text, rng) if rng.random() < 0.3 else text
        found = plainly(text)
        taken += found is not None
        assert found is None or found == judged(text), text
    assert 0.2 * len(seeds) < taken < 0.9 * len(seeds)
