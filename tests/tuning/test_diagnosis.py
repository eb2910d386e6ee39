"""The diagnosis counts what there was, and says why the rest was not: asked of the moves themselves."""

from __future__ import annotations

import random

import pytest

from perfdojo.compiler.transforms import candidates, get_transform, transform_names
from perfdojo.compiler.transforms.spelling import name_of
from perfdojo.tuning.diagnosis import Kind, diagnose, diagnosis
from perfdojo.tuning.near import why_none
from perfdojo.tuning.runners.replay import ReplayRunner
from perfdojo.tuning.space import Space
from perfdojo.tuning.trial import Trial
from perfdojo.tuning.tune import Tuner
from tests.tuning.problems import problem, space

ONE = "schedule rows\nunroll k\nend\n"


def kinds(*trials: Trial, target: str = "c") -> dict[str, Kind]:
    return {k.name: k for k in diagnose(space(target=target), trials)}


def test_every_kind_of_move_is_told_with_what_is_offered() -> None:
    found, s = kinds(), space()
    assert sorted(found) == list(transform_names())
    offered = [name_of(m) for m in candidates(s.start.program, s.problem.setting)]
    assert {n: k.start for n, k in found.items() if k.start} == {n: offered.count(n) for n in offered}
    assert all(k.reasons for k in found.values())


def test_trials_count_for_the_kinds_they_have() -> None:
    slow = Trial(ONE.replace("end", "unroll j\nend"), "ok", samples=(9.0,))
    cut = Trial("schedule rows\ntile_scope k 8\nunroll k_i\nend\n", "ok", samples=(1.0,), cut=True)
    found = kinds(Trial(ONE, "ok", samples=(5.0,)), slow, cut, Trial("", "ok", samples=(2.0,)))
    assert (found["unroll"].trials, found["unroll"].best, found["unroll"].reasons) == (3, 5.0, ())
    assert (found["tile_scope"].trials, found["tile_scope"].best) == (1, None)
    assert found["peel_scope"].reasons == ("it is legal, but no trial had it",)


def test_what_a_schedule_makes_legal_is_counted_behind_it() -> None:
    s = space()
    point = s.made(m for m in candidates(s.start.program, s.problem.setting) if name_of(m) == "fission_scope")
    found = {k.name: k for k in diagnose(s, [], point.program)}
    assert found["join_scopes"].start == 0
    assert found["join_scopes"].behind
    assert "behind this schedule" in found["join_scopes"].reasons[0]


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("vectorize", "c", "target c has no @vector"),
        ("reciprocal", "c", "reassoc rounds a quotient once (compile with --fp fast)"),
        ("sequential", "c", "sequential i: scope i has no mark, and 2 more likewise"),
        ("delete_dead", "c", "delete_dead s: y reads s"),
        ("drop_scope", "c", "drop_scope i: scope i has 8 iterations"),
        ("frep", "snitch", "no scope around j is @stream (stream one first)"),
        ("pad_dims", "c", "legal as pad_dims s 0 1, but no list of candidates has it"),
    ],
)
def test_reasons_are_those_of_instances_on_this_program(name: str, target: str, reason: str) -> None:
    s = space(target=target)
    told = why_none(get_transform(name), s.start.program, s.problem.setting)
    assert any(reason in sentence for sentence in told), told


def test_a_kernel_without_loops_has_no_scope_for_moves() -> None:
    s = Space(problem("kernel rows\nin x: f32[1]\nout y: f32[1]\n\ny[0] = x[0] + 1\n"), random.Random(0))
    told = why_none(get_transform("unroll"), s.start.program, s.problem.setting)
    assert told == ("the program has no scope that it could be for",)


@pytest.mark.parametrize("target", ["c", "avx512", "cuda", "snitch"])
def test_every_kind_can_be_asked_on_every_target(target: str) -> None:
    s = space(target=target)
    for name in transform_names():
        assert why_none(get_transform(name), s.start.program, s.problem.setting), name


def test_a_search_is_told_in_sentences() -> None:
    tuner = Tuner(problem(), ReplayRunner())
    result = tuner.run(1e9, 20)
    first, second, *told = diagnosis(result, tuner.space)
    assert first.startswith(f"{len(result.progress.trials)} trials: ")
    assert second.startswith("what there was: planned ")
    assert len(told) == len(transform_names())
    assert "not offered: vectorize: target c has no @vector" in told
