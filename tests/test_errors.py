"""Wrong programs: one file each in tests/errors, with the exact message beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.text.parse import parse, read
from perfdojo.compiler.verify import verify

WRONG = sorted((Path(__file__).parent / "errors").glob("*.ir"))


def message(path: Path) -> str:
    with pytest.raises(PerfDojoError) as caught:
        verify(bind(read(path.name, path.read_bytes())))
    return str(caught.value) + "\n"


@pytest.mark.parametrize("path", WRONG, ids=lambda p: p.stem)
def test_wrong_program_has_its_message(path: Path, golden: Callable[[Path, str], None]) -> None:
    golden(path.with_suffix(".golden"), message(path))


def test_there_are_at_least_forty_wrong_programs() -> None:
    assert len(WRONG) >= 40


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"kernel k\0\n", "a NUL byte is not text"),
        (b"kernel k\nsize N = \xff\n", "byte 18 (0xff) is not UTF-8"),
        (
            b"# " + b"x" * 10_000_000 + b"\nkernel k\n",
            "the text has 10000012 bytes; a kernel has at most 1048576",
        ),
        (b"\x7fELF" + bytes(range(1, 200)), "is not UTF-8"),
    ],
)
def test_what_is_not_a_kernel_text_is_said(data: bytes, expected: str) -> None:
    started = time.monotonic()
    with pytest.raises(PerfDojoError, match=expected.replace("(", r"\(").replace(")", r"\)")):
        read("k.ir", data)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "deep",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "-" * 10_000 + "{0}",
        "1 + " * 10_000 + "1",
        "not " * 10_000 + "true",
    ],
)
def test_deep_expressions_are_an_error(deep: str) -> None:
    with pytest.raises(PerfDojoError, match="nested operations"):
        parse(f"kernel k\nout y: f32[4]\n\n4 y[{{0}}] = {deep}\n")


@pytest.mark.parametrize(
    "lines", ["4 " * 10_000 + "y[0] = 1\n", "4\n" + "".join("| " * n + "4\n" for n in range(1, 300))]
)
def test_deep_scopes_are_an_error(lines: str) -> None:
    with pytest.raises(PerfDojoError, match="nested scopes"):
        parse("kernel k\nout y: f32[4]\n\n" + lines)


@pytest.mark.parametrize("override", [{"M": 3}, {"N": 0}, {"N": -4}, {"N": 1 << 63}])
def test_wrong_overrides_are_errors(override: dict[str, int]) -> None:
    program = parse("kernel k\nsize N = 4\nout y: f32[N]\n\nN y[{0}] = 1\n")
    with pytest.raises(PerfDojoError, match=r"size|at least 1"):
        bind(program, override)
