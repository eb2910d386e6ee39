"""Names of kernels and buffers that mean something in C."""

from __future__ import annotations

import pytest

from perfdojo.backends.names import Names, reserved


@pytest.mark.parametrize(
    "name",
    [
        "__",
        "__m256",
        "_mm256_add_ps",
        "_Bool",
        "_X",
        "pd_exp",
        "snitch_divf",
        "INT8_MAX",
        "omp_lock",
        "PERFDOJO_X",
    ],
)
@pytest.mark.parametrize("kind", ["function", "buffer"])
def test_names_reserved_for_how_they_begin_get_another_beginning(kind: str, name: str) -> None:
    given = Names().give(kind, name)
    assert given == f"k{name}"
    assert not reserved(given)


@pytest.mark.parametrize("name", ["printf", "stdin", "read", "perfdojo_call", "main", "int", "exp"])
def test_a_kernel_takes_no_symbol_of_the_library(name: str) -> None:
    assert Names().give("function", name) == f"{name}_"


def test_two_names_never_become_one() -> None:
    names = Names()
    asked = [("function", "int"), *[("buffer", n) for n in ("int", "int_", "int_2", "k__x", "__x", "printf")]]
    given = [names.give(kind, name) for kind, name in asked]
    assert len(set(given)) == len(given)
    assert given == [names.give(kind, name) for kind, name in asked]
    assert given[-1] == "printf"
