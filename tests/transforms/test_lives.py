"""Moves that hang on lifetimes of values, all of them on small programs: what is legal keeps every bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest

from perfdojo.compiler.interpret import first_difference, interpret, random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.base import Transform
from perfdojo.compiler.transforms.delete_dead import DeleteDead
from perfdojo.compiler.transforms.expand_buffer import ExpandBuffer
from perfdojo.compiler.transforms.hoist import Hoist
from perfdojo.compiler.transforms.inline import Inline
from perfdojo.compiler.transforms.materialize_dims import MaterializeDims
from perfdojo.compiler.transforms.recompute import Recompute
from perfdojo.compiler.transforms.reuse_buffers import ReuseBuffers
from perfdojo.compiler.transforms.reuse_dims import ReuseDims
from perfdojo.compiler.transforms.spelling import name_of
from tests.transforms.small_lives import lives
from tests.transforms.states import check_state, setting


def moves(program: Program) -> Iterator[Transform]:
    names = [b.name for b in program.buffers if b.role == "tmp"]
    for b in program.buffers:
        if b.role != "tmp":
            continue
        kept = [d for d in range(len(b.shape)) if d not in b.reuse]
        yield from (ReuseDims(b.name, dims) for dims in {(d,) for d in kept} | {tuple(kept)} if dims)
        yield from (MaterializeDims(b.name, dims) for dims in {(d,) for d in b.reuse} | {b.reuse} if dims)
        yield DeleteDead(b.name)
        yield Inline(b.name)
        yield from (cls(b.name, s) for cls in (ExpandBuffer, Recompute) for s in program.scopes)
    yield from (ReuseBuffers(a, b) for a, b in permutations(names, 2))
    yield from (Hoist(s, k.name) for s, place in program.statements.items() for k in place.around)


def check(seeds: range) -> tuple[Counter[str], list[str]]:
    """Return how many moves of each kind were legal, and what was wrong with some."""
    legal, wrong, at = Counter[str](), [], setting()
    for seed in seeds:
        program = lives(seed)
        if program is None:
            continue
        inputs = [random_inputs(program, n, "normal") for n in (1, 2)]
        with np.errstate(all="ignore"):
            want = [interpret(program, i) for i in inputs]
        for move in moves(program):
            if move.why_not(program, at) is not None:
                continue
            legal[name_of(move)] += 1
            after = move.rewrite(program)
            try:
                check_state(after)
                with np.errstate(all="ignore"):
                    faults = [
                        first_difference(interpret(after, i), w) for i, w in zip(inputs, want, strict=True)
                    ]
            except Exception as error:
                faults = [f"{type(error).__name__}: {error}"]
            if any(faults):
                wrong.append(f"seed {seed}, {move}: {max(faults)}\n{render(program)}\n{render(after)}")
    return legal, wrong


def test_legal_moves_keep_their_bits() -> None:
    legal, wrong = check(range(6))
    assert not wrong, "\n".join(wrong[:2])
    assert len(legal) == 8
    assert min(legal.values()) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_legal_moves_of_many_programs_keep_their_bits(part: int) -> None:
    _, wrong = check(range(1000 + part * 100, 1100 + part * 100))
    assert not wrong, "\n".join(wrong[:2])
