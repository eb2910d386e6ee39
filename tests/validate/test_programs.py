"""Programs that are right: the library and random programs, as they are and as they are planned."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from perfdojo.backends import planned
from perfdojo.compiler import ir
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret import first_difference, interpret, random_inputs
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.validate import Validator, shrunk_sizes, validate
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import map_statement, map_statements, statements
from tests.kernels.library import program, texts
from tests.kernels.sizes import SIZES
from tests.random_programs.generate import generate

SEEDS = range(24)


@pytest.mark.parametrize("name", texts())
def test_library_kernels_mean_what_they_mean_when_planned(name: str) -> None:
    kernel = program(name)
    for sizes in (shrunk_sizes(kernel, 3000), SIZES[name].prime):
        bound = explicit_starts(bind(kernel, sizes))
        assert validate(bound, bound, "strict").equal
        found = validate(bound, planned(bound, "avx2"), "reassoc")
        assert found.equal, found.message


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fp", ["strict", "reassoc"])
def test_random_programs_mean_what_they_mean_when_planned(fp: FpLevel, seed: int) -> None:
    bound = explicit_starts(bind(generate(seed)))
    found = validate(bound, planned(bound, "avx2", fp=fp), fp)
    assert found.equal, found.message


# ---------------------------------------------------------------- the validator against the interpreter


def _mutated(program: ir.Program, rng: random.Random) -> ir.Program:
    """Return the program with one small change: a constant, an operation, operands or indices swapped."""
    chosen = rng.choice([s for _, s in statements(program)]).name
    kind, done = rng.randrange(4), False

    def change(e: ir.Expr) -> ir.Expr:
        nonlocal done
        if done or rng.random() < 0.6:
            return e
        if isinstance(e, ir.Literal) and not e.dtype.is_float and e.dtype.kind != "bool":
            done = True
            return replace(e, value=min(int(e.dtype.largest), max(0, int(e.value) + rng.choice((-1, 1)))))
        if isinstance(e, ir.Op) and e.op in _OTHER:
            done = True
            return replace(e, op=_OTHER[e.op]) if kind else replace(e, args=e.args[::-1])
        if isinstance(e, ir.Load) and len(e.indices) > 1 and kind == 1:
            done = True
            return replace(e, indices=e.indices[::-1])
        return e

    def statement(s: ir.Statement) -> ir.Statement:
        return map_statement(change, s) if s.name == chosen else s

    return replace(program, body=map_statements(statement, program.body))


_OTHER = {"add": "sub", "sub": "add", "mul": "add", "lt": "le", "le": "lt", "max": "min", "min": "max"}


@pytest.mark.parametrize(
    "seeds",
    [
        range(200, 225),
        *(pytest.param(range(n, n + 25), marks=pytest.mark.slow) for n in range(225, 1000, 25)),
    ],
)
def test_mutants_that_pass_compute_the_same_bits(seeds: range) -> None:
    rng, equal, unequal, seen_unequal = random.Random(5), 0, 0, 0
    for seed in seeds:
        bound = explicit_starts(bind(generate(seed)))
        validator = Validator(bound, "strict")
        for n in range(4):
            mutant = next((m for m in (_mutated(bound, rng) for _ in range(20)) if m != bound), bound)
            try:
                verify(mutant)
            except PerfDojoError:
                validator.validate(mutant)
                continue
            same = validator.validate(mutant).equal
            runs = []
            for kind in ("normal", "special"):
                inputs = random_inputs(bound, 10 * seed + n, kind)
                runs.append(first_difference(interpret(mutant, inputs), interpret(bound, inputs)))
            assert not (same and any(runs)), f"seed {seed}, mutant {n}: {runs}"
            equal, unequal, seen_unequal = equal + same, unequal + (not same), seen_unequal + any(runs)
    # Most that the validator rejects differ on random inputs too; the others differ on rare inputs only.
    assert equal >= 20
    assert unequal >= 15
    assert seen_unequal >= 0.6 * unequal
