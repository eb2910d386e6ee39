"""`perfdojo.Session`: its examples, undo and redo, edits in the middle that fail leave all as it was."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import perfdojo
import perfdojo.session
from perfdojo import PerfDojoError, Session
from perfdojo.compiler.schedule import StepError, parse_schedule
from tests.transforms.states import check_state

MATMUL = """kernel mm
size N = 64
in a: f32[48, 32]
in b: f32[32, N]
out c: f32[48, N]

i:48 j:N k:32 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
"""


def session(**given: object) -> Session:
    made = Session(MATMUL, target="avx2", **given)  # type: ignore[arg-type]
    made.apply("tile_scope j 8 remainder peel")
    made.apply("vectorize j_i")
    made.apply("tile_scope i 4")
    return made


def steps(s: Session) -> list[str]:
    return [str(state.step) for state in s.states]


def test_examples_in_the_docstring_run() -> None:
    found = doctest.testmod(perfdojo.session)
    assert found.attempted > 10
    assert found.failed == 0


def test_undo_and_redo_walk_over_every_change() -> None:
    s = session()
    last = s.program
    seen = [s.program]
    for _ in range(3):
        seen.append(s.undo())
    assert s.program is s.start
    with pytest.raises(PerfDojoError, match="nothing to undo"):
        s.undo()
    for _ in range(3):
        s.redo()
    assert s.program == last
    with pytest.raises(PerfDojoError, match="nothing to redo"):
        s.redo()
    s.undo()
    s.apply("tile_scope i 6")
    with pytest.raises(PerfDojoError, match="nothing to redo"):
        s.redo()
    check_state(s.program)


def test_an_edit_in_the_middle_replays_what_follows() -> None:
    s = session()
    s.edit(1, "tile_scope j 16")
    assert steps(s) == ["tile_scope j 16", "vectorize j_i", "tile_scope i 4"]
    assert "j_i:16@vector" in s.body
    s.remove(3)
    s.insert(1, "parallelize i")
    assert steps(s) == ["parallelize i", "tile_scope j 16", "vectorize j_i"]
    s.undo()
    s.undo()
    assert steps(s) == ["tile_scope j 16", "vectorize j_i", "tile_scope i 4"]
    check_state(s.program)


def test_an_edit_that_breaks_a_later_step_names_the_first_and_changes_nothing() -> None:
    s = session()
    before = s.states
    with pytest.raises(StepError) as caught:
        s.edit(1, "tile_scope j 8 -> outer inner")
    assert caught.value.number == 2
    assert str(caught.value) == (
        "<session>:3:11: error: step 2, vectorize j_i: there is no scope j_i\nvectorize j_i\n          ^^^"
    )
    assert "inner" in caught.value.state.scopes
    assert s.states is before
    for number in (0, 4):
        with pytest.raises(PerfDojoError, match=f"there is no step {number}"):
            s.remove(number)
    with pytest.raises(PerfDojoError, match="no transformation 'vectorise_all'"):
        s.apply("vectorise_all j")
    assert s.states is before


def test_the_text_replays_at_other_sizes_and_says_the_lowest_level(tmp_path: Path) -> None:
    s = session()
    s.save(tmp_path / "mm.sched")
    text = (tmp_path / "mm.sched").read_text()
    assert text.splitlines()[0] == "schedule mm on avx2 at strict"
    assert parse_schedule(text).steps == s.schedule.steps
    odd = Session(MATMUL, target="avx2", fp="strict", sizes={"N": 67}, schedule=tmp_path / "mm.sched")
    assert odd.program.scopes["j_t"].node.extent.value == 3  # type: ignore[union-attr]
    assert odd.undo.__name__ == "undo"
    with pytest.raises(PerfDojoError, match="nothing to undo"):
        odd.undo()
    summing = Session(MATMUL, target="avx2")
    summing.apply("vectorize k") if summing.why_not("vectorize k") is None else summing.apply("vectorize j")
    assert summing.text().startswith("schedule mm on avx2 at ")


def test_optional_steps_of_a_schedule_are_left_out_where_illegal() -> None:
    s = Session(MATMUL, target="avx2", sizes={"N": 7})
    s.replay(parse_schedule("schedule mm\ntry vectorize q\ntry tile_scope i 4\nend\n"))
    assert [bool(state.skipped) for state in s.states] == [True, False]
    assert s.states[0].skipped == "there is no scope q"
    with pytest.raises(PerfDojoError, match="the schedule is for kernel other"):
        s.replay(parse_schedule("schedule other\nend\n"))


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(PerfDojoError, match="no floating-point level 'loose'"):
        Session(MATMUL, fp="loose")  # type: ignore[arg-type]
    with pytest.raises(PerfDojoError, match="no file and no library kernel called 'sofmax'"):
        Session("sofmax", target="c")
    assert repr(Session("softmax", target="c")) == "Session(softmax on c at reassoc, 0 steps)"
