"""Dot products of bytes on NEON: kernels made of them under qemu or natively, and who gets them."""

from __future__ import annotations

import numpy as np
import pytest

from perfdojo.backends import emit, get_target, varied_targets
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.transforms.base import Setting
from perfdojo.finding import fitting_schedule, products_of
from tests.backends.direct import checked, disagreements
from tests.backends.x86.test_dots import OTHERS, SIZES, product
from tests.kernels.library import program
from tests.kernels.sizes import odd_sizes
from tests.native import build, call, can_run, case

TARGET = "neon:dotprod"
runs = pytest.mark.skipif(not can_run("neon"), reason="needs compiler and emulator for neon")


@runs
@pytest.mark.parametrize("turned", [False, True])
def test_products_of_signed_bytes_are_exact(turned: bool) -> None:
    text = product("i8", "i8", "i32", turned, "inout")
    made = [case(f"k{n}", checked(text, **sizes), TARGET, "reassoc") for n, sizes in enumerate(SIZES)]
    # one row is no tile, three steps are no group
    assert ["vdotq_s32" in c.emitted.files[0][1] for c in made] == [True, False, True, True, False, True]
    assert not disagreements(made)


@runs
def test_narrow_vectors_and_rests_are_exact() -> None:
    text = "kernel k\nin a: i8[{0}, 4]\nin b: i8[4]\ninout c: i32[{0}]\n"
    text += "n:{0}@vector k:4@unroll c[{{n}}] += i32(a[{{n}},{{k}}]) * i32(b[{{k}}])\n"
    made = [case(f"k{n}", checked(text.format(n)), TARGET, "strict") for n in (2, 4, 6, 7, 13)]
    assert "vdot_s32" in made[0].emitted.files[0][1]
    assert not disagreements(made)


@runs
def test_other_nests_are_exact() -> None:
    made = []
    for name, (a, b, c, statement, used) in OTHERS.items():
        text = f"kernel k\nin {a}\nin {b}\n{c}\n\n{statement}\n"
        made.append(case(f"k_{name}", checked(text), TARGET, "strict"))
        assert ("vdot" in made[-1].emitted.files[0][1]) == (used and "u8" not in a + b), name
    assert not disagreements(made)


@runs
def test_sums_of_extreme_products_wrap() -> None:
    made = [case("k", checked(product("i8", "i8", "i32"), M=3, N=20, K=140_000), TARGET, "strict")]
    library = build(made)
    for a, b in ((-128, -128), (-128, 127)):
        given = {"a": np.full((3, 140_000), a, np.int8), "b": np.full((140_000, 20), b, np.int8)}
        wrapped = (a * b * 140_000 + 2**31) % 2**32 - 2**31
        assert (call(library, made[0].emitted, given)["c"] == wrapped).all()


@runs
def test_the_kernel_of_the_library_agrees() -> None:
    sizes = ({"M": 1, "N": 1, "K": 1}, *odd_sizes("matmul_i8"), {"M": 30, "N": 70, "K": 41})
    made = [case(f"k{n}", bind(program("matmul_i8"), s), TARGET, "reassoc") for n, s in enumerate(sizes)]
    assert "vdotq_s32" in made[-1].emitted.files[0][1]
    assert not disagreements(made)


def test_they_are_used_where_they_are_asked_for_only() -> None:
    text = checked(product("i8", "i8", "i32"))
    plain, made = emit(text, "neon"), emit(text, TARGET)
    assert "vdot" not in plain.files[0][1]
    assert made.requires == (*plain.requires, "asimddp")
    assert "-march=armv8.2-a+dotprod" in made.flags
    assert " --target neon --isa dotprod " in made.files[0][1]


def test_a_schedule_that_knows_none_is_passed_over() -> None:
    for kernel, isa, taken in (
        ("matmul_i8", "", True),
        ("matmul_i8", "dotprod", False),
        ("matmul", "dotprod", True),
    ):
        target = get_target(f"neon:{isa}")
        bound, setting = bind(program(kernel)), Setting(target, "reassoc")
        assert products_of(bound, setting) == ("" if taken else "dotprod")
        assert (fitting_schedule(kernel, bound, setting) is not None) == taken


def test_what_there_is_not_is_refused() -> None:
    assert varied_targets() == ("avx512", "neon", "snitch")
    with pytest.raises(PerfDojoError, match="no extension 'dot' of NEON"):
        get_target("neon:dot")
