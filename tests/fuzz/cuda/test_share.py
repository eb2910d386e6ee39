"""The soundness run for GPUs itself: faults still apply, kernels that are built together keep apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from perfdojo.toolchains.cuda.emulation import Emulated
from perfdojo.toolchains.gcc import accepts_cxx
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import find_host
from tests.fuzz.cuda.batches import built
from tests.fuzz.cuda.faults import FAULTS
from tests.fuzz.cuda.run import disagreement, emitted, run_seeds
from tests.fuzz.cuda.sequences import sequence
from tests.fuzz.planted_copies import stale


def test_every_fault_still_applies() -> None:
    wrong = stale(FAULTS)
    assert not wrong, "\n".join(wrong)


def test_faults_are_many_and_have_names_of_their_own() -> None:
    assert len(FAULTS) >= 20
    assert max(Counter(fault.title for fault in FAULTS).values()) == 1


def test_a_seed_is_a_sequence() -> None:
    assert sequence(3) == sequence(3)


@pytest.fixture(scope="module")
def host() -> Host:
    found = find_host()
    if not accepts_cxx(found.compiler):
        pytest.skip("needs g++")
    return found


def test_kernels_for_gpus_keep_the_meaning(host: Host) -> None:
    tally = run_seeds(range(30), host)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.pairs == 30
    assert min(tally.has[name] for name in ("blocks", "threads", "shared memory", "barriers")) > 0


def test_kernels_that_are_built_together_are_told_apart(host: Host, tmp_path: Path) -> None:
    made = [sequence(seed) for seed in range(4)]
    sources = [emitted(one) for one in made]
    libraries = built(sources, host, tmp_path)
    assert len({library.library for library in libraries if isinstance(library, Emulated)}) == len(made)
    for one, source, library in zip(made, sources, libraries, strict=True):
        assert isinstance(library, Emulated)
        assert disagreement(one, source, library) == ""
    first, other = libraries[0], libraries[1]
    assert isinstance(first, Emulated)
    assert isinstance(other, Emulated)
    assert disagreement(made[0], sources[0], other) != ""
