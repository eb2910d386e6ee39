"""Small systems of constraints: compared with the enumeration of all points."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from perfdojo.compiler.analysis.solve import Row, solve
from perfdojo.compiler.analysis.undecided import Undecided


def system(rng: random.Random) -> tuple[list[Row], list[int], list[int]]:
    low = [rng.randint(-5, 3) for _ in range(rng.randint(1, 4))]
    high = [a + rng.choice((0, 1, 3, 6)) for a in low]
    rows = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        variables = rng.sample(range(len(low)), rng.randint(1, len(low)))
        terms = [(v, rng.choice((-7, -3, -2, -1, 1, 1, 2, 4))) for v in variables]
        rows.append(Row(rng.randint(-9, 9), terms, rng.random() < 0.6))
    return rows, low, high


def holds(rows: list[Row], at: tuple[int, ...]) -> bool:
    values = [(r.const + sum(c * at[v] for v, c in r.terms), r.equal) for r in rows]
    return all(value == 0 or (value > 0 and not equal) for value, equal in values)


def test_solutions_are_those_of_an_enumeration() -> None:
    rng, counts = random.Random(0), Counter[str]()
    for _ in range(1500):
        rows, low, high = system(rng)
        points = itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
        right = [at for at in points if holds(rows, at)]
        largest = 0 if rng.random() < 0.5 else None
        try:
            found = solve(rows, low.copy(), high.copy(), range(len(low)), largest)
        except Undecided:
            counts["undecided"] += 1
            continue
        counts["none" if found is None else "found"] += 1
        assert (found is None) == (not right), rows
        if found is not None:
            assert tuple(found) in right, rows
            assert largest is None or found[0] == max(at[0] for at in right), rows
    assert min(counts["none"], counts["found"]) > 300
    assert counts["undecided"] < 15


def test_bounds_that_creep_are_left_undecided() -> None:
    rows = [
        Row(0, ((0, 2), (1, -2), (2, -1)), True),
        Row(0, ((0, 1), (1, -1)), True),
        Row(-1, ((2, 1),), False),
    ]
    with pytest.raises(Undecided):
        solve(rows, [0, 0, 0], [10**6, 10**6, 10**6], range(3))
