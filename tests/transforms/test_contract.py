"""What every transformation promises by its form: numbered conditions, a picture, text that reads back."""

from __future__ import annotations

import inspect
import re

import pytest

from perfdojo.compiler.lowering.target import FP_LEVELS
from perfdojo.compiler.schedule import parse_move
from perfdojo.compiler.transforms import aliases, candidates, get_transform, transform_names
from perfdojo.compiler.transforms.spelling import name_of, spelled
from tests.transforms.states import setting, state

MATMUL = """kernel matmul
in a: f32[12, 6]
in b: f32[6, 8]
out c: f32[12, 8]

i:12 j:8 k:6 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
"""


@pytest.mark.parametrize("name", transform_names())
def test_docstring_has_a_picture_and_the_numbers_of_the_code(name: str) -> None:
    cls = get_transform(name)
    doc = inspect.getdoc(cls) or ""
    assert "->" in doc
    assert name_of(cls) == name
    assert cls.level in FP_LEVELS
    source = inspect.getsource(inspect.getmodule(cls))  # type: ignore[arg-type]
    documented = {int(n) for n in re.findall(r"^ *(\d+)\. ", doc, re.M)}
    used = {int(n) for n in re.findall(r"Violation\(\s*(\d+)", source)}
    used |= {0} if re.search(r"no_(scope|statement|buffer|free_name)\(program", source) else set()
    assert used <= documented
    assert documented == set(range(len(documented)))
    for f, _ in spelled(cls):
        assert f.metadata["spelling"]


def test_aliases_are_no_names() -> None:
    assert not set(aliases()) & set(transform_names())
    assert get_transform("split").__name__ == "TileScope"


def test_every_candidate_reads_back_from_its_text_and_is_legal() -> None:
    program, at = state(MATMUL), setting()
    found = list(candidates(program, at))
    assert len(found) > 20
    for move in found:
        assert parse_move(str(move)) == move
        assert move.why_not(program, at) is None
