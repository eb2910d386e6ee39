"""Every kernel of the library computes what its NumPy reference does."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse
from tests.kernels.check import assert_computes
from tests.kernels.library import program, texts
from tests.kernels.references import REFERENCES
from tests.kernels.sizes import SIZES, odd_sizes

FIRST = 4
"""Size sets of the fast suite: all 1, all prime, two with one size at 1000."""


@pytest.mark.parametrize("name", texts())
def test_kernel_computes_its_reference_at_odd_sizes(name: str) -> None:
    for sizes in islice(odd_sizes(name), FIRST):
        assert_computes(bind(program(name), sizes), REFERENCES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in texts() if len(SIZES[n].prime) > FIRST - 2])
def test_kernel_computes_its_reference_at_the_other_odd_sizes(name: str) -> None:
    for sizes in islice(odd_sizes(name), FIRST, None):
        assert_computes(bind(program(name), sizes), REFERENCES[name])


@pytest.mark.parametrize("name", [n for n in texts() if not n.endswith("_i8")])
def test_kernel_in_double_precision_computes_its_reference(name: str) -> None:
    """The bound of f64 is tight enough to tell one epsilon or constant from another."""
    wide = parse(re.sub(r"\b(f32|f16|bf16)\b", "f64", texts()[name]), name)
    assert_computes(bind(wide, SIZES[name].prime), REFERENCES[name])
