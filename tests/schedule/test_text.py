"""Texts that are no schedule: each is told with its place and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfdojo import PerfDojoError
from perfdojo.compiler.schedule import parse_move, parse_schedule
from perfdojo.compiler.schedule.text import MAX_BYTES, parse_step
from perfdojo.finding import default_schedule, read_schedule


@pytest.mark.parametrize(
    ("lines", "place", "message", "hint"),
    [
        ("tile_scope i " + "9" * 5000, (2, 14), "an integer has at most 18 digits", "extents and"),
        ("reuse_dims t [0 -" + "1" * 19 + "]", (2, 17), "an integer has at most 18 digits", "extents and"),
        ("tile_scope i 4 ->", (2, 18), "unexpected the end of the line", "a name belongs here"),
        ("tile_scope i 4 -> 4", (2, 19), "unexpected '4'", "a name belongs here"),
        ("tile_scope i 4 -> a -> b", (2, 21), "unexpected '->'", "a line is a move"),
        ("reorder_dims x [1 0", (2, 20), "unexpected the end of the line", "in brackets: [1 0]"),
        ("reorder_dims x [,1]", (2, 17), "unexpected ','", "in brackets: [1 0]"),
        ("reorder_dims x [[0] 1]", (2, 17), "unexpected '['", "in brackets: [1 0]"),
        ("try", (2, 4), "unexpected the end of the line", "a name belongs here"),
        ("end\nschedule k", (3, 1), "unexpected 'schedule'", "nothing stands behind the line 'end'"),
        ("4 i", (2, 1), "unexpected '4'", "a line is a move"),
    ],
)
def test_syntax_errors_have_place_and_hint(
    lines: str, place: tuple[int, int], message: str, hint: str
) -> None:
    with pytest.raises(PerfDojoError) as caught:
        parse_schedule(f"schedule k\n{lines}\nend\n")
    assert caught.value.position == place
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("head", ["schedule", "schedule k on", "schedule k at strict on c", "SCHEDULE k"])
def test_a_wrong_first_line_shows_a_right_one(head: str) -> None:
    with pytest.raises(PerfDojoError) as caught:
        parse_schedule(f"{head}\nend\n")
    assert caught.value.hint == "the first line is: schedule KERNEL [on TARGET] [at FP]"


def test_every_part_of_a_schedule_is_refused_with_its_place(tmp_path: Path) -> None:
    whole = "schedule k on avx2 at reassoc # é\ntile_scope i 16 -> a b\ntry reorder a b\nend".encode()
    path = tmp_path / "k.sched"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(PerfDojoError) as caught:
            read_schedule(str(path))
        assert caught.value.position is not None, whole[:length]
        assert caught.value.hint, whole[:length]


def test_files_are_utf_8_text_of_at_most_a_mebibyte(tmp_path: Path) -> None:
    path = tmp_path / "k.sched"
    path.write_bytes(b"\xef\xbb\xbfschedule k\r\nvectorize i\r\nend\r\n")
    assert [str(s) for s in read_schedule(str(path)).steps] == ["vectorize i"]
    path.write_bytes("schedule k # é\n".encode() + b"vectorize \xff\nend\n")
    with pytest.raises(PerfDojoError, match=r"0xff\) is not UTF-8") as caught:
        read_schedule(str(path))
    assert caught.value.position == (2, 11)
    path.write_bytes(b"schedule k\nend\n#" + "é".encode() * (MAX_BYTES // 2))
    with pytest.raises(PerfDojoError, match="a schedule has at most 1048576"):
        read_schedule(str(path))


def test_what_lies_beside_a_kernel_and_is_no_schedule_is_told(tmp_path: Path) -> None:
    kernel, beside = tmp_path / "k.ir", tmp_path / "k.avx2.sched"
    kernel.write_text("")
    assert default_schedule(str(kernel), "avx2") is None
    beside.mkdir()
    with pytest.raises(PerfDojoError, match=r"k\.avx2\.sched is no file") as caught:
        default_schedule(str(kernel), "avx2")
    assert caught.value.hint == "--no-schedule plans without it"
    beside.rmdir()
    beside.symlink_to("nowhere")
    with pytest.raises(PerfDojoError, match="no file ") as caught:
        default_schedule(str(kernel), "avx2")
    assert "did you mean" not in caught.value.hint
    with pytest.raises(PerfDojoError, match="no file is called"):
        read_schedule("a\0b")


def test_one_line_is_one_move() -> None:
    with pytest.raises(PerfDojoError, match="one move belongs here") as caught:
        parse_move("tile_scope i 4\nvectorize i_i")
    assert caught.value.position == (2, 1)
    assert parse_step("try vectorize i").optional
    assert not parse_step("vectorize i").optional
