"""The fast interpreter has the bits of the naive one, however it cuts and reorders the work."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import KINDS, engine, interpret, random_inputs
from perfdojo.compiler.interpret.naive import interpret_naively
from perfdojo.compiler.ir import Program
from perfdojo.compiler.verify import verify
from tests.interpret.texts import TEXTS, program
from tests.random_programs.generate import generate


def same_bits(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Equal shapes, types and bits; all NaN are alike."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "iub":
        return bool((a == b).all())
    bits = np.dtype(f"i{a.dtype.itemsize}")
    equal = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    return bool((equal | (np.isnan(a) & np.isnan(b))).all())


@lru_cache(maxsize=128)
def naive(bound: Program, seed: int, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return inputs, and what the naive interpreter makes of them."""
    inputs = random_inputs(bound, seed, kind)
    return inputs, interpret_naively(bound, inputs)


def assert_same(bound: Program, seed: int, kind: str) -> None:
    inputs, expected = naive(bound, seed, kind)
    kept = {name: array.copy() for name, array in inputs.items()}
    got = interpret(bound, inputs)
    assert got.keys() == expected.keys()
    for name, array in expected.items():
        assert same_bits(got[name], array), f"{name} on {kind} inputs"
    for name, array in kept.items():
        assert same_bits(inputs[name], array), f"input {name} was changed"


@pytest.mark.parametrize("name", TEXTS)
def test_programs_are_valid(name: str) -> None:
    verify(program(name))


@pytest.mark.parametrize("name", TEXTS)
def test_programs_have_the_naive_bits(name: str) -> None:
    for seed, kind in enumerate(("normal", "huge", "denormal", "special")):
        assert_same(program(name), seed, kind)


@pytest.mark.parametrize(("wide", "chunk"), [(1, 4), (1 << 30, 16), (1 << 30, 1)])
def test_cutting_the_work_keeps_the_bits(wide: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "WIDE", wide)
    monkeypatch.setattr(engine, "CHUNK", chunk)
    for name in TEXTS:
        assert_same(program(name), 1, "special")


@pytest.mark.parametrize("part", range(4))
def test_random_programs_have_the_naive_bits(part: int) -> None:
    for seed in range(part, 64, 4):
        # Functions one element at a time are slow: now and then.
        bound = bind(generate(seed, functions=seed % 16 == 5))
        assert_same(bound, seed, KINDS[seed % len(KINDS)])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_thousands_of_random_programs_have_the_naive_bits(part: int) -> None:
    for seed in range(1000 + part, 6000, 10):
        assert_same(bind(generate(seed)), seed, KINDS[seed % len(KINDS)])
