"""The order of accesses: single programs, sentences, and what is decided without isl."""

from __future__ import annotations

import pytest

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.order import (
    first_writer_becomes_reduction,
    least_shift,
    reversed_by_fission,
    reversed_by_interchange,
    reversed_by_join,
    reversed_by_swap,
)
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse


def program(*lines: str) -> Program:
    header = (
        "kernel k", "in x: f32[64]", "in g: i64[8] values(0, 8)", "inout a: f32[64]", "inout b: f32[64]",
        "inout c: f32[8, 8]", "inout s: f32[]", "inout n: i64[]", "tmp t: f32[8, 8] reuse(0)",
    )  # fmt: skip
    return bind(parse("\n".join((*header, *lines)) + "\n", "k"))


def test_a_clash_says_who_touches_what_when() -> None:
    transposed = program("i:8 j:8 c[{0},{1}] = c[{1},{0}] + 1")
    assert str(reversed_by_interchange(transposed, "i")) == (
        "c reads c[1,0] at i = 0, j = 1 and c writes it at i = 1, j = 0; they would change places"
    )
    rows = program("k:4 i:8 P: t[{0},{1}] = x[{1}]", "| | Q: c[{0},{1}] = t[{0},{1}]")
    assert str(reversed_by_fission(rows, "i", 1)) == "None"
    assert str(reversed_by_swap(rows, "P", "Q")) == (
        "P writes t[*,0] and Q reads it (at k = 0, i = 0); they would change places"
    )
    gathers = program("i:8 P: a[g[{0}]] = x[{0}]", "| Q: b[{0}] = a[{0}]")
    assert str(reversed_by_fission(gathers, "i", 1)) == (
        "Q can read a[0] at i = 0 and P can write it at i = 1; they would change places"
    )


def test_the_least_shift_is_the_largest_distance_ahead() -> None:
    ahead = program("p:16 a[{0}] = x[{0}]", "q:14 b[{0}] = a[{0} + 2]")
    assert least_shift(ahead, "p", "q") == 2
    assert reversed_by_join(ahead, "p", "q", 2) is None
    assert str(reversed_by_join(ahead, "p", "q", 1)) == (
        "a writes a[2] at p = 2 and b reads it at q = 0; they would change places"
    )
    behind = program("p:16 a[{0}] = x[{0}]", "q:13 b[{0}] = {0} >= 3 ? a[{0} - 3] : 0")
    assert [least_shift(behind, "p", "q", lowest=n) for n in (0, -2, -9)] == [0, -2, -3]
    whole = program("p:16 s[] += x[{0}]", "q:16 a[{0}] = x[{0}] / s[]")
    assert least_shift(whole, "p", "q") == 15
    strided = program("p:32 a[{0}] = x[{0}]", "q:16 b[{0}] = a[2*{0} + 1]")
    assert least_shift(strided, "p", "q") == 16
    apart = program("p:16 a[{0}] = x[{0}]", "q:16 b[{0}] = x[{0}]")
    assert [least_shift(apart, "p", "q", lowest=n) for n in (0, -16)] == [0, -16]


def test_reductions_change_their_order_where_they_may() -> None:
    found = program("i:8 j:8 s[] += c[{0},{1}]")
    assert reversed_by_interchange(found, "i") is not None
    assert reversed_by_interchange(found, "i", reductions=True) is None
    assert reversed_by_interchange(program("i:8 j:8 n[] += {0} * {1}"), "i") is None
    assert (
        reversed_by_interchange(program("i:8 j:8 s[] += s[] * c[{0},{1}]"), "i", reductions=True) is not None
    )
    two = program("i:8 P: s[] += x[{0}]", "| Q: s[] *= x[{0}]")
    assert reversed_by_fission(two, "i", 1, reductions=True) is not None


def test_a_scope_and_a_statement_change_places() -> None:
    found = program("P: s[] = x[0]", "i:8 a[{0}] = s[]", "b[0] = x[1]")
    assert reversed_by_swap(found, "P", "i") is not None
    assert reversed_by_swap(found, "i", "b") is None


def test_common_forms_are_decided_without_isl() -> None:
    found = program(
        "io:2 jo:2 ii:4 ji:4 t[{0}*4+{2},{1}*4+{3}] = x[{2}]",
        "| | i2:4 j2:4 c[{0}*4+{2},{1}*4+{3}] = t[{0}*4+{2},{1}*4+{3}]",
        "m:64 c[{0}//8,{0}%8] = a[{0}]",
        "r:8 q:8 b[{0}*8+{1}] = c[{0},{1}] if {0} <= {1}",
    )
    assert [reversed_by_interchange(found, s) is None for s in ("ii", "i2", "r")] == [True] * 3
    assert reversed_by_fission(found, "jo", 1) is None
    assert reversed_by_join(found, "ii", "i2") is not None
    assert least_shift(found, "m", "r") == 56
    assert not model(found)._sets, "isl was asked"


def test_a_reduction_becomes_the_first_writer_of_its_buffer() -> None:
    head = "kernel k\nin x: f32[8]\nout y: f32[8]\ninout z: f32[8]\n"
    found = bind(
        parse(head + "A: y[0] = 0\ni:7 B: y[{0} + 1] = 0\nj:1 C: y[7] += x[0]\nz[0] = 0\nz[0] += 1\n", "k")
    )
    a, i, j, z, z2 = found.body
    assert first_writer_becomes_reduction(found, (j,), (i,)) is None
    assert first_writer_becomes_reduction(found, (j,), (a, i)) == "C"
    assert first_writer_becomes_reduction(found, (i, j), (a,)) is None
    assert first_writer_becomes_reduction(found, (z2,), (z,)) is None


def test_a_question_that_is_too_complicated_is_answered_with_no(monkeypatch: pytest.MonkeyPatch) -> None:
    found = program("i:8 P: a[min({0}, 5)] = x[{0}]", "| Q: b[{0}] = a[{0}]")
    monkeypatch.setattr(model(found).sets, "window", _exceeded)
    assert str(reversed_by_fission(found, "i", 1)) == (
        "Q can read a[*] and P can write it in iterations that are too complicated to be decided; "
        "they would change places"
    )


def _exceeded(*_: object) -> None:
    raise Undecided
