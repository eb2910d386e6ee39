"""Footprints: the set is what a run touches, the box holds it, and is it where it says so."""

from __future__ import annotations

import itertools

import islpy as isl
import pytest

from perfdojo.compiler.analysis.affine import Affine, Atom, Division
from perfdojo.compiler.analysis.footprint import Box, Extent, footprint_box, footprint_set
from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse

HEADER = ["in x: f32[64, 64]", "in v: f32[64]", "in k: i32[64] values(0, 9)", "out y: f32[64, 64]"]


def program(*lines: str) -> Program:
    return bind(parse("\n".join(("kernel k", *HEADER, *lines)) + "\n", "k"))


CASES = {
    # line, buffer, scope: the box by (base, stride, count) in each dimension, exact
    "a row": ("a:64 b:64 y[{0},{1}] = x[{0},{1}]", "x", "b", [({"a": 1}, 0, 1, 1), ({}, 0, 1, 64)], True),
    "a tile": (
        "a:4 b:4 c:16 d:16 y[{0}*16+{2},{1}*16+{3}] = x[{1}*16+{3},{0}*16+{2}]", "x", "c",
        [({"b": 16}, 0, 1, 16), ({"a": 16}, 0, 1, 16)], True,
    ),
    "a halo": (
        "a:62 b:62 r:3 s:3 y[{0},{1}] += x[{0}+{2},{1}+{3}]", "x", "r",
        [({"a": 1}, 0, 1, 3), ({"b": 1}, 0, 1, 3)], True,
    ),
    "a stride": ("a:8 b:21 y[{0},{1}] = v[3*{1}+{0}%2]", "v", "b", [({"a % 2": 1}, 0, 3, 21)], True),
    "a fold": ("a:64 b:64 y[{0},{1}] = v[{1}//4]", "v", "b", [({}, 0, 1, 16)], False),
    "a diagonal": ("a:64 y[{0},{0}] = 1", "y", "a", [({}, 0, 1, 64), ({}, 0, 1, 64)], False),
    "a guard": (
        "a:64 b:64 y[{0},{1}] = 1 if {1} <= {0}", "y", "b", [({"a": 1}, 0, 1, 1), ({}, 0, 1, 64)], False
    ),
    "a gather": ("a:64 b:64 y[{0},{1}] = v[k[{1}]]", "v", "b", [({}, 0, 1, 9)], False),
    "two neighbours": ("a:63 b:64 y[{0},{1}] = v[{0}] + v[{0}+1]", "v", "b", [({"a": 1}, 0, 1, 2)], False),
}  # fmt: skip


def simplified(box: Box) -> list[tuple[dict[str, int], int, int, int]]:
    return [
        ({_name(a): c for a, c in e.base.terms.items()}, e.base.const, e.stride, e.count) for e in box.extents
    ]


def _name(atom: Atom) -> str:
    if isinstance(atom, Division):
        (inner,) = atom.arg.terms
        return f"{_name(inner)} {atom.op} {atom.by}"
    assert isinstance(atom, str)
    return atom


@pytest.mark.parametrize("name", CASES)
def test_box_of(name: str) -> None:
    line, buffer, scope, extents, is_exact = CASES[name]
    box = footprint_box(program(line), scope, buffer)
    assert box is not None
    assert (simplified(box), box.exact) == (extents, is_exact)


@pytest.mark.parametrize("name", CASES)
def test_set_lies_in_the_box_and_fills_it_when_exact(name: str) -> None:
    line, buffer, scope, _, _ = CASES[name]
    found = program(line)
    box = footprint_box(found, scope, buffer)
    assert box is not None
    touched = footprint_set(found, scope, buffer)
    around = touched.domain()
    last = around.lexmax().sample_point()
    at = dict(zip("abcd", _coordinates(last, around.dim(isl.dim_type.set)), strict=False))
    ranges = [(_value(e.base, at), e) for e in box.extents]
    inside = set(itertools.product(*(range(b, b + e.stride * e.count, e.stride) for b, e in ranges)))
    points: set[tuple[int, ...]] = set()
    here = touched.intersect_domain(isl.Set.from_point(last)).range()
    here.foreach_point(lambda p: points.add(_coordinates(p, len(box.extents))))
    assert points <= inside
    if box.exact:
        assert points == inside


def _coordinates(point: isl.Point, rank: int) -> tuple[int, ...]:
    return tuple(int(point.get_coordinate_val(isl.dim_type.set, d).to_python()) for d in range(rank))


def _value(form: Affine, at: dict[str, int]) -> int:
    total = form.const
    for atom, coefficient in form.terms.items():
        if isinstance(atom, Division):
            assert atom.op == "%"
            total += coefficient * (_value(atom.arg, at) % atom.by)
        else:
            assert isinstance(atom, str)
            total += coefficient * at[atom]
    return total


def test_no_box_for_what_moves_differently() -> None:
    found = program("a:32 b:64 y[{0},{1}] = v[{0}] + v[2*{0}]")
    assert footprint_box(found, "b", "v") is None


def test_reads_and_writes_are_told_apart() -> None:
    found = program("a:64 b:64 y[{0},{1}] = x[{1},{0}]")
    assert footprint_box(found, "b", "x", "write") is None
    with pytest.raises(ValueError, match="no access to x inside b"):
        footprint_set(found, "b", "x", "write")
    box = footprint_box(found, "a", "y", "write")
    assert box == Box((Extent(Affine(0, {}), 1, 64), Extent(Affine(0, {}), 1, 64)), True)
    assert box is not None
    assert box.size == 4096
