"""`--validate`: schedules and plans are compared with the kernel, at sizes that are small enough."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from perfdojo import PerfDojoError, Session
from perfdojo.cli import main
from perfdojo.compiler.transforms.parallelize import Parallelize
from perfdojo.compiler.transforms.reorder import Reorder

HERE = Path(__file__).parent / "schedules"
STEPS = "tile_scope j 8 remainder peel\nvectorize j_i\ntile_scope i 4\nreorder i_i j_o\n"
SUM = "kernel s\nin x: f32[6, 8]\nout y: f32[1]\n\ni:6 j:8 y[0] += x[{0},{1}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HERE / "mm.ir", tmp_path)
    return tmp_path


def _write(steps: str, kernel: str = "mm") -> None:
    Path("a.sched").write_text(f"schedule {kernel}\n{steps}end\n")


def _validated(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> dict[str, Any]:
    assert main([*argv, "-t", "avx2", "--validate", "--json"]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def _allow_all(monkeypatch: pytest.MonkeyPatch, move: type) -> None:
    """Plant a fault: the move has no conditions any more."""
    monkeypatch.setattr(move, "violations", lambda *args: iter(()))


def test_small_kernels_are_validated_at_the_given_sizes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write("tile_scope j 8 remainder peel\nvectorize j_i\n")
    assert main(["mm.ir", "-t", "avx2", "--schedule", "a.sched", "--validate", "-D", "N=43"]) == 0
    out, err = capsys.readouterr()
    assert (out.splitlines()[-1], err) == (
        "  validate  ✓ identical at reassoc, sizes M=48 N=43 K=32, 2 steps",
        "",
    )
    assert sorted(p.name for p in folder.iterdir()) == ["a.sched", "mm.ir"]


def test_large_kernels_are_validated_at_smaller_sizes_and_with_odd_remainders(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(STEPS)
    sizes = ("-D", "M=480", "-D", "N=640", "-D", "K=320")
    found = _validated(capsys, "mm.ir", "--schedule", "a.sched", *sizes)["validate"]
    assert found["passed"] is True
    assert found["given_sizes"] is False
    assert found["steps"] == 4
    first, second = found["sizes"]
    assert all(first[n] < v for n, v in (("M", 480), ("N", 640), ("K", 320)))
    assert first["M"] % 4 == 0
    assert second != first


def test_sizes_are_found_at_which_large_blocks_fit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write("tile_scope i 40\ntile_scope j 16\n")
    found = _validated(capsys, "mm.ir", "--schedule", "a.sched", "-D", "M=960", "-D", "K=960")["validate"]
    assert found["sizes"][0]["M"] % 40 == 0
    assert found["sizes"][0]["M"] < 960


def test_no_sizes_are_small_enough(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write("tile_scope i 512\ntile_scope j 512\ntile_scope k 512\n")
    argv = ["mm.ir", "-t", "c", "--schedule", "a.sched", "--validate"]
    assert main([*argv, *(f"-D{n}=1024" for n in "MNK")]) == 1
    err = capsys.readouterr().err
    assert "and still 134479872 at M=512 N=512 K=512, the smallest sizes found at which the" in err
    assert "-D gives other sizes" in err


def test_plans_are_validated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mm.ir", "-t", "avx2", "--validate"]) == 0
    assert "✓ identical at reassoc, sizes M=48 N=64 K=32, as planned\n" in capsys.readouterr().out
    assert len(_validated(capsys, "matmul")["validate"]["sizes"]) == 2


def test_the_first_step_that_differs_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("s.ir").write_text(SUM)
    _write("tile_scope i 3\nreorder i_i j\nunroll j\n", "s")
    _allow_all(monkeypatch, Reorder)
    argv = ["s.ir", "--schedule", "a.sched"]
    assert _validated(capsys, *argv)["validate"]["passed"] is True
    found = _validated(capsys, *argv, "--fp", "strict", status=1)
    told = found["validate"]
    assert (told["passed"], told["differs_at_step"], told["step"]) == (False, 2, "reorder i_i j")
    assert told["element"] == "y[0]"
    assert told["original"] != told["transformed"]
    assert found["error"]["message"].startswith(
        "step 2, reorder i_i j, changes what is computed: y[0] differs"
    )
    assert main([*argv, "-t", "c", "--fp", "strict", "--validate", "--check"]) == 1
    out = capsys.readouterr().out
    assert "  validate  ✗ step 2, reorder i_i j, changes what is computed: y[0] differs at strict\n" in out
    assert "build" not in out


def test_the_first_step_is_found_where_only_the_last_state_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("perfdojo.compiler.schedule.validation.EVERY", 0)
    _allow_all(monkeypatch, Parallelize)
    s = Session(SUM, target="c")
    for move in ("tile_scope i 3", "tile_scope j 4", "parallelize j_o", "unroll j_i"):
        s.apply(move)
    found = s.validate()
    assert (found.equal, found.number, found.step) == (False, 3, "parallelize j_o")
    s.undo()
    s.edit(3, "unroll j_o")
    assert str(s.validate()) == "identical at reassoc, 3 steps (the last state only)"


def test_optional_steps_that_change_with_the_size_are_told(folder: Path) -> None:
    _write("try tile_scope i 500\n")
    sizes = {"M": 1000, "N": 640, "K": 320}
    found = Session("mm.ir", target="c", sizes=sizes, schedule="a.sched").validate()
    assert found.equal
    assert found.note == (
        "made here and left out at the given sizes, or the other way round: step 1, try tile_scope i 500"
    )


def test_a_kernel_without_sizes_that_is_too_large_is_told() -> None:
    s = Session("kernel big\nout y: f32[2000, 1000]\n\ni:2000 j:1000 y[{0},{1}] = 0\n", target="c")
    with pytest.raises(PerfDojoError, match="takes 2000000 executions or elements, over the limit"):
        s.validate()


def test_play_validates(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("validate\nparallelize k\nvalidate\n"))
    _allow_all(monkeypatch, Parallelize)
    assert main(["play", "mm.ir", "-t", "c"]) == 0
    out = capsys.readouterr().out
    assert "> validate\nidentical at reassoc, sizes M=48 N=64 K=32, 0 steps\n" in out
    assert "step 1, parallelize k, changes what is computed at M=48 N=64 K=32" in out


def test_validation_is_no_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["softmax", "--emit", "ir", "--validate"])
    assert "runs nothing" in capsys.readouterr().err
