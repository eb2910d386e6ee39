"""Every library kernel on a simulated Snitch core, planned by default, at prime sizes, within the bound."""

from __future__ import annotations

import pytest

from perfdojo.backends import emit
from perfdojo.cli.machine import judge
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.verify import verify
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from perfdojo.toolchains.snitch.run import build, run
from tests.kernels.check import tamed_inputs
from tests.kernels.library import program, texts
from tests.kernels.sizes import odd_sizes

NAMES = tuple(sorted(texts()))
FAST = ("axpy", "gelu", "layernorm", "matmul", "max_last", "softmax", "sum_all")
"""Kernels of the fast suite: nests in lanes and out of them, maxima, functions of arrays, remainders."""

LARGE = ("cross_entropy", "embedding", "matmul", "relu")
"""Kernels that pass through the TCDM in tiles, and such that cannot, as data decide what they read."""


@pytest.fixture(scope="module")
def tools() -> Tools:
    try:
        return find_tools()
    except MissingTool as missing:
        pytest.skip(str(missing))


def wrong(name: str, sizes: dict[str, int], tools: Tools, kinds: tuple[str, ...]) -> list[str]:
    """Return how a kernel of these sizes differs from the reference, for each kind of inputs."""
    bound = bind(program(name), sizes)
    verify(bound)
    built = build(emit(bound, "snitch"), tools)
    if isinstance(built, Failure):
        return [built.text]
    found = []
    for kind in kinds:
        inputs = tamed_inputs(bound) if kind == "tamed" else random_inputs(bound, 1, kind)
        ran = run(built, inputs)
        done = judge(bound, "reassoc", inputs, ran.outputs, True) if ran.outcome == "ok" else ran
        found += [f"{kind} inputs: {done.text}"] if done.outcome != "ok" else []
    return found


@pytest.mark.parametrize("name", FAST)
def test_kernel_agrees_at_prime_sizes(name: str, tools: Tools) -> None:
    assert not wrong(name, list(odd_sizes(name))[1], tools, ("tamed", "special"))


@pytest.mark.parametrize(
    "name", [n if n in LARGE else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]
)
def test_kernel_is_planned_at_its_own_size(name: str) -> None:
    bound = bind(program(name))
    verify(bound)
    assert emit(bound, "snitch").files


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(NAMES) - set(FAST)))
def test_every_kernel_agrees_at_prime_sizes(name: str, tools: Tools) -> None:
    assert not wrong(name, list(odd_sizes(name))[1], tools, ("tamed", "special"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_agrees_where_all_sizes_are_one(name: str, tools: Tools) -> None:
    assert not wrong(name, next(iter(odd_sizes(name))), tools, ("tamed", "special"))
