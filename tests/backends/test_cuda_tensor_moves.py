"""CUDA: random moves on programs with nests for tensor cores, which may stop being such; the results stay."""

from __future__ import annotations

import random

import pytest

from perfdojo.backends import emit, get_target
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.compiler.schedule.schedule import Scheduled
from perfdojo.compiler.transforms.base import Setting
from perfdojo.toolchains.cuda.device import device_of
from perfdojo.toolchains.cuda.emulation import Emulated, build_emulation
from perfdojo.toolchains.cuda.run import run_emulated
from perfdojo.toolchains.host import find_host
from tests.backends.test_cuda import needs_cxx
from tests.backends.test_cuda_tensor import KEPT, tile
from tests.fuzz.cuda.sequences import ANY
from tests.fuzz.making import Making
from tests.transforms.states import state

STARTS = (*KEPT.values(), tile(2, 2), tile(1, 3))
LIKELY = (
    "tile_scope reorder unroll split_dims pad_dims reorder_dims double_buffer fission_scope join_scopes "
    "collapse_scopes mma create_temporary hoist peel_scope reuse_dims expand_buffer block set_space"
)
WEIGHTS = ANY | dict.fromkeys(LIKELY.split(), 4.0)
MOST_EXECUTIONS = 200_000


def outcome(seed: int) -> tuple[str, bool]:
    """Return what is wrong behind the moves of a seed, or ""; whether tensor cores multiply there."""
    rng = random.Random(f"tensor {seed}")
    start, at = state(rng.choice(STARTS)), Setting(get_target("cuda"), "fast")
    making = Making(rng, at, start, MOST_EXECUTIONS)
    making.some(WEIGHTS, rng.choice((1, 2, 3, 4, 6)))
    emitted = emit(making.now, "cuda", fp="fast", scheduled=Scheduled(making.now, ""))
    built = build_emulation(emitted, find_host(), "sm_80")
    if not isinstance(built, Emulated):
        return built.text, False
    inputs = random_inputs(start, seed, "normal")
    ran, _ = run_emulated(emitted, built, device_of("sm_80"), inputs, (0, 1), 60.0)
    wrong = ran.text
    if ran.outcome == "ok":
        verdict = compare(ran.outputs, reference(start, inputs, "fast", emitted.tensor))
        wrong = "" if verdict.passed else verdict.message
    moves = "; ".join(map(str, making.moves))
    return f"{wrong} behind {moves}" if wrong else "", "mma_sync(" in emitted.files[0][1]


def check(seeds: range, least: int) -> None:
    found = [outcome(seed) for seed in seeds]
    assert not [wrong for wrong, _ in found if wrong]
    assert sum(tensors for _, tensors in found) >= least


@needs_cxx
def test_results_stay_behind_random_moves() -> None:
    check(range(12), 1)


@needs_cxx
@pytest.mark.slow
def test_results_stay_behind_many_random_moves() -> None:
    check(range(100, 400), 40)
