"""The reference decides what can be decided, says what cannot, and the comparison judges by its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import KINDS, LEVELS, Bounded, compare, interpret, random_inputs, reference
from tests.interpret.texts import TEXTS, program, text_program
from tests.interpret.variants import fused, pairwise, reciprocals, reversed_sums
from tests.random_programs.generate import generate

INF, NAN = np.inf, np.nan
F32 = np.float32


def f32(*values: float) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def of(text: str, fp: str = "reassoc", **inputs: NDArray[Any]) -> Bounded:
    """Return the reference of buffer y."""
    return reference(text_program(text), inputs, fp)["y"]


SUM = "in x: f32[4]\nout y: f32[1]\n1 4 y[{0}] += x[{1}]\n"


# ---------------------------------------------------------------- what is allowed is accepted


@pytest.mark.parametrize("name", TEXTS)
def test_programs_are_within_their_bounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = program(name)
    for seed, kind in enumerate(("cancel", "huge", "special")):
        inputs = random_inputs(bound, seed, kind)
        strict = interpret(bound, inputs)
        for fp in LEVELS:
            verdict = compare(strict, reference(bound, inputs, fp))
            assert verdict.passed, (kind, fp, verdict.message)
        verdict = compare(interpret(fused(bound), inputs), reference(bound, inputs, "contract"))
        assert verdict.passed, (kind, "fused", verdict.message)
        verdict = compare(pairwise(bound, inputs, monkeypatch), reference(bound, inputs, "reassoc"))
        assert verdict.passed, (kind, "pairwise", verdict.message)


@pytest.mark.parametrize("part", range(4))
def test_random_programs_are_within_their_bounds(part: int) -> None:
    for seed in range(part, 32, 4):
        bound = bind(generate(seed))
        inputs = random_inputs(bound, seed, KINDS[seed % len(KINDS)])
        variants = {
            "strict": [bound],
            "contract": [bound, fused(bound)],
            "reassoc": [bound, fused(reversed_sums(bound))],
            "fast": [reciprocals(fused(reversed_sums(bound)))],
        }
        for fp, allowed in variants.items():
            expected = reference(bound, inputs, fp)
            for variant in allowed:
                verdict = compare(interpret(variant, inputs), expected)
                assert verdict.passed, (seed, fp, verdict.message)


# ---------------------------------------------------------------- bounds worked out by hand


def test_the_strict_bound_of_a_sum_follows_its_partial_sums() -> None:
    found = of(SUM, "strict", x=f32(1, 1, 1, 1))
    # u (1 + 2 + 3 + 4), and a little for products of these.
    assert found.value.tolist() == [4.0]
    assert found.bound[0] == pytest.approx(10 * 2.0**-24, rel=1e-5)


def test_the_bound_for_every_order_follows_the_magnitudes() -> None:
    found = of(SUM, "reassoc", x=f32(1e6, 1, -1e6, 1))
    assert found.value.tolist() == [2.0]
    assert found.bound[0] == pytest.approx(3 * 2.0**-24 * (2e6 + 2), rel=1e-5)


def test_terms_of_a_sum_bring_their_own_bounds() -> None:
    text = "in x: f32[4]\nout y: f32[1]\n1 4 y[{0}] += x[{1}] * x[{1}]\n"
    found = of(text, "reassoc", x=f32(1, 2, 3, 4))
    assert found.bound[0] == pytest.approx((3 + 1) * 2.0**-24 * 30, rel=1e-5)


def test_cancellation_keeps_the_absolute_error() -> None:
    text = "in x: f32[1]\nout y: f32[1]\n1 y[{0}] = x[{0}] * 3 - x[{0}] * 3\n"
    found = of(text, "strict", x=f32(1000))
    assert found.value.tolist() == [0.0]
    assert found.bound[0] == pytest.approx(2 * 2.0**-24 * 3000, rel=1e-5)


def test_a_function_multiplies_the_error_of_its_argument() -> None:
    text = "in x: f32[1]\nout y: f32[1]\n1 y[{0}] = exp(x[{0}] * 3)\n"
    near, far = (float(of(text, "strict", x=f32(v)).bound[0] / np.exp(3 * v)) for v in (1.0, 20.0))
    assert far - near == pytest.approx(57 * 2.0**-24, rel=1e-2)


def test_f64_counts_the_rounding_of_the_reference_too() -> None:
    text = "in x: f64[1]\nout y: f64[1]\n1 y[{0}] = x[{0}] * 3\n"
    found = of(text, "strict", x=np.array([1.0]))
    assert found.bound[0] == pytest.approx(2 * 2.0**-53 * 3, rel=1e-5)


def test_a_bound_is_never_below_half_a_subnormal() -> None:
    text = "in x: f32[1]\nout y: f32[1]\n1 y[{0}] = x[{0}] * x[{0}]\n"
    assert of(text, "strict", x=f32(1e-30)).bound[0] == pytest.approx(2.0**-150, rel=1e-5)


def test_exact_operations_add_nothing() -> None:
    text = "in x: f32[2]\nout y: f32[2]\n2 y[{0}] = max(-abs(x[{0}]), round(x[1-{0}]))\n"
    assert of(text, "fast", x=f32(1.5, -2.5)).bound.tolist() == [0.0, 0.0]


# ---------------------------------------------------------------- what cannot be decided


def test_an_uncertain_comparison_covers_both_branches() -> None:
    text = "in x: f32[3]\nout y: f32[3]\n3 y[{0}] = x[{0}] / 3 * 3 > 1 ? 100 : x[{0}]\n"
    found = of(text, "strict", x=f32(0.5, 1.0, 2.0))
    assert found.bound[[0, 2]].tolist() == [0.0, 0.0]
    assert found.bound[1] == pytest.approx(99, rel=1e-6)
    assert not found.undecided.any()


def test_an_uncertain_guard_covers_both_outcomes() -> None:
    text = "in x: f32[3]\nout y: f32[3]\n3 y[{0}] = 0\n3 y[{0}] = 7 if x[{0}] / 3 * 3 >= 1\n"
    found = of(text, "strict", x=f32(0.5, 1.0, 2.0))
    assert found.bound == pytest.approx([0, 7, 0])
    text = "in x: f32[3]\nout y: f32[1]\n1 y[{0}] = 1\n1 3 y[{0}] += 5 if x[{1}] / 3 * 3 >= 1\n"
    for fp in ("strict", "reassoc"):
        assert of(text, fp, x=f32(0.5, 1.0, 2.0)).bound[0] == pytest.approx(5, rel=1e-5)


def test_a_bool_that_may_be_either_is_undecided() -> None:
    text = "in x: f32[3]\nout y: bool[3]\n3 y[{0}] = x[{0}] / 3 * 3 > 1\n"
    assert of(text, "strict", x=f32(0.5, 1.0, 2.0)).undecided.tolist() == [False, True, False]


def test_a_rounded_integer_may_move_by_a_step() -> None:
    text = "in x: f32[3]\nout y: i8[3]\n3 y[{0}] = i8(round(x[{0}] / 3 * 3))\n"
    found = of(text, "strict", x=f32(0.2, 0.5, 400.0))
    assert found.value.dtype == np.int8
    assert found.bound.tolist() == [0.0, 1.0, 0.0]
    assert compare({"y": np.array([0, 1, 127], np.int8)}, {"y": found}).passed
    assert not compare({"y": np.array([1, 1, 127], np.int8)}, {"y": found}).passed


def test_an_index_that_may_move_leaves_its_element_undecided() -> None:
    text = "in x: f32[3]\nin t: f32[9]\nout y: f32[3]\n3 y[{0}] = t[min(max(i32(x[{0}] / 3 * 3), 0), 8)]\n"
    found = of(text, "strict", x=f32(0.5, 1.0, 2.5), t=np.arange(9, dtype=F32))
    assert found.undecided.tolist() == [False, True, False]


def test_a_write_at_an_index_that_may_move_leaves_the_buffer_undecided() -> None:
    text = "in x: f32[1]\nout y: f32[3]\n3 y[{0}] = 0\n1 y[min(max(i32(x[{0}] / 3 * 3), 0), 2)] = 1\n"
    assert of(text, "strict", x=f32(1.0)).undecided.all()
    assert not of(text, "strict", x=f32(1.5)).undecided.any()


def test_a_partial_sum_may_overflow_in_another_order_only() -> None:
    x = f32(2e38, -2e38, 2e38, -2e38)
    assert not of(SUM, "strict", x=x).undecided.any()
    assert of(SUM, "reassoc", x=x).undecided.all()


@pytest.mark.parametrize("fp", LEVELS)
def test_certain_overflow_and_special_terms_are_decided(fp: str) -> None:
    for x, want in (
        (f32(3e38, 3e38, 3e38, 0), INF),
        (f32(-3e38, -3e38, -3e38, 5), -INF),
        (f32(1, INF, 2, 3), INF),
        (f32(1, INF, -INF, 3), NAN),
        (f32(1, NAN, 2, 3), NAN),
    ):
        found = of(SUM, fp, x=x)
        assert not found.undecided.any()
        assert np.array_equal(found.value, [want], equal_nan=True)
        assert found.bound.tolist() == [0.0]


def test_an_overflowing_product_is_decided_unless_it_may_be_fused() -> None:
    text = "in x: f32[1]\nin z: f32[1]\nout y: f32[1]\n1 y[{0}] = x[{0}] * x[{0}] + z[{0}]\n"
    for x, z, strict, loose in (
        (1e30, 1.0, INF, INF),
        (1e30, -INF, NAN, None),
        (2e19, -3e38, INF, None),
    ):
        inputs = {"x": f32(x), "z": f32(z)}
        found = of(text, "strict", **inputs)
        assert np.array_equal(found.value, [strict], equal_nan=True)
        assert not found.undecided.any()
        for fp in ("contract", "reassoc"):
            other = of(text, fp, **inputs)
            assert other.undecided.all() == (loose is None)


def test_a_product_in_any_order_may_overflow_or_lose_digits() -> None:
    text = "in x: f32[4]\nout y: f32[1]\n1 4 y[{0}] *= x[{1}]\n"
    assert not of(text, "reassoc", x=f32(2, 3, 0.5, 7)).undecided.any()
    assert of(text, "reassoc", x=f32(1e30, 1e-30, 1e30, 1e-30)).undecided.all()
    assert not of(text, "strict", x=f32(1e30, 1e-30, 1e30, 1e-30)).undecided.any()
    # Two of them first make a subnormal, whose error the third one multiplies.
    small = of(text, "reassoc", x=f32(1e-20, 1e-20, 1e20, 1))
    assert small.bound[0] > 2.0**-150 * 1e20
    assert small.bound[0] < 1e-20


# ---------------------------------------------------------------- the comparison


def bounded(values: list[float], bounds: list[float]) -> dict[str, Bounded]:
    bound = np.array(bounds)
    return {"y": Bounded(np.array(values), bound, ~np.isfinite(bound))}


def test_the_worst_error_is_a_fraction_of_its_bound() -> None:
    expected = bounded([1.0, 2.0, 0.0], [0.5, 0.25, 0.0])
    verdict = compare({"y": f32(1.25, 2.2, -0.0)}, expected)
    assert verdict.passed
    assert verdict.worst_over_bound == pytest.approx(0.8)
    assert (verdict.worst_buffer, verdict.worst_index) == ("y", (1,))
    assert verdict.message == "worst error is 0.8 of its bound, at y[1]"
    verdict = compare({"y": f32(1.0, 2.5, 0.0)}, expected)
    assert not verdict.passed
    assert verdict.worst_over_bound == pytest.approx(2.0)
    assert verdict.message == "y[1] is 2.5, expected 2.0 within 0.25"


@pytest.mark.parametrize(
    ("value", "got"), [(NAN, 1.0), (1.0, NAN), (INF, -INF), (INF, 3e38), (1.0, INF), (NAN, INF)]
)
def test_nan_and_infinities_must_be_in_place(value: float, got: float) -> None:
    expected = bounded([0.0, value], [0.0, 0.0 if not np.isfinite(value) else 0.1])
    verdict = compare({"y": f32(0.0, got)}, expected)
    assert not verdict.passed
    assert verdict.worst_over_bound == INF
    assert verdict.worst_index == (1,)


def test_undecided_elements_are_counted_not_judged() -> None:
    verdict = compare({"y": f32(NAN, 5.0)}, bounded([1.0, 5.0], [INF, 0.0]))
    assert verdict.passed
    assert verdict.undecided_count == 1
    assert verdict.worst_over_bound == 0.0


def test_integers_and_bools_must_be_equal() -> None:
    for dtype, right, wrong in ((np.int32, [1, 2], [1, 3]), (np.bool_, [True, False], [True, True])):
        exact = np.array(right, dtype)
        expected = {"y": Bounded(exact, np.zeros(2), np.zeros(2, np.bool_))}
        assert compare({"y": exact}, expected).worst_over_bound == 0.0
        verdict = compare({"y": np.array(wrong, dtype)}, expected)
        assert not verdict.passed
        assert verdict.worst_index == (1,)


def test_a_missing_or_misshapen_result_is_our_own_error() -> None:
    expected = bounded([1.0], [0.0])
    for result in ({}, {"y": f32(1, 2)}):
        with pytest.raises(ValueError, match="result 'y' must have shape"):
            compare(result, expected)
