"""Schedules on the command line: what they make, which one is taken, and what is said of a wrong one.

`schedules/<what_is_wrong>.sched` is run on `schedules/mm.ir`; options after `# options:` in its first line.
What `perfdojoc` says is in the `.golden` beside it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.cli import main

HERE = Path(__file__).parent / "schedules"
WRONG = sorted(p.stem for p in HERE.glob("*.sched"))
GOOD = """schedule mm on avx2
tile_scope j 8 remainder peel
vectorize j_i
try vectorize j_t
end
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HERE / "mm.ir", tmp_path)
    (tmp_path / "good.sched").write_text(GOOD)
    return tmp_path


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_schedule_is_told_with_its_place_and_nothing_is_emitted(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[Path, str], None]
) -> None:
    shutil.copy(HERE / f"{name}.sched", folder)
    first = (HERE / f"{name}.sched").read_text().split("\n", 1)[0]
    options = first.removeprefix("# options:").split() if first.startswith("# options:") else []
    before = set(folder.iterdir())
    for stage in ([], ["--emit", "source"], ["--emit", "ir"], ["-o", "out"], ["--shared"]):
        assert main(["mm.ir", "-t", "avx2", "--schedule", f"{name}.sched", *options, *stage]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert set(folder.iterdir()) == before
    golden(HERE / f"{name}.golden", err)


def test_a_schedule_is_the_whole_truth(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mm.ir", "-t", "avx2", "--schedule", "good.sched", "--emit", "ir"]) == 0
    out, err = capsys.readouterr()
    assert err == "note: left out vectorize j_t: there is no scope j_t\n"
    assert out.split("\n\n")[1] == (
        "i:48 j_o:8 j_i:8@vector c_start: c[{0},{1} * 8 + {2}] = 0.0\n"
        "| | | k:32 c: c[{0},{1} * 8 + {2}] += a[{0},{3}] * b[{3},{1} * 8 + {2}]\n"
    )
    (folder / "empty.sched").write_text("schedule mm\nend\n")
    assert main(["mm.ir", "-t", "avx2", "--schedule", "empty.sched", "--emit", "ir"]) == 0
    assert "@" not in capsys.readouterr().out


def test_print_between_shows_each_step_and_what_it_changed(
    folder: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[Path, str], None]
) -> None:
    argv = ["mm.ir", "-t", "avx2", "--schedule", "good.sched", "--emit", "ir", "--print-between"]
    assert main([*argv, "-D", "N=67"]) == 0
    golden(HERE / "print_between.golden", capsys.readouterr().err)


@pytest.mark.parametrize("size", ["N=64", "N=67", "N=1", "N=1000"])
def test_what_a_schedule_makes_is_checked_against_the_kernel_as_written(
    folder: Path, capsys: pytest.CaptureFixture[str], size: str
) -> None:
    text = GOOD if size != "N=1" else "schedule mm\nvectorize k\nend\n"
    (folder / "good.sched").write_text(text)
    argv = ["mm.ir", "-t", "avx2", "--schedule", "good.sched", "-D", size, "--check", "--json"]
    assert main(argv) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["check"]["passed"] is not False
    assert found["schedule"] == [line for line in text.splitlines()[1:-1] if not line.startswith("try")]


def test_the_check_sees_a_program_that_differs_from_the_kernel(folder: Path) -> None:
    from dataclasses import replace

    from perfdojo.backends import emit
    from perfdojo.cli.job import Job, Result
    from perfdojo.cli.machine import choose_machine
    from perfdojo.cli.options import options, parser
    from perfdojo.cli.report import Screen
    from perfdojo.cli.schedules import Choice
    from perfdojo.compiler.schedule import Scheduled
    from perfdojo.session import Session

    s = Session("mm.ir", target="c")
    wrong = Session((folder / "mm.ir").read_text().replace("* b", "- b"), target="c")
    _, o = options(parser(), ["mm.ir", "-t", "c", "--check", "-q"])
    made = Scheduled(replace(wrong.program, source=s.original.source), "schedule mm\nend\n")
    emitted = emit(s.original, "c", scheduled=made)
    job = Job(o, Screen(silent=True), Result(), s.original, emitted, s.kernel, Choice())
    built = job.build(choose_machine(o, "c"))
    assert built is not None
    assert not job.check(built)


def test_the_schedule_beside_a_kernel_is_taken_unless_it_does_not_fit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mm.avx2.sched").write_text(GOOD.replace(" remainder peel", ""))
    taken = ["mm.ir", "-t", "avx2", "--emit", "ir"]
    assert main(taken) == 0
    out, _ = capsys.readouterr()
    assert "j_o:8 j_i:8@vector c_start" in out
    assert main(["mm.ir", "-t", "c", "--emit", "ir"]) == 0
    assert "j_o" not in capsys.readouterr().out
    assert main([*taken, "--no-schedule"]) == 0
    planned = capsys.readouterr().out
    assert "j_i:8@vector c_start" not in planned
    assert main([*taken, "-D", "N=67"]) == 0
    out, err = capsys.readouterr()
    assert err == (
        "note: planned, as mm.avx2.sched does not fit here: step 1, tile_scope j 8: "
        "8 does not divide the extent 67 of scope j\n"
    )
    (folder / "mm.avx2.sched").write_text("schedule mm at reassoc\nvectorize k\nend\n")
    assert main([*taken, "--fp", "strict"]) == 0
    assert "needs floating-point level reassoc; this is strict" in capsys.readouterr().err
    (folder / "mm.avx2.sched").write_text("schedule other\nend\n")
    assert main(taken) == 1
    assert "the schedule is for kernel other, this is mm" in capsys.readouterr().err


def test_the_source_says_which_schedule_made_it_and_how(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mm.ir", "-t", "avx2", "--schedule", "good.sched", "-o", "out", "-q"]) == 0
    text = (folder / "out" / "mm.c").read_text()
    assert "perfdojoc mm.ir --target avx2 --fp reassoc --schedule good.sched\n" in text
    assert " * Its schedule:\n *\n * schedule mm on avx2\n * tile_scope j 8 remainder peel\n" in text
    shutil.copy("good.sched", "mm.avx2.sched")
    assert main(["mm.ir", "-t", "avx2", "-o", "out2", "-q"]) == 0
    assert (folder / "out2" / "mm.c").read_text() == text.replace(" --schedule good.sched", "")
    assert "2 moves of mm.avx2.sched" in capsys.readouterr().out


def test_json_errors_carry_the_place_and_the_state(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "good.sched").write_text("schedule mm\ntile_scope j 8\nvectorize q\nend\n")
    assert main(["mm.ir", "-t", "avx2", "--schedule", "good.sched", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["file"], error["line"], error["column"]) == ("good.sched", 3, 11)
    assert error["message"] == "step 2, vectorize q: there is no scope q"
    assert "j_o:8 j_i:8" in error["state"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--schedule", "god.sched"], "did you mean 'good.sched'?"),
        (["--schedule", "."], "is a folder"),
        (["--schedule", "bytes.sched"], "not UTF-8"),
    ],
)
def test_a_file_that_is_none_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], words: str
) -> None:
    (folder / "bytes.sched").write_bytes(b"schedule mm\n\xff\nend\n")
    assert main(["mm.ir", "-t", "avx2", *argv]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err


def test_the_list_of_moves_has_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    from perfdojo.compiler.transforms import transform_names

    assert main(["--list-transforms"]) == 0
    out = capsys.readouterr().out
    assert "\ntile_scope SCOPE FACTOR [remainder exact|peel|mask" in out
    assert " [-> NAME NAME NAME]\n    Split a scope" in out
    assert main(["--list-transforms", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["transforms"]
    assert [t["name"] for t in listed] == list(transform_names())
    with pytest.raises(SystemExit):
        main(["mm.ir", "--schedule", "a", "--no-schedule"])
