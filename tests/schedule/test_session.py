"""`perfdojo.Session`: its examples, undo and redo, edits in the middle that fail leave all as it was."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perfdojo
import perfdojo.session
from perfdojo import PerfDojoError, Session
from perfdojo.compiler.schedule import StepError, parse_schedule
from perfdojo.compiler.transforms.peel_scope import PeelScope
from perfdojo.compiler.transforms.tile_scope import TileScope
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
        "<session>:3:11: error: step 2, vectorize j_i: there is no scope j_i\nvectorize j_i\n          ^^^\n"
        "hint: 'help vectorize' in perfdojoc play tells when it is legal"
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
    wrong: tuple[Any, ...] = ({"N": 2.5}, {"N": "4"}, {"N": None}, [4])
    for sizes in wrong:
        with pytest.raises(PerfDojoError, match=r"not an integer|by name"):
            Session(MATMUL, target="c", sizes=sizes)
    with pytest.raises(PerfDojoError, match="size N is out of all range"):
        Session(MATMUL, target="c", sizes={"N": 10**5000})
    with pytest.raises(PerfDojoError, match="no target 'None'"):
        Session(MATMUL, target=None)  # type: ignore[arg-type]
    assert repr(Session("softmax", target="c")) == "Session(softmax on c at reassoc, 0 steps)"


def test_sizes_of_numpy_are_integers() -> None:
    s = Session(MATMUL, target="c", sizes={"N": np.int64(7)})
    assert s.text() == Session(MATMUL, target="c", sizes={"N": 7}).text()
    assert s.program == Session(MATMUL, target="c", sizes={"N": 7}).program


@pytest.mark.parametrize(
    "move",
    [None, 3, b"vectorize j", TileScope, TileScope("i", 4.0), PeelScope("i", 4, -2)],  # type: ignore[arg-type]
)
def test_what_is_no_move_is_refused_and_changes_nothing(move: object) -> None:
    s = Session(MATMUL, target="avx2")
    for method in (s.apply, s.attempt, s.why_not):
        with pytest.raises(PerfDojoError, match=r"no move|cannot be the"):
            method(move)  # type: ignore[arg-type]
    assert not s.states


@pytest.mark.parametrize("number", [0, -1, 2, "1", 1.0, None, 10**30])
def test_what_is_no_step_is_refused_and_changes_nothing(number: object) -> None:
    s = Session(MATMUL, target="avx2")
    s.apply("vectorize j")
    with pytest.raises(PerfDojoError, match="there is no step"):
        s.edit(number, "vectorize j")  # type: ignore[arg-type]
    with pytest.raises(PerfDojoError, match="there is no step"):
        s.remove(number)  # type: ignore[arg-type]
    assert len(s.states) == 1


def test_a_step_in_the_middle_may_be_optional() -> None:
    s = Session(MATMUL, target="avx2")
    s.apply("vectorize j")
    s.insert(1, "try vectorize nothing")
    assert [str(state.step) for state in s.states] == ["try vectorize nothing", "vectorize j"]
    assert s.states[0].skipped
    s.apply("try vectorize nothing")
    assert s.text().count("try vectorize nothing\n") == 2


@pytest.mark.parametrize("path", ["none/x", "a\0b", "."])
def test_a_place_that_cannot_be_written_is_told(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PerfDojoError, match=r"cannot write|no file can be called"):
        Session(MATMUL, target="c").save(path)


def test_only_a_schedule_is_replayed() -> None:
    with pytest.raises(PerfDojoError, match="is no schedule"):
        Session(MATMUL, target="c").replay("schedule mm\nend\n")  # type: ignore[arg-type]
