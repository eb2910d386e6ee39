"""Domains and schedules: times of all statements order their iterations as a run does."""

from __future__ import annotations

import islpy as isl
import pytest

from perfdojo.compiler.analysis.domain import domain, schedule
from perfdojo.compiler.bind import bind
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.walk import statements
from tests.verify.trace import Touch, Trace

TEXT = """kernel k
in  x: i64[4, 3]
in  flag: bool[4]
out y: i64[4]
inout z: i64[4]
4 3 y[{0}] += x[{0},{1}] if {0} + {1} != 2
| z[{0}] = y[{0}] if flag[{0}]
| 2 z[{1}] = 5
z[0] = 1
4 z[3 - {0}] = 2
"""
PROGRAM = bind(parse(TEXT, "k"))


def _points(found: isl.Set) -> set[tuple[int, ...]]:
    points: set[tuple[int, ...]] = set()
    rank = found.dim(isl.dim_type.set)
    found.foreach_point(lambda p: points.add(tuple(_coordinate(p, d) for d in range(rank))))
    return points


def _coordinate(point: isl.Point, dimension: int) -> int:
    return int(point.get_coordinate_val(isl.dim_type.set, dimension).to_python())


def _run(flag: int) -> list[Touch]:
    run = Trace(explicit_starts(PROGRAM), {"flag": {(i,): flag for i in range(4)}})
    assert not run.run()
    return run.touches


def test_times_order_iterations_as_a_run_does() -> None:
    times = []
    for touch in _run(1):
        here = schedule(PROGRAM, touch.statement)
        iteration = ", ".join(str(i) for _, i in touch.iteration)
        only = isl.Set.read_from_str(here.get_ctx(), f"{{ [{iteration}] }}")
        (time,) = _points(here.intersect_domain(only).range())
        times.append(time)
    assert times == sorted(times)
    names = [s.name for _, s in statements(explicit_starts(PROGRAM))]
    assert len(set(times)) == sum(len(_points(domain(PROGRAM, name))) for name in names)


@pytest.mark.parametrize("flag", [0, 1])
def test_domains_hold_what_happens(flag: int) -> None:
    happened: dict[str, set[tuple[int, ...]]] = {}
    for touch in _run(flag):
        if touch.how != "read":
            happened.setdefault(touch.statement, set()).add(tuple(i for _, i in touch.iteration))
    for _, s in statements(explicit_starts(PROGRAM)):
        found = _points(domain(PROGRAM, s.name, must=flag == 0))
        assert found == happened.get(s.name, set()), s.name


def test_an_unknown_statement_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        domain(PROGRAM, "nobody")
