"""Calls from bad surroundings: closed or full streams, things in the way, kernels far beyond the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from perfdojo.cli import main

PROGRAM = f"{sys.executable} -m perfdojo.cli"
KERNEL = "# é\nkernel twice\nsize N = 100\nin x: f32[N]\nout y: f32[N]\n\nN y[{0}] = x[{0}] * 2\n"


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "twice.ir"
    path.write_text(KERNEL)
    return path


def shell(command: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        ["sh", "-c", command],
        env={**os.environ, "PYTHONPATH": root, **env},
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("options", ["--version", "twice.ir --emit ir", "twice.ir --emit ir --json"])
def test_a_full_disk_behind_stdout_is_one_sentence(kernel: Path, options: str) -> None:
    ended = shell(f"{PROGRAM} {options} > /dev/full")
    assert ended.returncode == 1
    assert ended.stderr.endswith(b"No space left on device\n")
    assert ended.stderr.count(b"\n") == 1
    assert b"internal" not in ended.stderr


def test_closed_stdin_is_said(kernel: Path) -> None:
    ended = shell(f"{PROGRAM} - --emit ir <&-")
    assert ended.returncode == 1
    assert ended.stderr.startswith(b"error: standard input is closed")


def test_a_terminal_without_unicode_gets_escapes(kernel: Path) -> None:
    ended = shell(f"{PROGRAM} twice.ir --target c -o out", PYTHONIOENCODING="ascii")
    assert ended.returncode == 0
    assert ended.stderr == b""
    assert rb"twice \xb7 c" in ended.stdout
    assert "é" in Path("out/twice.c").read_text("utf-8")


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["twice.ir", "--fp", "sloppy"],
        ["twice.ir", "-D", "N"],
        ["twice.ir", "--seed", "-1"],
        ["twice.ir", "--threads", "5000"],
        ["twice.ir", "--emit", "ir", "--check"],
    ],
)
def test_wrong_usage_with_json_is_one_object(
    kernel: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*options, "--json"])
    out, err = capsys.readouterr()
    assert ended.value.code == 2
    assert err == ""
    assert json.loads(out)["error"]["message"]


@pytest.mark.parametrize("name", ["twice.c", "libtwice.so"])
def test_a_pipe_in_the_way_is_foreign_and_not_opened(
    kernel: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    Path("out").mkdir()
    os.mkfifo(f"out/{name}")
    shared = ["--shared"] if name.endswith(".so") else []
    assert main([str(kernel), "--target", "c", "-o", "out", *shared]) == 1
    assert f"out/{name} exists and was not" in capsys.readouterr().err


def test_a_name_that_no_file_can_have_is_an_error(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["x" * 5000 + ".ir"]) == 1
    assert capsys.readouterr().err.rstrip().endswith("File name too long")


def test_running_what_no_memory_holds_is_refused(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in ("--check", "--time"):
        assert main([str(kernel), "--target", "c", "-D", "N=10000000000000", step]) == 1
        assert "needs at least" in capsys.readouterr().err


def test_the_deepest_programs_are_printed(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sums = " + ".join("x[{0}]" for _ in range(190))
    kernel.write_text(f"kernel k\nin x: f32[8]\nout y: f32[8]\n\n8 y[{{0}}] = {sums}\n")
    assert main([str(kernel), "--target", "avx2", "--fp", "strict", "--emit", "source"]) == 0
    kernel.write_text(f"kernel k\nout y: f32[]\nin x: f32[2]\n\n{'2 ' * 64}y[] += x[{{63}}] * x[{{62}}]\n")
    assert main([str(kernel), "--target", "c", "--fp", "strict", "--emit", "source"]) == 0
    assert capsys.readouterr().err == ""
