"""Shipped schedules replay at the sizes of their kernels; they keep the meaning at odd ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from math import prod

import pytest

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import Schedule, StepError, replay
from perfdojo.compiler.schedule.validation import by_schedule, validate_made
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.validate import Validator
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int
from perfdojo.compiler.work import work
from perfdojo.finding import SCHEDULED, default_schedule
from tests.kernels.check import tamed_inputs
from tests.kernels.library import program
from tests.kernels.sizes import SIZES, odd_sizes
from tests.native import Case, build, can_run, case, disagreement

ALL_SHIPPED = tuple(
    sorted(
        (name[0], name[1])
        for f in resources.files("perfdojo").joinpath("kernels").iterdir()
        if f.name.endswith(".sched") and len(name := f.name.split(".")) == 3
    )
)
SHIPPED = tuple((kernel, target) for kernel, target in ALL_SHIPPED if target != "cuda")
"""Those of a GPU are for multiples of their blocks and have tests of their own."""

SMALL = (3, 17)
"""All sizes of a kernel at once: less than a vector, and one more than whole vectors of any target."""
EXECUTIONS = 2_000_000
"""Of statements, above which a test takes too long."""

COLUMNS = 277
"""Enough for two blocks of 64 and a tail in the innermost scope, and for what is done `over 255` only."""

LONG = ("matmul", "gemm", "conv", "attention", "bmm", "ffn")
"""Kernels whose validation takes longer than a test of the fast suite may."""

TARGETS = [
    pytest.param(t, marks=pytest.mark.skipif(not can_run(t), reason=f"needs compiler and emulator for {t}"))
    for t in sorted({t for _, t in SHIPPED})
]
each_shipped = pytest.mark.parametrize(("kernel", "target"), SHIPPED, ids=map(".".join, SHIPPED))


@cache
def _schedule(kernel: str, target: str) -> Schedule:
    found = default_schedule(kernel, target)
    assert found is not None
    return found


def _bound(kernel: str, sizes: Mapping[str, int]) -> Program:
    bound = bind(program(kernel), sizes)
    verify(bound)
    return bound


def _case(kernel: str, target: str, bound: Program, number: int) -> Case:
    """The kernel as `perfdojoc` makes it: the planner takes over where the schedule is not legal."""
    try:
        made = replay(bound, _schedule(kernel, target), Setting(get_target(target))).program
    except StepError:
        made = None
    return case(f"k{number}_{kernel}", bound, target, "reassoc", made)


def _wrong(
    found: Iterable[tuple[str, str, dict[str, int]]], kinds: tuple[str, ...], optimize: str = ""
) -> list[str]:
    rows = [(k, t, sizes, _bound(k, sizes)) for k, t, sizes in found]
    cases = [_case(k, t, bound, n) for n, (k, t, _, bound) in enumerate(rows)]
    library = build(cases, optimize)
    wrong = []
    for (kernel, target, sizes, bound), c in zip(rows, cases, strict=True):
        for kind in kinds:
            inputs = tamed_inputs(bound) if kind == "tamed" else random_inputs(bound, 1, kind)
            reason = disagreement(library, c, inputs, "reassoc")
            wrong += [f"{kernel}.{target} {sizes}, {kind} inputs: {reason}"] if reason else []
    return wrong


def test_schedules_are_named_after_a_kernel_and_a_target() -> None:
    assert SHIPPED
    for kernel, target in ALL_SHIPPED:
        assert target in SCHEDULED
        assert _schedule(kernel, target).kernel == program(kernel).name
        assert _schedule(kernel, target).target in ("", target)


@each_shipped
def test_schedule_replays_at_the_sizes_of_its_kernel(kernel: str, target: str) -> None:
    found = replay(_bound(kernel, {}), _schedule(kernel, target), Setting(get_target(target))).program
    if not get_target(target).vector_bits:
        return
    busiest = max(found.statements.values(), key=lambda p: prod(const_int(s.extent) for s in p.around))
    assert "vector" in (s.mark for s in busiest.around), f"{busiest.node.name} has no vectors"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", SMALL)
def test_scheduled_kernels_agree_at_small_sizes(target: str, size: int) -> None:
    chosen = [(k, t, dict.fromkeys(SIZES[k].prime, size)) for k, t in SHIPPED if t == target]
    chosen = [(k, t, s) for k, t, s in chosen if work(_bound(k, s)).executions <= EXECUTIONS]
    assert chosen
    assert not _wrong(chosen, ("tamed", "special"))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("which", range(3), ids=("one", "prime", "thousand"))
def test_scheduled_kernels_agree_at_odd_sizes(target: str, which: int) -> None:
    chosen = [(k, t, list(odd_sizes(k))[which]) for k, t in SHIPPED if t == target]
    if which == 2:
        chosen = [(k, t, s) for k, t, s in chosen if not k.startswith(LONG)]
    assert not _wrong(chosen, ("tamed", "special"))


@each_shipped
def test_schedule_keeps_the_meaning_at_small_sizes(kernel: str, target: str) -> None:
    if kernel.startswith(LONG):
        pytest.skip("validated by the slow tests")
    prime = dict(list(odd_sizes(kernel))[1])
    bound = _bound(kernel, {**prime, list(prime)[-1]: COLUMNS})
    found = replay(bound, _schedule(kernel, target), Setting(get_target(target)))
    assert Validator(found.start, "reassoc").validate(found.program).equal


@pytest.mark.slow
@each_shipped
def test_scheduled_kernel_agrees_at_default_and_odd_sizes(kernel: str, target: str) -> None:
    if not can_run(target):
        pytest.skip(f"needs compiler and emulator for {target}")
    chosen = [(kernel, target, s) for s in ({}, *odd_sizes(kernel))]
    assert not _wrong(chosen, ("tamed", "huge"), "-O1")


@pytest.mark.slow
@each_shipped
def test_schedule_keeps_the_meaning(kernel: str, target: str) -> None:
    _validate(kernel, target)


def _validate(kernel: str, target: str) -> None:
    schedule = _schedule(kernel, target)
    made = by_schedule(schedule, Setting(get_target(target)))
    found = validate_made(program(kernel), made, "reassoc", len(schedule.steps))
    assert found.equal, str(found)
