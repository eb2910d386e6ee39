"""`perfdojoc play` driven by a pipe."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.cli import main

HERE = Path(__file__).parent / "schedules"

Play = Callable[..., str]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """Return `play(line, ..., options=[...])`: what is printed from the first line on."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(HERE / "mm.ir", tmp_path)

    def run(*lines: str, options: tuple[str, ...] = ()) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["play", "mm.ir", "-t", "avx2", *options]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert "Traceback" not in out
        return out.split("\n> ", 1)[-1]

    return run


def test_moves_are_listed_with_their_effect_and_made_by_number(play: Play) -> None:
    listed = play("moves tile_scope i")
    line = next(t for t in listed.splitlines() if "tile_scope i 4 " in t)
    number, text = line.split(maxsplit=1)
    assert "i -> i_o:12, i_i:4" in text
    made = play(number, "steps")
    assert f"{number}\ntile_scope i 4: i -> i_o:12, i_i:4\n" in made
    assert "- i:48 j:64 c_start: c[{0},{1}] = 0.0\n" in made
    assert "+ i_o:12 i_i:4 j:64 c_start: c[{0} * 4 + {1},{2}] = 0.0\n" in made
    assert "   1  tile_scope i 4\n" in made


def test_a_list_without_words_is_short_and_grouped(play: Play) -> None:
    listed = play("moves")
    assert "tile_scope  Split a scope into blocks of `factor` iterations.\n" in listed
    assert "more: moves tile_scope\n" in listed
    assert "no legal move with q; 'why MOVE' tells" in play("moves q")
    assert "vectorize j_i   j_i runs @vector" in play("tile_scope j 8", "moves vectorise j_i")


def test_a_number_is_that_of_the_list_that_was_seen(play: Play) -> None:
    listed = play("moves tile_scope j")
    number = next(t for t in listed.splitlines() if t.endswith("j -> j_o:8, j_i:8")).split()[0]
    out = play("moves", "vectorize j", "undo", "tile_scope i 4", number, number)
    assert "tile_scope j 8: j -> j_o:8, j_i:8\n" in out
    assert out.split("> " + number)[2].startswith("\nnot legal, condition 0: there is no scope j\n")


def test_moves_are_undone_edited_and_explained(play: Play) -> None:
    out = play("tile_scope j 8", "vectorize j_i", "undo", "redo", "edit 1 tile_scope j 16", "show", "drop 1")
    assert "undone: j_i runs in order\n" in out
    assert "redone: j_i runs @vector\n" in out
    assert "step 1 is tile_scope j 16: j_o: 8 -> 4 iterations; j_i: 8 -> 16 iterations\n" in out
    assert "error: step 1, vectorize j_i: there is no scope j_i\n" in out
    assert "the schedule is not saved; its moves were\nschedule mm on avx2 at strict\n" in out
    out = play("vectorize i", "why vectorize j", "why parallelize k", "undo", "insert 1 vectorize j")
    assert "not legal, condition 6: scope i would stay scalar: the elements of c" in out
    assert "\n> why vectorize j\nit is legal\n" in out
    assert "condition 4: scope k cannot run on threads: iterations 0 and 1 both write c[0,0]" in out
    assert "error: there is nothing to undo\n" in out
    assert "step 1 is vectorize j: j runs @vector\n" in out


def test_schedules_are_saved_and_loaded_and_drive_the_compiler(play: Play) -> None:
    out = play("tile_scope j 8", "vectorize j_i", "save", "undo", "load mm.avx2.sched", "quit", "steps")
    assert "saved mm.avx2.sched: perfdojoc mm.ir --target avx2 --schedule mm.avx2.sched\n" in out
    assert "loaded mm.avx2.sched: j_i runs @vector\n" in out
    assert "> steps" not in out
    assert "not saved" not in out
    assert Path("mm.avx2.sched").read_text().startswith("schedule mm on avx2 at strict\ntile_scope j 8\n")
    assert main(["mm.ir", "-t", "avx2", "--schedule", "mm.avx2.sched", "--emit", "ir"]) == 0
    out = play("steps", "save mm.ir", "save mm.avx2.sched", options=("--schedule", "mm.avx2.sched"))
    assert "   2  vectorize j_i\n" in out
    assert "error: mm.ir exists\nhint: save mm.ir force overwrites it\n" in out
    assert Path("mm.ir").read_text().startswith("kernel mm")


def test_programs_are_timed_and_checked(play: Play) -> None:
    out = play("time", "vectorize j", "time", "time", "check", options=("--budget", "0.05"))
    assert out.count("median") == 3
    assert "the previous time" in out
    assert "the first time" in out
    assert "of the derived bound" in out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("zorb", "no command and no move 'zorb'"),
        ("tile_scop i 4", "did you mean 'tile_scope'?"),
        ("tile_scope", "the scope is missing"),
        ("tile_scope i", "the factor is missing"),
        ("0", "there is no move 0"),
        ("99999", "there is no move 99999"),
        ("edit", "edit 2 tile_scope i 8"),
        ("edit 7 tile_scope i 4", "there are no steps yet"),
        ("drop x", "drop 2"),
        ("load", "load matmul"),
        ("load none.sched", "no file none.sched"),
        ("save /dev/null/x", "Not a directory"),
        ("why", "why tile_scope i 4"),
        ("tile_scope i 4 -> ( ;", "unexpected character"),
        ("\x00\x1b[2J", "no command"),
        ("redo", "nothing to redo"),
        ("help", "insert N MOVE         Put a move before step N"),
        ("help vectorise", "3. No scope around i or in it is @vector."),
        ("help zorb", "no transformation 'zorb'"),
        ("moves tile_scope", "more: moves tile_scope WORD"),
        ("9" * 5000, "no command and no move '999"),
        ("٣", "no command and no move '٣'"),
        ("drop " + "9" * 5000, "drop 2"),
        ("edit " + "9" * 5000 + " vectorize j", "edit 2 tile_scope i 8"),
        ("why tile_scope i " + "9" * 5000, "an integer has at most 18 digits"),
        ("recipe matmul mr=" + "9" * 5000, "of recipe matmul is not an integer"),
        ("tile_scope i 4 -> in", "in is a word of the language"),
        ("save none/x", "error: cannot write none/x: No such file or directory"),
        ("save " + "a" * 300, "File name too long"),
        ("save a\0b", "error: no file can be called"),
        ("load a\0b", "error: no file is called"),
    ],
)
def test_bad_input_is_told_and_the_game_goes_on(play: Play, line: str, words: str) -> None:
    out = play(line, "steps")
    assert words in out
    assert "that went wrong" not in out
    assert out.endswith("no move yet\n")


def test_wrong_calls_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "sofmax"]) == 1
    assert "did you mean 'softmax'?" in capsys.readouterr().err
    assert main(["play", "-"]) == 1
    assert "give the kernel as a file" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["play", "softmax", "-o", "out"])
    assert ended.value.code == 2
    assert "play takes no -o" in capsys.readouterr().err


def test_the_end_of_the_input_ends_it(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "perfdojo.cli", "play", str(HERE / "mm.ir"), "-t", "c"],
        input=b"",
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"'moves' lists them" in ended.stdout


def test_bytes_that_are_no_text_are_no_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "perfdojo.cli", "play", str(HERE / "mm.ir"), "-t", "c"],
        input=b"tile_scope \xe9 4\n\xff" + b"x" * 100_000 + b"\nsteps\n",
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"unexpected character" in ended.stdout
    assert b"no command and no move '\\udcffxxx" in ended.stdout
    assert ended.stdout.endswith(b"> steps\nno move yet\n")


def test_tab_completes_commands_moves_and_names(monkeypatch: pytest.MonkeyPatch) -> None:
    from perfdojo.cli.options import options, parser
    from perfdojo.cli.play.game import Game
    from perfdojo.session import Session

    _, o = options(parser(playing=True), [str(HERE / "mm.ir"), "-t", "c"])
    game = Game(Session(o.kernel, o.target), o)
    assert [game.completed("c_", n) for n in range(2)] == ["c_start ", None]
    assert [game.completed("re", n) for n in range(3)] == ["recipe ", "reciprocal ", "recompute "]
