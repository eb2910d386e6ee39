"""Recipes keep the meaning at all sizes, and end where their golden files say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.compiler.text.render import render
from perfdojo.compiler.validate import Validator
from tests.recipes.cases import CASES, Case, Sizes
from tests.transforms.states import check_state

HERE = Path(__file__).parent
ALL = [
    pytest.param(c, s, t, id=f"{c}-{'x'.join(map(str, s.values()))}-{t}")
    for c in CASES
    for n, s in enumerate(c.sizes)
    for t in ((c.target,) if n or c.target != "avx2" else ("avx2", "avx512", "c"))
]


@pytest.mark.parametrize(("case", "sizes", "target"), ALL)
def test_the_meaning_is_kept(case: Case, sizes: Sizes, target: str) -> None:
    session = case.session(sizes, target)
    check_state(session.program)
    verdict = Validator(session.start, "reassoc").validate(session.program)
    assert verdict.equal, verdict


@pytest.mark.parametrize("recipe", sorted({c.recipe for c in CASES}))
def test_golden(recipe: str, golden: Callable[[Path, str], None]) -> None:
    shown = []
    for case in (c for c in CASES if c.recipe == recipe):
        session = case.session(case.sizes[0])
        shown += [f"#! {case} {case.parameters or ''}".rstrip(), session.text(), render(session.program)]
    golden(HERE / f"{recipe}.golden", "\n".join(shown))


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.recipe not in ("reduce", "streams", "cores")], ids=str
)
def test_at_strict_the_bits_are_kept(case: Case) -> None:
    session = case.session(case.sizes[-1], fp="strict")
    verdict = Validator(session.start, "strict").validate(session.program)
    assert verdict.equal, verdict
