"""The library as text: every file is complete, canonical, documented and has a reference and odd sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import SizeRef
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.walk import const_int, statements, subexpressions
from tests.kernels.library import page, program, texts
from tests.kernels.references import REFERENCES
from tests.kernels.sizes import SIZES, odd_sizes

DOCS = Path(__file__).parents[2] / "docs"


def test_every_kernel_has_a_reference_and_odd_sizes() -> None:
    assert sorted(REFERENCES) == sorted(SIZES) == sorted(texts())


def test_the_page_lists_the_library(golden: Callable[[Path, str], None]) -> None:
    golden(DOCS / "kernels.md", page())


@pytest.mark.parametrize("name", texts())
def test_file_states_formula_and_source_and_its_own_name(name: str) -> None:
    assert re.match(r"# [^;\n]+; [^\n]+\nkernel " + name + r"\n", texts()[name])


@pytest.mark.parametrize("name", texts())
def test_round_trip(name: str) -> None:
    symbolic = program(name)
    assert parse(render(symbolic)) == symbolic
    bound = bind(symbolic)
    assert parse(render(bound)) == bound


@pytest.mark.parametrize("name", texts())
def test_the_sizes_that_vary_are_those_that_no_other_size_determines(name: str) -> None:
    free = [
        s.name
        for s in program(name).sizes
        if not any(isinstance(e, SizeRef) for e in subexpressions(s.value))
    ]
    assert list(SIZES[name].prime) == free


@pytest.mark.parametrize("name", texts())
def test_odd_sizes_include_1_a_prime_and_1000(name: str) -> None:
    sets = list(odd_sizes(name))
    for size, prime in SIZES[name].prime.items():
        assert all(prime % d for d in range(2, prime))
        tried = {s[size] for s in sets}
        assert {1, prime} < tried
        assert 1000 in tried or (name, size) == ("conv3d", "R")


@pytest.mark.parametrize("name", texts())
def test_default_sizes_are_worth_timing_and_soon_done(name: str) -> None:
    bound = bind(program(name))
    executions = sum(math.prod(const_int(s.extent) for s in around) for around, _ in statements(bound))
    assert 10**5 <= executions <= 2 * 10**7
