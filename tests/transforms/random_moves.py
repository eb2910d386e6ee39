"""Random programs before and after a legal move: the same bits, or inside the bound of the reference."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret import compare, first_difference, interpret, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms.base import Setting, Transform
from tests.random_programs.generate import generate
from tests.transforms.states import check_state, setting

PREPARATION = ("join_scopes", "inline", "expand_buffer", "reuse_dims", "tile_scope", "fission_scope", "hoist")
"""Moves that random programs are brought into other shapes with, where there are such."""


def wrong_moves(
    name: str, seeds: range, fp: FpLevel = "reassoc", exact: bool = True, each: int = 3
) -> tuple[int, list[str]]:
    """Return how many moves called `name` were made, and what was wrong with some.

    Args:
        exact: results must have the same bits; else they must be inside the bound of the reference at `fp`.
        each: moves of one program.
    """
    made, wrong = 0, []
    at = setting(fp=fp)
    for seed in seeds:
        rng = random.Random(f"{name}/{seed}")
        program = _shaped(prepare(bind(generate(seed))), rng, at)
        found = list(get_transform(name).candidates(program, at))
        before = _Before(program, seed, fp, exact) if found else None
        for move in rng.sample(found, min(each, len(found))):
            assert before is not None
            made += 1
            fault = _fault(program, move, at, before)
            if fault:
                wrong.append(f"seed {seed}, {move}: {fault}\n{render(program)}")
    return made, wrong


def _shaped(program: Program, rng: random.Random, at: Setting) -> Program:
    for _ in range(rng.choice((0, 0, 1, 2, 4))):
        cls = get_transform(rng.choice(PREPARATION))
        found = list(cls.candidates(program, at))
        after = rng.choice(found).rewrite_for(program, at) if found else program
        if not _is_wrong(after):
            program = after
    return program


def _is_wrong(program: Program) -> bool:
    """Tell whether another move than the one under test went wrong, which its own tests look for."""
    try:
        check_state(program)
    except (PerfDojoError, AssertionError):
        return True
    return False


def _fault(program: Program, move: Transform, at: Setting, before: _Before) -> str:
    after = move.apply(program, at)
    try:
        check_state(after)
    except Exception as error:
        return f"{type(error).__name__}: {error}\n{render(after)}"
    with np.errstate(all="ignore"):
        different = before.difference(interpret(after, before.inputs))
    return f"{different}\n{render(after)}" if different else ""


class _Before:
    """What a program computes from inputs of its seed, found once for all moves on it."""

    def __init__(self, program: Program, seed: int, fp: FpLevel, exact: bool) -> None:
        self.inputs = random_inputs(program, seed, ("normal", "special", "cancel")[seed % 3])
        self.exact = exact
        with np.errstate(all="ignore"):
            self.bits = interpret(program, self.inputs) if exact else {}
            self.bound = {} if exact else reference(program, self.inputs, fp)

    def difference(self, got: dict[str, Any]) -> str:
        """Return "" or how results differ: in bits, or beyond the bound of the reference."""
        if self.exact:
            return first_difference(got, self.bits)
        verdict = compare(got, self.bound)
        return "" if verdict.passed else verdict.message
