"""Programs that `verify` accepts, and how long it takes: sizes never count, only the text does."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import perfdojo
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify

HUGE = 10**12
KERNELS = sorted((Path(perfdojo.__file__).parent / "kernels").glob("*.ir"))


def program(*lines: str, size: int = 64) -> Program:
    header = [f"size N = {size}", "in x: f32[N]", "in g: f32[2*N]", "in flag: bool[N]", "in k: i64[N]"]
    header += ["in idx: i64[N] values(0, 64)", "in j: i32[N]", "out y: f32[N]", "inout z: f32[N]"]
    header += ["tmp t: f32[N]", "tmp s: f32[]", "tmp e: f32[N, N] reuse(0, 1)"]
    return bind(parse("\n".join(("kernel k", *header, *lines)) + "\n", "k.ir"))


ACCEPTED = {
    "a stencil by condition": "N y[{0}] = {0} >= 1 and {0} + 1 < N ? x[{0}-1] + x[{0}+1] : x[{0}]",
    "a condition turned round": "N y[{0}] = not ({0} < 1 or {0} + 1 >= N) ? x[{0}-1] + x[{0}+1] : x[{0}]",
    "a masked tail": (
        "((N+15)//16)@parallel 16@vector t[{0}*16+{1}] = x[{0}*16+{1}] if {0}*16+{1} < N\n"
        "((N+15)//16)@parallel 16@vector y[{0}*16+{1}] = t[{0}*16+{1}] if {0}*16+{1} < N"
    ),
    "tiles in another order": "16 (N//16) t[{1}*16+{0}] = x[{1}*16+{0}]\nN y[{0}] = t[N-1-{0}]",
    "two halves": "(N//2) t[2*{0}] = x[{0}]\n(N//2) t[2*{0}+1] = x[{0}]\nN y[{0}] = t[{0}]",
    "two halves by condition": (
        "N t[{0}] = 1 if {0} % 2 == 0\nN t[{0}] = 2 if {0} % 2 != 0\nN y[{0}] = t[{0}]"
    ),
    "from both ends": "(N//2)@parallel y[{0}] = x[{0}]\n| y[N-1-{0}] = x[{0}]",
    "two parts that a condition and its contrary leave": (
        "N t[{0}] = 1 if not ({0} >= 9 and {0} < 20)\nN t[{0}] = 2 if {0} > 8 and {0} < 20\nN y[{0}] = t[{0}]"
    ),
    "a prefix sum": "N y[{0}] = {0} == 0 ? x[0] : y[{0}-1] + x[{0}]",
    "a prefix sum begun before": "y[0] = x[0]\n(N-1) y[{0}+1] = y[{0}] + x[{0}+1]",
    "a recurrence backwards": "y[N-1] = x[0]\n(N-1) y[N-2-{0}] = y[N-1-{0}]",
    "a read behind the same condition": "N t[{0}] = 1 if flag[{0}]\n| y[{0}] = flag[{0}] ? t[{0}] : 0",
    "a read behind more than the same condition": (
        "N t[{0}] = 1 if flag[{0}] and x[{0}] > 0\n| y[{0}] = x[{0}] > 0 and flag[{0}] ? t[{0}] : 0"
    ),
    "storage that is not materialised": "N e[{0},{0}] = x[{0}]\n| y[{0}] = e[{0},{0}]",
    "a read of the triangle written": (
        "N t[{0}] = x[{0}] if {0} < 40\nN y[{0}] = {0} < 40 ? t[{0}] : 0"
    ),
    "a promised gather": "N y[{0}] = x[min(idx[{0}], N-1)]",
    "a clamped gather": "N y[{0}] = x[min(max(k[{0}], 0), N-1)]",
    "a remainder of data": "N y[{0}] = x[i64(j[{0}]) % N]",
    "a gather behind its own test": "N y[{0}] = k[{0}] >= 0 and k[{0}] < N ? x[k[{0}]] : 0",
    "a gather of what is written whole": "N t[{0}] = x[{0}]\nN y[{0}] = t[min(max(k[{0}], 0), N-1)]",
    "a scatter over initial values": "N y[{0}] = 0\nN y[min(idx[{0}], N-1)] = 1",
    "a histogram initialised": "N y[{0}] = 0\nN y[min(idx[{0}], N-1)] += 1",
    "an overlap-add initialised": "N y[{0}] = 0\n(N-2) 3 y[{0}+{1}] += x[{0}]",
    "an overlap-add started as a whole": "2 (N-2) 3 y[{1}+{2}] += x[{1}]",
    "a scalar of its own for each thread": "N@parallel s[] = x[{0}]\n| y[{0}] = s[]",
    "an accumulator of its own for each thread": "N@parallel s[] = 0\n| N s[] += x[{1}]\n| y[{0}] = s[]",
    "a sum in lanes": "N@vector s[] += x[{0}]\nN y[{0}] = s[]",
    "an abs index": "N y[{0}] = x[abs({0} - 3)]",
    "a select index": "N y[{0}] = x[({0} < 3 ? 0 : {0} - 3)]",
    "a narrow index": "N y[{0}] = x[i64(u8({0})) % N]",
    "a negative divisor": "N y[{0}] = x[-({0} // -2)//2]",
    "a start that a guard keeps inside": "2 (N+2) y[{1}-1] += 1 if {1} >= 1 and {1} <= N",
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepts(name: str) -> None:
    whole = ACCEPTED[name] if " y[" in ACCEPTED[name] else ACCEPTED[name] + "\nN y[{0}] = 0"
    verify(program(*whole.split("\n")))


@pytest.mark.parametrize("name", [n for n in ACCEPTED if "16" not in n and "3 y" not in ACCEPTED[n]])
def test_accepts_at_sizes_of_a_million_million(name: str) -> None:
    found = program(*ACCEPTED[name].split("\n"), size=HUGE)
    assert _seconds(found) < 0.5


REFUSED = {
    # what the statements leave undone, and a part of the message
    "every second element": ("(N//2) t[2*{0}] = 1\n(N-2) z[{0}] = t[{0}+1]", "t[1] is read"),
    "one of three constants": ("t[0] = 1\nt[2] = 1\nN y[{0}] = t[min({0}, 2)]", "t[1] is read"),
    "the first element": ("N t[{0}] = 1 if {0} >= 1\nN y[{0}] = t[{0}]", "t[0] is read"),
    "the last element": ("N t[{0}] = 1 if {0} < N-1\nN y[{0}] = t[{0}]", "t[63] is read"),
    "elements in the middle": (
        "N t[{0}] = 1 if not ({0} >= 10 and {0} < 20)\nN y[{0}] = t[{0}]", "t[10] is read at n_2 = 10",
    ),
    "what a flag forbids": ("N t[{0}] = 1 if flag[{0}]\n| y[{0}] = t[{0}]", "t[0] can be read"),
    "what a flag of another element forbids": (
        "N t[{0}] = 1 if flag[{0}]\nN y[{0}] = flag[{0}] ? t[{0}] : 0", "t[0] can be read",
    ),
    "what a condition forbids that has changed since": (
        "N t[{0}] = 1 if z[0] > 0\n| z[0] = 5\n| y[{0}] = z[0] > 0 ? t[{0}] : 0", "t[0] can be read",
    ),
    "a copy for each thread, which reads the one before": (
        "N@parallel y[{0}] = {0} >= 1 ? s[] : 0\n| s[] = x[{0}]",
        "iteration 1 reads s[] and iteration 2 writes it",
    ),
    "a copy for each thread, which is read behind them": (
        "N@parallel s[] = x[{0}]\nN y[{0}] = s[]", "iterations 0 and 1 both write s[]",
    ),
    "starts of inner iterations that meet": (
        "4 16 y[{0}*16+{1}//2] += 1", "starts y[0] at i0 = 0, i1 = 0 and again at i0 = 0, i1 = 1",
    ),
    "a scalar that a scope wants to share": (
        "N@parallel N s[] += x[{1}]\n| y[{0}] = s[]", "iterations 0 and 1 both write s[]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str) -> None:
    lines, message = REFUSED[name]
    with pytest.raises(PerfDojoError) as caught:
        verify(program(*lines.split("\n")))
    assert message in caught.value.message


def _seconds(found: Program) -> float:
    started = time.process_time()
    verify(found)
    return time.process_time() - started


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_accepts_the_library(path: Path) -> None:
    verify(bind(parse(path.read_text(encoding="utf-8"), path.name)))


def test_a_softmax_takes_under_ten_milliseconds() -> None:
    text = (KERNELS[0].parent / "softmax.ir").read_text(encoding="utf-8")
    assert min(_seconds(bind(parse(text, "softmax.ir"))) for _ in range(5)) < 0.010


def _chain(count: int) -> list[str]:
    lines = ["N y[{0}] = x[{0}]"]
    return [*lines, *(f"N y[{{0}}] = y[{{0}}] + g[{{0}} + {i % 50}]" for i in range(count - 1))]


def _unrolled(count: int) -> list[str]:
    lines = [f"t[{i}] = x[{i}]" for i in range(count // 2)]
    return [*lines, *(f"y[{i}] = t[{count // 2 - 1 - i}]" for i in range(count // 2))]


@pytest.mark.parametrize("make", [_chain, _unrolled], ids=["loops", "unrolled"])
def test_two_thousand_statements_take_under_seven_tenths_of_a_second(
    make: Callable[[int], list[str]],
) -> None:
    assert _seconds(program(*make(2000), size=1000)) < 0.7


def test_conditions_that_are_too_complicated_are_refused_in_time() -> None:
    parts = [f"({{0}} * {i + 3} % {i + 7} == {i} and {{0}} // {i + 2} % {i + 5} != 3)" for i in range(30)]
    found = program(f"N t[{{0}}] = 1 if {' or '.join(parts)}", "N y[{0}] = t[{0}]", size=10**9)
    started = time.process_time()
    with pytest.raises(PerfDojoError, match="could not be decided: its integer sets are too complicated"):
        verify(found)
    assert time.process_time() - started < 2


def test_messages_do_without_a_text() -> None:
    found = program("N y[{0}] = x[{0}+1]")
    bare = Program(found.name, found.sizes, found.buffers, found.body)
    with pytest.raises(PerfDojoError) as caught:
        verify(bare)
    assert str(caught.value).startswith(
        "error: x[{0} + 1]: index 64 of dimension 0 is out of bounds (64 elements) at n = 63\n"
    )
