"""Marks: iterations that meet are found, private temporaries and reductions in lanes are not."""

from __future__ import annotations

import pytest

from tests.validate.programs import judge

HEADER = "in x: f32[8]\ninout z: f32[8]\nout y: f32[8]\ntmp t: f32[8] reuse(0)\ntmp s: f32[]"
TAIL = "\n8 y[{0}] = z[{0}]"
MARKS = ("parallel", "grid_x", "core", "vector")

MEETING = {
    "a scan": ("7 z[{0}+1] = z[{0}]", "touch z[1], one of them writing"),
    "a shift": ("7 z[{0}] = z[{0}+1]", "touch z[1], one of them writing"),
    "one element": ("8 s[] = x[{0}]\nz[0] = s[]", "touch s[], one of them writing"),
    "shared scratch space": (
        "8 t[{0}] = x[{0}]\n| z[{0}] = t[{0}]\n1 t[{0}] = x[{0}]\n| z[{0}] += t[{0}]",
        "in which iteration 1 and iteration 0 touch t[0]",
    ),
    "scratch space that keeps a value": (
        "t[0] = 0\n8 t[{0}] = {0} % 2 == 0 ? x[{0}] : t[{0}]\n| z[{0}] = t[{0}]",
        "touch t[0], one of them writing",
    ),
    "several readers of what one writes": (
        "8 z[{0}] = {0} == 7 ? z[7] : z[7] + z[{0}]",
        "touch z[7], one of them writing",
    ),
}

FREE = {
    "elements": "8 z[{0}] = z[{0}] + x[7-{0}]",
    "private scratch space": "8 t[{0}] = x[{0}]\n| t[{0}] *= 2\n| z[{0}] = t[{0}]",
    "one read by all": "8 z[{0}] = x[0] + x[{0}]",
}


def _marked(body: str, mark: str) -> str:
    count, rest = body.split(" ", 1)
    if not count.isdigit():
        first, count, rest = body.split("\n", 1)[0] + "\n", *body.split("\n", 1)[1].split(" ", 1)
        return f"{first}{count}@{mark} {rest}{TAIL}"
    return f"{count}@{mark} {rest}{TAIL}"


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", MEETING)
def test_iterations_that_meet_are_found(name: str, mark: str) -> None:
    body, message = MEETING[name]
    found = judge(HEADER, body + TAIL, _marked(body, mark), "fast")
    assert not found.equal
    assert f"(@{mark}), in which iteration" in found.message
    assert message in found.message


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", FREE)
def test_iterations_that_do_not_meet_pass(name: str, mark: str) -> None:
    found = judge(HEADER, FREE[name] + TAIL, _marked(FREE[name], mark), "strict")
    assert found.equal, found.message


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("sign", ["+=", "*=", "max=", "min="])
def test_a_reduction_is_for_lanes_only(sign: str, mark: str) -> None:
    body = f"s[] = 0\n8 s[] {sign} x[{{0}}]\nz[0] = s[]"
    found = judge(HEADER, body + TAIL, _marked(body, mark), "reassoc")
    assert found.equal == (mark == "vector")


def test_lanes_do_not_read_what_they_reduce() -> None:
    body = "s[] = 0\n8 s[] += x[{0}]\n| z[{0}] = s[]"
    assert "touch s[]" in judge(HEADER, body + TAIL, _marked(body, "vector"), "fast").message


def test_lanes_do_not_mix_reductions() -> None:
    body = "s[] = 0\n8 s[] += x[{0}]\n| s[] *= x[{0}]\nz[0] = s[]"
    assert "touch s[]" in judge(HEADER, body + TAIL, _marked(body, "vector"), "fast").message


def test_inner_scopes_meet_in_outer_ones() -> None:
    header = "inout z: f32[4, 4]"
    body = "4 4{0} z[{1},0] = z[{1},{1}] + z[{0},0]"
    body = "4{0} 4{1} z[{{1}},0] = 1 + z[{{1}},1]"
    before, inner, outer = (body.format(*m) for m in (("", ""), ("", "@vector"), ("@parallel", "")))
    assert judge(header, before, inner, "strict").equal
    assert "scope i0 (@parallel)" in judge(header, before, outer, "strict").message


def test_one_iteration_meets_none() -> None:
    body = "1 z[{0}] = z[{0}+1]"
    assert judge(HEADER, body + TAIL, _marked(body, "parallel"), "strict").equal
