"""Executes sequences on the simulated cluster, and says how they differ from the interpreter."""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from perfdojo.backends import emit
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import compare, first_difference, interpret, random_inputs, reference
from perfdojo.compiler.libraries import bits_are_fixed
from perfdojo.compiler.schedule import Scheduled
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.spelling import name_of
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.run import Built, run
from tests.fuzz.programs import lacks
from tests.fuzz.snitch.batches import built
from tests.fuzz.snitch.sequences import Sequence, sequence
from tests.fuzz.tally import Tally

KINDS = ("normal", "normal", "special", "special", "cancel", "equal")


def run_seeds(seeds: Iterable[int], tools: Tools) -> Tally:
    """Make, build and execute the sequences of some seeds."""
    tally = Tally()
    made: list[Sequence] = []
    sources: list[EmittedSource] = []
    for seed in seeds:
        one = None
        try:
            one = sequence(seed)
            reason = lacks(one.program)
            if reason:
                tally.wrong.append(report(one, reason))
                continue
            source = emitted(one)
        except Exception as error:
            text = f"seed {seed}: {error!r}" if one is None else report(one, repr(error))
            tally.wrong.append(f"{text}\n{traceback.format_exc()}")
            continue
        made.append(one)
        sources.append(source)
    for one, source, program in zip(made, sources, built(sources, tools), strict=True):
        tally.pairs += 1
        tally.moves += Counter(name_of(m) for m in one.moves)
        tally.has.update(features(one, source))
        reason = program.text if isinstance(program, Failure) else disagreement(one, program)
        if reason:
            tally.wrong.append(report(one, reason))
    return tally


def emitted(made: Sequence) -> EmittedSource:
    """Return the code of a sequence, as a kernel of its own name."""
    name = f"k{made.seed}"
    start, now = replace(made.start, name=name), replace(made.program, name=name)
    return emit(start, made.target, fp=made.setting.fp, scheduled=Scheduled(now, ""), cores=made.cores)


def disagreement(made: Sequence, program: Built) -> str:
    """Return "" or what is wrong: a fault, other bits where they are fixed, a result beyond its bound."""
    inputs = random_inputs(made.start, made.seed, random.Random(made.seed).choice(KINDS))
    ran = run(program, inputs)
    if ran.outcome != "ok":
        return f"{ran.outcome}: {ran.text}"
    if bits_are_fixed(made.start, made.setting.fp, own_library=True):
        return first_difference(ran.outputs, interpret(made.start, inputs))
    verdict = compare(ran.outputs, reference(made.start, inputs, made.setting.fp))
    return "" if verdict.passed else verdict.message


def features(made: Sequence, source: EmittedSource) -> list[str]:
    """Return what the code of a sequence has, in words."""
    assembly = "\n".join(text for name, text in source.files if name == f"k{made.seed}.S")
    code = [line.split("#")[0].strip() for line in assembly.splitlines() if not line.startswith("    .")]
    nests = sum("SSR, 1" in line and "csrrsi" in line for line in code)
    whole = not any(name.endswith(".c") for name, _ in source.files)
    has = {
        "at strict": made.setting.fp == "strict",
        "streams": nests > 0,
        "several nests": nests > 1,
        "nothing but nests": whole,
        "repeated loops": any(line.startswith("frep_o") for line in code),
        "lanes": any(line.startswith("vf") for line in code),
        "several cores": source.cores > 1,
        "DMA": source.dma,
    }
    return [name for name, is_so in has.items() if is_so]


def report(made: Sequence, reason: str) -> str:
    """Return what is wrong, the moves and the program that they made."""
    moves = "\n".join(f"  {m}" for m in made.moves)
    return (
        f"seed {made.seed}, {made.target} {made.setting.fp}, {made.cores or 'all'} cores: {reason}\n{moves}\n"
        f"of\n{render(made.start)}\nmade\n{render(made.program)}"
    )
