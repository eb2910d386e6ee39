"""The command line: exit status, streams, files, JSON."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perfdojo.cli import main
from perfdojo.tuning.problem import recorded_problem
from perfdojo.tuning.records import Records
from perfdojo.tuning.trial import Trial

KERNEL = """\
# y = 2 x
kernel twice
size N = 100
in  x: f32[N]
out y: f32[N]

N y[{0}] = x[{0}] * 2
"""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "twice.ir"
    path.write_text(KERNEL)
    return path


def run_json(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    status = main([*argv, "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    found: dict[str, Any] = json.loads(out)
    return status, found


def test_main_job_emits_builds_checks_and_times(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(capsys, str(kernel), "--target", "c", "--budget", "0.05")
    assert status == 0
    assert found["kernel"] == "twice"
    assert found["target"] == "c"
    assert found["sizes"] == {"N": 100}
    assert found["check"]["passed"] is True
    assert found["check"]["worst_over_bound"] <= 1
    assert 0 < found["time"]["min_s"] <= found["time"]["median_s"]
    assert found["limit"]["bound"] in ("compute", "memory")
    assert [Path(f).name for f in found["files"]] == ["twice.c", "twice.h"]
    assert all(Path(f).exists() for f in found["files"])


def test_report_is_on_stdout_and_nothing_on_stderr(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(kernel), "--target", "c", "--budget", "0.05"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "twice · c · reassoc · N=100" in out
    for step in ("emit", "build", "check", "time"):
        assert f"  {step}" in out


def test_output_folder_alone_writes_files_only(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(capsys, str(kernel), "--target", "c", "-o", "out", "--cmake")
    assert status == 0
    assert found["check"] is None
    assert found["time"] is None
    assert {Path(f).name for f in found["files"]} == {"twice.c", "twice.h", "CMakeLists.txt"}


def test_foreign_files_are_not_overwritten_without_force(
    kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    Path("out/twice.c").write_text("int mine;\n")
    argv = [str(kernel), "--target", "c", "-o", "out"]
    assert main(argv) == 1
    assert "was not written by perfdojo" in capsys.readouterr().err
    assert Path("out/twice.c").read_text() == "int mine;\n"
    assert not Path("out/twice.h").exists()
    assert main([*argv, "--force"]) == 0
    assert main(argv) == 0


def test_standard_input_and_sizes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(KERNEL.encode())))
    assert main(["-", "--emit", "ir", "--target", "c", "-D", "N=7"]) == 0
    assert "size N = 7 fixed" in capsys.readouterr().out


@pytest.mark.parametrize("stage", ["ir", "lowered", "source", "asm"])
def test_stages_go_to_stdout(kernel: Path, capsys: pytest.CaptureFixture[str], stage: str) -> None:
    assert main([str(kernel), "--target", "c", "--emit", stage]) == 0
    out, err = capsys.readouterr()
    assert "twice" in out
    assert err == ""


def test_emission_is_deterministic(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for seed in ("1", "2"):
        command = [
            sys.executable,
            "-m",
            "perfdojo.cli",
            str(kernel),
            "--target",
            "avx512",
            "--emit",
            "source",
        ]
        outputs.append(
            subprocess.run(
                command,
                capture_output=True,
                check=True,
                cwd=Path(__file__).parents[2],
                env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
        )
    assert outputs[0] == outputs[1]


def test_shared_library_is_called_from_python(kernel: Path) -> None:
    import numpy as np

    import perfdojo

    assert main([str(kernel), "--target", "c", "--shared", "-q"]) == 0
    twice = perfdojo.load("libtwice.so")
    x = np.arange(100, dtype=np.float32)
    assert np.array_equal(np.asarray(twice(x)), 2 * x)


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["nowhere.ir"], 1, "no file nowhere.ir"),
        (["sofmax"], 1, "did you mean 'softmax'?"),
        (["softmax", "--target", "avx51"], 1, "did you mean 'avx512'?"),
        (["softmax", "-D", "M=3"], 1, "no size 'M'"),
        (["softmax", "-D", "N=0"], 1, "it is at least 1"),
        (["."], 1, "is a folder"),
    ],
)
def test_errors_are_one_sentence_and_a_hint(
    argv: list[str], status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "argv",
    [[], ["softmax", "-D", "N"], ["softmax", "--fp", "loose"], ["softmax", "--threads", "0"], ["--nope"]],
)
def test_usage_errors_exit_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    assert capsys.readouterr().out == ""


def test_json_errors_carry_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.ir"
    path.write_text(KERNEL.replace("x[{0}]", "z[{0}]"))
    status, found = run_json(capsys, str(path), "--target", "c")
    assert status == 1
    assert found["error"] == {
        "message": "no buffer 'z'",
        "file": str(path),
        "line": 7,
        "column": 12,
        "hint": "declare it in the header",
    }


def test_missing_compiler_exits_with_3(
    kernel: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert main([str(kernel), "--target", "c"]) == 3
    assert "apt-get install gcc" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [["--list-kernels"], ["--list-targets"], ["--completion", "bash"], ["--version"]]
)
def test_information(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 0
    assert len(capsys.readouterr().out) > 10


@pytest.mark.parametrize("kernel", ["softmax", "cumsum"])
def test_explain_tells_limits_traffic_and_the_main_loop(
    kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, result = run_json(capsys, kernel, "--target", "c", "--explain", "--budget", "0.05")
    assert status == 0
    found = result["explain"]
    assert found["loop"]["instructions"] > 0
    assert all(c["bytes"] > 0 and c["seconds"] > 0 for c in found["caches"])
    assert main([kernel, "--target", "c", "--explain", "--budget", "0.05"]) == 0
    text = capsys.readouterr().out
    assert "main loop of" in text
    assert "bounds it" in text
    if kernel == "cumsum":
        assert "its main loop is scalar" in text


def test_explain_is_for_targets_with_a_clock(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["softmax", "--target", "cuda", "--explain"])
    assert error.value.code == 2
    assert "--explain is for targets that are timed by the clock" in capsys.readouterr().err


def test_tune_finds_keeps_and_takes_a_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PERFDOJO_RECORDS", str(tmp_path / "records.sqlite"))
    call = ("relu", "-D", "M=8", "-D", "N=24", "--target", "c")
    status, told = run_json(
        capsys, *call, "--tune", "--time", "30s", "--trials", "9", "-o", str(tmp_path / "out")
    )
    assert status == 0
    assert told["trials"] >= 9
    assert told["outcomes"]["ok"] >= 8
    assert told["best"] <= 1.05 * min(told["baselines"].values())
    if told["schedule"]:
        assert Path(told["file"]).read_text() == told["schedule"]
    assert main([*call, "--check"]) == 0
    assert "record " in capsys.readouterr().out
    assert main([*call, "--check", "--no-records"]) == 0
    assert "record " not in capsys.readouterr().out


def test_a_record_with_moves_of_another_version_is_told_and_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PERFDOJO_RECORDS", str(tmp_path / "records.sqlite"))
    call = ("relu", "-D", "M=8", "-D", "N=24", "--target", "c")
    assert main([*call, "--tune", "--trials", "3", "-q"]) == 0
    records = Records(tmp_path / "records.sqlite")
    (row,) = records.problems()
    stale = Trial("schedule relu\nteleport n\nend\n", "ok", samples=(1e-12,))
    records.add(recorded_problem(row), stale)
    records.settle(recorded_problem(row), [(stale.schedule, stale.samples)])
    assert main([*call, "--check"]) == 0
    assert "does not fit any more: no transformation 'teleport'" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tune", "--time", "60x"], "write a duration"),
        (["--trials", "5"], "go with --tune"),
        (["--tune", "--emit", "ir"], "--tune finds a schedule"),
    ],
)
def test_tune_says_what_it_takes(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        main(["relu", *options])
    assert error.value.code == 2
    assert message in capsys.readouterr().err


def test_targets_without_a_clock_are_not_tuned(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["relu", "--target", "cuda", "--tune", "--no-records"]) == 1
    assert "target cuda is not timed here" in capsys.readouterr().err


def test_records_are_listed_and_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from perfdojo.cli.tools import main as tools

    monkeypatch.setenv("PERFDOJO_RECORDS", str(tmp_path / "records.sqlite"))
    assert tools(["records", "list"]) == 1
    assert "there are no records" in capsys.readouterr().err
    assert main(["relu", "-D", "M=8", "-D", "N=24", "-t", "c", "--tune", "--trials", "3", "-q"]) == 0
    capsys.readouterr()
    for way in ("list", "best", "show"):
        assert tools(["records", way]) == 0
        assert "relu M=8 N=24 · c" in capsys.readouterr().out
    assert tools(["records", "export"]) == 0
    lines = tmp_path / "lines"
    lines.write_text(capsys.readouterr().out)
    other = str(tmp_path / "other.sqlite")
    assert tools(["records", "--file", other, "import", str(lines)]) == 0
    assert "trials were new" in capsys.readouterr().out
    lines.write_text("{}\n")
    assert tools(["records", "--file", other, "import", str(lines)]) == 1
    assert "line 1 is no record" in capsys.readouterr().err


def test_a_broken_file_of_records_is_told_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "records.sqlite"
    path.write_bytes(b"no database")
    monkeypatch.setenv("PERFDOJO_RECORDS", str(path))
    assert main(["relu", "-D", "M=8", "-t", "avx2", "--emit", "source"]) == 0
    said = capsys.readouterr()
    assert "no record is taken" in said.err
    assert "Its schedule:" in said.out
    assert main(["relu", "-D", "M=8", "-t", "neon", "--emit", "source"]) == 0
    assert "no record is taken" not in capsys.readouterr().err
    assert path.read_bytes() == b"no database"


def test_a_record_of_another_version_does_not_end_a_compilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "records.sqlite"
    monkeypatch.setenv("PERFDOJO_RECORDS", str(path))
    relu = ["relu", "-D", "M=8", "-D", "N=24", "-t", "c"]
    assert main([*relu, "--tune", "--trials", "1", "-q"]) == 0
    with sqlite3.connect(path) as db:
        db.execute("delete from finals")
        text = "schedule relu\nmove_of_then n 8\nend\n"
        db.execute("update trials set schedule = ? where id = (select min(id) from trials)", (text,))
        db.execute("update trials set samples = '[1.0]' where schedule != ?", (text,))
    capsys.readouterr()
    assert main([*relu, "--emit", "source"]) == 0
    assert "does not fit any more: no transformation" in capsys.readouterr().err
