"""Random programs through a backend against the reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence

from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.text.render import render
from tests.native import build, case, disagreement
from tests.random_programs.generate import generate

KINDS = ("normal", "special", "huge", "denormal")


def disagreements(seeds: Sequence[int], target: str, fp: FpLevel) -> list[str]:
    """Return a text for each program of `seeds` on which the backend and the interpreter differ."""
    found = [case(f"k{seed}", bind(generate(seed)), target, fp) for seed in seeds]
    library = build(found)
    wrong = []
    for seed, c in zip(seeds, found, strict=True):
        for kind in (KINDS[seed % 4], "normal"):
            reason = disagreement(library, c, random_inputs(c.program, seed, kind), fp)
            if reason:
                text = f"{render(c.program)}\n{c.emitted.files[0][1]}"
                wrong.append(f"seed {seed}, {kind} inputs: {reason}\n{text}")
                break
    return wrong
