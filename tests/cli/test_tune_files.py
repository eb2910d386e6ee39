"""`--plot` and `--report` beside `--tune`: written at the end, refused before the search begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfdojo.cli import main
from perfdojo.tuning import plot
from perfdojo.tuning.tune import Tuner

CALL = ("relu", "-D", "M=8", "-D", "N=24", "-t", "c", "--tune", "--trials", "3", "--no-records")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> None:
        raise AssertionError("the search began")

    monkeypatch.setattr(Tuner, "run", run)


def test_a_report_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, "--report", "new/r.html", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["report"] == "new/r.html"
    text = Path("new/r.html").read_text("utf-8")
    assert "relu · c · reassoc · M=8 N=24" in text
    assert "gcc -std=c11" in text
    assert "int relu(" in text


def test_a_plot_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    assert main([*CALL, "--plot", "p.svg"]) == 0
    assert "plot      ✓ p.svg" in capsys.readouterr().out
    assert "planned" in Path("p.svg").read_text("utf-8")


@pytest.mark.usefixtures("no_search")
def test_without_matplotlib_no_search_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plot, "find_spec", lambda _: None)
    assert main([*CALL, "--plot", "p.svg"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "--plot draws with matplotlib, which is not installed: the extra 'plot' brings it" in err
    assert "pip install 'perfdojo[plot]'" in err


@pytest.mark.usefixtures("no_search")
def test_files_that_cannot_be_written_are_refused_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("dir.html").mkdir()
    assert main([*CALL, "--report", "dir.html"]) == 1
    assert "--report dir.html is a folder" in capsys.readouterr().err
    Path("file").touch()
    assert main([*CALL, "--report", "file/r.html"]) == 1
    assert "cannot make the folder file" in capsys.readouterr().err


def test_a_file_that_fails_at_the_end_loses_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    Path("full.html").symlink_to("/dev/full")
    assert main([*CALL, "--report", "full.html", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert "cannot write full.html: No space left" in told["error"]["message"]
    assert told["trials"] >= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plot", "p.svg"], "they go with --tune"),
        (["--report", "r.html"], "they go with --tune"),
        (["--tune", "--plot", "p.gif"], "ends in .svg, .png, .pdf"),
        (["--tune", "--report", "r.txt"], "ends in .html"),
    ],
)
def test_what_they_take_is_said(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["relu", *options])
    assert error.value.code == 2
    assert message in capsys.readouterr().err
