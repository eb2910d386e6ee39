"""The soundness run itself: each fault still applies, and a small share of it runs."""

from __future__ import annotations

import ast
import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz.faults import FAULTS
from tests.fuzz.run import EXECUTORS, run_seeds


def _source(module: str) -> str:
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).read_text("utf-8")


def test_every_fault_still_applies() -> None:
    wrong = []
    for fault in FAULTS:
        try:
            ast.parse(fault.planted(_source(fault.module)))
        except (SyntaxError, ValueError) as error:
            wrong.append(f"{fault.title}: {error}")
    assert not wrong, "\n".join(wrong)


def test_faults_are_many_and_have_names_of_their_own() -> None:
    assert len(FAULTS) >= 40
    assert max(Counter(f"{f.module} {f.title}" for f in FAULTS).values()) == 1


@pytest.mark.parametrize("first", [0, 80])
def test_moves_keep_the_meaning(first: int) -> None:
    tally = run_seeds(range(first, first + 80))
    assert not tally.wrong, "\n".join(w.text for w in tally.wrong)
    assert set(tally.sequences) == set(EXECUTORS)
    assert tally.pairs.total() > 200
