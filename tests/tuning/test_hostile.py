"""Candidates that misbehave: each has its outcome, none is left running, and no file is left behind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfdojo.toolchains.host import find_host
from perfdojo.toolchains.locks import alone
from perfdojo.tuning.runners.allowance import COMPILE_LIMITS
from perfdojo.tuning.trial import OUTCOMES
from tests.tuning.hostile import PLANTS, Planted, compiler_that, marked
from tests.tuning.problems import problem, space

PROGRAMS = 5
COMPILING = replace(COMPILE_LIMITS, wall_s=0.7, memory_bytes=1 << 30, file_bytes=16 << 20)
"""For plants that the compiler meets: what is too much is too much sooner than in a search."""


def plantings() -> Iterator[Any]:
    for kind, plant in PLANTS.items():
        for number in range(PROGRAMS):
            for late in (False, True) if plant.when_late else (False,):
                is_slow = number or late or plant.is_slow
                marks = [pytest.mark.slow] if is_slow else []
                name = f"{kind}-{number}{'-late' if late else ''}"
                yield pytest.param(kind, number, late, marks=marks, id=name)


def test_there_are_many() -> None:
    assert sum(PROGRAMS * (1 + p.when_late) for p in PLANTS.values()) >= 200
    assert all(o in OUTCOMES for p in PLANTS.values() for o in p.outcomes.split())


@pytest.mark.parametrize(("kind", "number", "late"), [*plantings()])
def test_hostile_candidates_have_an_outcome(
    kind: str, number: int, late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant = PLANTS[kind]
    s = space(number)
    point = s.longer(s.start, number)
    host = find_host(str(compiler_that(plant.compiler, tmp_path)) if plant.compiler else "gcc")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PERFDOJO_PLANTED", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with alone():  # the file of this lock stays
        before = sorted(temporary.rglob("*"))
    limits = COMPILE_LIMITS if plant.when_late else COMPILING
    runner = Planted(problem(), host, compile_limits=limits, plant=plant, late=late)
    (tried,) = runner.measure([point], 1e-6)
    assert tried.outcome in plant.outcomes.split(), (tried.outcome, tried.detail)
    assert tried.detail
    assert not marked(f"PERFDOJO_PLANTED={tmp_path}")
    assert sorted(temporary.rglob("*")) == before
