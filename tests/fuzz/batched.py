"""What the soundness runs of targets whose code is built in batches (Snitch, CUDA) have in common."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from perfdojo.backends import emit
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import compare, first_difference, interpret, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.libraries import bits_are_fixed
from perfdojo.compiler.schedule import Scheduled
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.base import Setting, Transform
from perfdojo.compiler.transforms.spelling import name_of
from perfdojo.toolchains.results import Failure, RunResult
from tests.fuzz.programs import lacks
from tests.fuzz.tally import Tally

KINDS = ("normal", "normal", "special", "special", "cancel", "equal")
"""Of inputs, by how often each is taken."""


class Moved(Protocol):
    """A program and what some moves made of it; `program`: behind all moves."""

    @property
    def seed(self) -> int: ...
    @property
    def setting(self) -> Setting: ...
    @property
    def start(self) -> Program: ...
    @property
    def moves(self) -> tuple[Transform, ...]: ...
    @property
    def program(self) -> Program: ...


M = TypeVar("M", bound=Moved)
B = TypeVar("B")


def run_batch(
    seeds: Iterable[int],
    sequence: Callable[[int], M],
    emitted: Callable[[M], EmittedSource],
    built: Callable[[Sequence[EmittedSource]], Sequence[B | Failure]],
    disagreement: Callable[[M, EmittedSource, B], str],
    features: Callable[[M, EmittedSource], list[str]],
    where: Callable[[M], str],
) -> Tally:
    """Make, build and execute the sequences of some seeds.

    Args:
        disagreement: "" or what is wrong with what was built.
        features: what the code has, in words.
        where: names the target and its settings in reports.
    """
    tally = Tally()
    made: list[M] = []
    sources: list[EmittedSource] = []
    for seed in seeds:
        one = None
        try:
            one = sequence(seed)
            reason = lacks(one.program)
            if reason:
                tally.wrong.append(report(one, where(one), reason))
                continue
            source = emitted(one)
        except Exception as error:
            text = f"seed {seed}: {error!r}" if one is None else report(one, where(one), repr(error))
            tally.wrong.append(f"{text}\n{traceback.format_exc()}")
            continue
        made.append(one)
        sources.append(source)
    for one, source, program in zip(made, sources, built(sources), strict=True):
        tally.pairs += 1
        tally.moves += Counter(name_of(m) for m in one.moves)
        tally.has.update(features(one, source))
        reason = program.text if isinstance(program, Failure) else disagreement(one, source, program)
        if reason:
            tally.wrong.append(report(one, where(one), reason))
    return tally


def emitted_as_own(made: Moved, target: str, cores: int = 0) -> EmittedSource:
    """Return the code of a sequence, as a kernel whose name is that of its seed."""
    name = f"k{made.seed}"
    start, now = replace(made.start, name=name), replace(made.program, name=name)
    return emit(start, target, fp=made.setting.fp, scheduled=Scheduled(now, ""), cores=cores)


def wrong_with(made: Moved, ran: RunResult, inputs: Mapping[str, Any]) -> str:
    """Return "" or what is wrong: a fault, other bits where they are fixed, a result beyond its bound."""
    if ran.outcome != "ok":
        return f"{ran.outcome}: {ran.text}"
    if bits_are_fixed(made.start, made.setting.fp, own_library=True):
        return first_difference(ran.outputs, interpret(made.start, inputs))
    verdict = compare(ran.outputs, reference(made.start, inputs, made.setting.fp))
    return "" if verdict.passed else verdict.message


def report(made: Moved, where: str, reason: str) -> str:
    """Return what is wrong, the moves and the program that they made."""
    moves = "\n".join(f"  {m}" for m in made.moves)
    shown = f"of\n{render(made.start)}\nmade\n{render(made.program)}"
    return f"seed {made.seed}, {where}: {reason}\n{moves}\n{shown}"
