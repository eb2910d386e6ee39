"""Whatever a child does is an outcome, and nothing of it stays behind."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from perfdojo.toolchains.process import Finished, Limits, run


def shell(script: str, limits: Limits | None = None) -> Finished:
    return run(["/bin/sh", "-c", script], limits or Limits(wall_s=20))


def python(code: str, limits: Limits) -> Finished:
    return run([sys.executable, "-c", code], limits)


def running(argument: str) -> list[str]:
    """Numbers of processes that have `argument` on their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if argument in (folder / "cmdline").read_text().split("\0") and int(folder.name) != os.getpid():
                found.append(folder.name)
        except OSError:
            continue
    return found


def test_output_and_status_come_back() -> None:
    done = shell("echo out; echo err >&2; exit 3")
    assert (done.outcome, done.code, done.stdout, done.stderr) == ("failed", 3, "out\n", "err\n")
    assert shell("true").outcome == "ok"


def test_a_program_that_does_not_exist_is_a_failure() -> None:
    done = run(["/nowhere/at/all"])
    assert done.outcome == "failed"
    assert "not found" in done.stderr


def test_a_folder_that_does_not_exist_is_a_failure() -> None:
    assert run(["true"], cwd=Path("/nowhere")).outcome == "failed"


def test_one_that_stops_is_not_waited_for() -> None:
    done = shell("kill -STOP $$; sleep 100", Limits(wall_s=20, processes=9))
    assert (done.outcome, done.signal, done.note) == ("crash", "SIGSTOP", "it stopped itself")
    assert done.seconds < 5


def test_files_are_limited(tmp_path: Path) -> None:
    script = f"exec head -c 3000000 /dev/zero > {tmp_path / 'big'}"
    assert shell(script, Limits(wall_s=20, file_bytes=4 << 20)).outcome == "ok"
    done = shell(script, Limits(wall_s=20, file_bytes=1 << 20))
    assert (done.outcome, done.signal) == ("crash", "SIGXFSZ")
    assert done.note == "it wrote a file of more than 1048576 bytes"
    assert (tmp_path / "big").stat().st_size <= 1 << 20


@pytest.mark.parametrize("name", ["SEGV", "ABRT", "FPE", "TERM"])
def test_a_signal_is_a_crash_with_its_name(name: str) -> None:
    done = shell(f"kill -{name} $$")
    assert (done.outcome, done.signal, done.code) == ("crash", f"SIG{name}", -1)


def test_a_kill_from_outside_is_taken_for_lack_of_memory() -> None:
    assert shell("kill -KILL $$").outcome == "out-of-memory"


def test_a_hang_is_a_timeout() -> None:
    start = time.monotonic()
    done = shell("sleep 60", Limits(wall_s=0.2))
    assert done.outcome == "timeout"
    assert done.note == "it ran longer than 0.2 s"
    assert time.monotonic() - start < 5


def test_processor_time_is_limited() -> None:
    done = shell("while :; do :; done", Limits(wall_s=20, cpu_s=1))
    assert (done.outcome, done.note) == ("timeout", "it used more than 1 s of processor time")


def test_endless_output_is_cut() -> None:
    done = run(["yes"], Limits(wall_s=20, output_bytes=10_000))
    assert done.outcome == "output-limit"
    assert len(done.stdout) == 10_000


def test_memory_is_limited() -> None:
    done = python("import mmap; mmap.mmap(-1, 1 << 30)", Limits(memory_bytes=600 << 20))
    assert (done.outcome, done.code) == ("out-of-memory", 1)
    assert python("import mmap; mmap.mmap(-1, 1 << 30)", Limits(memory_bytes=4 << 30)).outcome == "ok"


def test_the_number_of_processes_is_limited() -> None:
    done = shell("sleep 71.1 & sleep 71.1 & sleep 71.1 & wait", Limits(wall_s=20, processes=3))
    assert (done.outcome, done.note) == ("failed", "it started more than 3 processes")
    assert not running("71.1")


def test_a_child_that_left_the_group_is_killed_too() -> None:
    done = shell("setsid sleep 72.1 & echo started; exit 0")
    assert (done.outcome, done.stdout) == ("ok", "started\n")
    assert done.seconds < 10
    assert not running("72.1")


def test_a_grandchild_that_holds_the_output_open_does_not_delay_the_end() -> None:
    assert shell("sleep 73.1 & exit 0").seconds < 10
    assert not running("73.1")


def test_standard_input_is_empty() -> None:
    assert shell("cat").stdout == ""


def test_bytes_that_are_no_text_come_back_replaced() -> None:
    assert shell(r"printf '\377\n'").stdout == "\ufffd\n"
