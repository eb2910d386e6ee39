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
