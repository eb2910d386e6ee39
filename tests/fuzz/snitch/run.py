"""Executes sequences on the simulated cluster, and says how they differ from the interpreter."""

from __future__ import annotations

import random
from collections.abc import Iterable

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import random_inputs
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.run import Built, run
from tests.fuzz.batched import KINDS, emitted_as_own, run_batch, wrong_with
from tests.fuzz.snitch.batches import built
from tests.fuzz.snitch.sequences import Sequence, sequence
from tests.fuzz.tally import Tally


def run_seeds(seeds: Iterable[int], tools: Tools) -> Tally:
    """Make, build and execute the sequences of some seeds."""
    return run_batch(
        seeds,
        sequence,
        lambda made: emitted_as_own(made, made.target, made.cores),
        lambda sources: built(sources, tools),
        disagreement,
        features,
        lambda made: f"{made.target} {made.setting.fp}, {made.cores or 'all'} cores",
    )


def disagreement(made: Sequence, source: EmittedSource, program: Built) -> str:
    """Return "" or what is wrong with one run on random inputs."""
    inputs = random_inputs(made.start, made.seed, random.Random(made.seed).choice(KINDS))
    return wrong_with(made, run(program, inputs), inputs)


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
