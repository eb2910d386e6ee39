"""What recipes reach, candidates reach: each of their steps was on the list of its state.

A list is made of those of the transformations one by one, so that of the step's own is enough to ask.
"""

from __future__ import annotations

import pytest

from perfdojo.compiler.transforms.add_scope import AddScope
from tests.recipes.cases import CASES, Case, Sizes, _conv, _two

LARGE = (
    Case("matmul", "matmul", ({"M": 1024, "N": 1024, "K": 1024}, {"M": 61, "N": 96, "K": 1030})),
    Case("two_pass_softmax", "softmax", ({}, {"N": 1000})),
    Case("layernorm", "layernorm", ({}, {"N": 1000})),
    Case("direct_convolution", "conv3x3", ({}, *_conv((64, 64, 56, 56)))),
    Case("attention", "attention", ({},)),
    Case("stencil", "stencil5", ({}, *_two("H", "W", (128, 1000)))),
)
FIRST = [(c, s) for c in LARGE for s in c.sizes] + [(c, c.sizes[0]) for c in CASES if not c.parameters]


@pytest.mark.parametrize(("case", "sizes"), FIRST, ids=lambda v: str(v) if isinstance(v, Case) else None)
def test_each_step_is_a_candidate(case: Case, sizes: Sizes) -> None:
    session = case.session(sizes)
    now, missing = session.start, []
    for state in session.states:
        move = state.step.move
        # wrapping is always legal, so that no list has it
        if not isinstance(move, AddScope) and move not in set(type(move).candidates(now, session.setting)):
            missing.append(str(state.step))
        now = state.program
    assert session.states
    assert missing == []
