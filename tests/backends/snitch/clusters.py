"""Programs that all harts of a cluster run: made by random moves, run on the simulator, compared in bits."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from perfdojo.backends import emit
from perfdojo.compiler.interpret import compare, first_difference, interpret, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule import Scheduled
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms.base import Setting, Transform
from perfdojo.compiler.transforms.create_temporary import CreateTemporary
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.run import Built, build, run
from tests.transforms.states import setting

MOVES = (
    *("tile_scope", "create_temporary", "fission_scope"),
    *("core", "core", "dma", "dma", "double_buffer", "stream"),
)
MOST = 40
"""Candidates of one kind that are looked at."""


def spread(program: Program, rng: random.Random, steps: int, names: Sequence[str] = MOVES) -> Program:
    """Return a program after random legal moves towards a cluster."""
    at = setting("snitch", "strict")
    for _ in range(steps):
        found = _some(program, rng.choice(names), rng, at)
        if found is not None:
            program = found.apply(program, at)
    for _ in range(3):
        found = _some(program, rng.choice(("core", "dma")), rng, at)
        if found is not None:
            program = found.apply(program, at)
    return program


def _some(program: Program, name: str, rng: random.Random, at: Setting) -> Transform | None:
    found: list[Transform] = []
    for move in get_transform(name).candidates(program, at):
        found.append(move)
        if len(found) == MOST:
            break
    if not found:
        return None
    move = rng.choice(found)
    if isinstance(move, CreateTemporary):
        move = replace(move, space="tcdm")
        return None if move.why_not(program, at) else move
    return move


def built(program: Program, tools: Tools, fp: FpLevel = "strict", cores: int = 0) -> Built:
    """Return a program as it is, built for a cluster."""
    found = build(emit(program, "snitch", fp=fp, scheduled=Scheduled(program, "", ""), cores=cores), tools)
    assert not isinstance(found, Failure), found.text
    return found


def disagreement(made: Built, program: Program, kind: str = "normal", seed: int = 1) -> str:
    """Return how what is built differs from the interpreter, in bits at strict; "" when it does not."""
    inputs = random_inputs(program, seed, kind)
    ran = run(made, inputs)
    if ran.outcome != "ok":
        return f"{ran.outcome}: {ran.text}"
    if made.emitted.fp == "strict":
        return first_difference(ran.outputs, interpret(program, inputs))
    verdict = compare(ran.outputs, reference(program, inputs, made.emitted.fp))
    return "" if verdict.passed else verdict.message
