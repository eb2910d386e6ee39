"""The command line for Snitch: one report, a listing, a trace, exit status 3 without the compiler."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from perfdojo.cli import main
from tests.cli.test_cli import run_json
from tests.toolchains.snitch.stand_in import executable

pytestmark = pytest.mark.skipif(
    shutil.which("riscv64-unknown-elf-gcc") is None, reason="needs gcc-riscv64-unknown-elf"
)

KERNEL = """\
# y = x + 1
kernel next
size N = 48
in  x: f64[N]
out y: f64[N]

N y[{0}] = x[{0}] + 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "next.ir").write_text(KERNEL)
    return tmp_path


CALL = ("next.ir", "--target", "snitch", "--no-schedule")


def test_cores_share_the_iterations_of_core_scopes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "next.ir").write_text(KERNEL.replace("\nN y", "\nN@core y"))
    for given, cores in (((), 8), (("--cores", "3"), 3)):
        status, found = run_json(capsys, *CALL, *given)
        assert status == 0
        assert (found["check"]["passed"], found["time"]["cores"]) == (True, cores)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--cores", "9", "--cores is between 1 and 8"),
        ("--cores", "0", "--cores is between 1 and 8"),
        ("--simulator", "spike", "no simulator 'spike'"),
        ("--simulator", "verilator:", "no simulator 'verilator:'"),
        ("--trace", ".", "--trace . is a folder"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, said: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*CALL, option, value])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err
    assert not (folder / "perfdojo-out").exists()


def test_the_main_job_emits_builds_checks_and_counts_cycles(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = run_json(capsys, *CALL)
    assert status == 0
    assert found["check"]["passed"] is True
    assert found["check"]["worst_over_bound"] <= 1
    time = found["time"]
    assert (time["unit"], time["cores"], time["memory"]) == ("cycles", 1, "tcdm")
    assert time["fpu_issues"] >= 48
    assert time["fpu_utilisation"] == time["fpu_issues"] / time["cycles"]
    assert 48 <= time["cycles"] <= time["cold_cycles"]
    assert all((folder / f).exists() for f in found["files"])
    assert "listing" not in found


def test_report_listing_and_trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, "--annotate", "--trace", "out/trace.json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    steps = [line.split()[0] for line in out.splitlines() if line.startswith("  ") and line[2] != " "]
    assert steps[-7:] == ["emit", "build", "check", "time", "fpu", "stalls", "trace"]
    assert "FPU utilisation" in out
    listing = out[out.index("address") :]
    assert "fadd.d" in listing
    names = {e["name"] for e in json.loads((folder / "out/trace.json").read_text())["traceEvents"]}
    assert "fadd.d" in names


def test_strict_is_bit_for_bit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, "--fp", "strict", "--check"]) == 0
    assert "bit for bit the reference" in capsys.readouterr().out


def test_banshee_checks_by_its_exit_code_and_is_not_timed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = run_json(capsys, *CALL, "--simulator", f"banshee:{executable(folder, 'banshee')}")
    assert status == 0, found
    assert found["check"]["passed"] is True
    assert found["check"]["worst_over_bound"] is None
    assert found["check"]["elements"] == 2 * 48
    assert found["time"]["cycles"] is None
    assert "not those of the RTL" in found["time"]["reason"]


def test_other_simulators_give_no_trace(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = executable(folder, "verilator")
    assert main([*CALL, "--annotate", "--simulator", f"verilator:{path}"]) == 1
    assert "--annotate needs the built-in simulator" in capsys.readouterr().err
    assert main([*CALL, "--simulator", "verilator:nothing"]) == 1
    assert "nothing is no program" in capsys.readouterr().err


def test_without_the_compiler_the_source_is_there_and_the_status_is_3(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "PATH", "")
    assert main([*CALL]) == 3
    _, err = capsys.readouterr()
    assert "apt-get install gcc-riscv64-unknown-elf" in err
    assert (folder / "perfdojo-out/snitch/next.h").exists()
    status, found = run_json(capsys, *CALL)
    assert status == 3
    assert "apt-get install gcc-riscv64-unknown-elf" in found["error"]["hint"]
    assert [Path(f).name for f in found["files"]] == ["next.S", "next.h"]
    assert (found["check"], found["time"]) == (None, None)


def test_there_is_no_library(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, "--shared"]) == 1
    assert "there are no shared libraries for snitch" in capsys.readouterr().err


def test_its_options_are_for_it_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--annotate"], ["--trace", "t.json"], ["--simulator", "banshee:x"]):
        with pytest.raises(SystemExit) as stop:
            main(["next.ir", "--target", "c", *option])
        assert stop.value.code == 2
        assert "are for --target snitch" in capsys.readouterr().err


def test_assembly_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CALL, "--emit", "asm"]) == 0
    assert "fadd.d" in capsys.readouterr().out


def test_play_counts_cycles(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"time\ntime\nquit\n")))
    assert main(["play", "next.ir", "--target", "snitch", "--no-schedule"]) == 0
    out = capsys.readouterr().out
    cycles = re.findall(r"✓ (\d+) cycles", out)
    assert len(cycles) == 2
    assert f"1.00 times as fast as {cycles[0]} cycles, the previous time" in out


def test_marks_that_are_not_followed_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "next.ir").write_text(
        """kernel next
in  x: f64[4, 8]
out y: f64[4, 8]
out z: f64[4, 8]

4@stream 8 y[{0},{1}] = exp(x[{0},{1}])
4 8@frep z[{0},{1}] = x[{0},{1}]
"""
    )
    assert main([*CALL, "--check"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  lower")]
    assert len(lines) == 1
    assert " · scope i0: not streamed, it computes exp" in lines[0]
    assert "(and 1 more: --emit lowered)" in lines[0]
    _, found = run_json(capsys, *CALL, "--check")
    assert found["notes"][0].startswith("scope i0: not streamed, it computes exp")
    assert found["notes"][1] == "scope i1_2: @frep needs a @stream scope around it"
    assert main([*CALL, "--emit", "source"]) == 0
    assert capsys.readouterr().err.count("note: scope ") == 2


def test_marks_of_the_planner_are_not_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run_json(capsys, "stencil5", "--target", "snitch", "-o", "out")
    assert (status, found["notes"]) == (0, [])


def test_threads_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*CALL, "--threads", "4"])
    assert stop.value.code == 2
    assert "a Snitch cluster has --cores" in capsys.readouterr().err


def test_no_flag_is_given_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kernel in (KERNEL, KERNEL.replace("\nN y", "\nN@core y")):
        (folder / "next.ir").write_text(kernel)
        _, found = run_json(capsys, *CALL, "--check")
        flags = [word for word in found["build"]["command"].split() if word.startswith("-")]
        assert len(flags) == len(set(flags))


def test_arguments_that_do_not_fit_the_tcdm_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # few elements of a large argument, which the simulator has done with soon
    (folder / "next.ir").write_text("kernel sum\nsize N = 9\nin x: i32[N]\nout s: i32[]\n\n9 s[] += x[{0}]\n")
    for size, told in (("40000", True), ("20000", False)):
        assert main([*CALL, "-D", f"N={size}", "--check"]) == 0
        out = capsys.readouterr().out
        assert ("of the TCDM are left for them: it reads main memory, without streams" in out) is told
        _, found = run_json(capsys, *CALL, "-D", f"N={size}", "--check")
        assert any("tcdm_tiles" in note for note in found["notes"]) is told
