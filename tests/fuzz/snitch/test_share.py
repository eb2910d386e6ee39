"""The soundness run for Snitch itself: faults still apply, kernels that are built together keep apart."""

from __future__ import annotations

from collections import Counter

import pytest

from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from tests.fuzz.planted_copies import stale
from tests.fuzz.snitch.faults import FAULTS
from tests.fuzz.snitch.run import run_seeds
from tests.fuzz.snitch.sequences import sequence


def test_every_fault_still_applies() -> None:
    wrong = stale(FAULTS)
    assert not wrong, "\n".join(wrong)


def test_faults_are_many_and_have_names_of_their_own() -> None:
    assert len(FAULTS) >= 30
    assert max(Counter(fault.title for fault in FAULTS).values()) == 1


def test_a_seed_is_a_sequence() -> None:
    assert sequence(3) == sequence(3)


@pytest.fixture(scope="module")
def tools() -> Tools:
    try:
        return find_tools()
    except MissingTool as missing:
        pytest.skip(str(missing))


def test_kernels_for_snitch_keep_the_meaning(tools: Tools) -> None:
    tally = run_seeds(range(16, 32), tools)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.pairs == 16
    assert min(tally.has[name] for name in ("streams", "repeated loops", "several cores")) > 0
