"""Executes sequences in the emulated GPU, and says how they differ from the interpreter."""

from __future__ import annotations

import random
import re
import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from perfdojo.backends import emit
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import compare, first_difference, interpret, random_inputs, reference
from perfdojo.compiler.libraries import bits_are_fixed
from perfdojo.compiler.schedule import Scheduled
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.spelling import name_of
from perfdojo.toolchains.cuda.device import device_of
from perfdojo.toolchains.cuda.emulation import Emulated
from perfdojo.toolchains.cuda.run import run_emulated
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import Failure
from tests.fuzz.cuda.batches import ARCHITECTURE, built
from tests.fuzz.cuda.sequences import Sequence, sequence
from tests.fuzz.programs import lacks
from tests.fuzz.tally import Tally

KINDS = ("normal", "normal", "special", "special", "cancel", "equal")
ORDERS = 3
"""Of threads and blocks that each sequence is run in."""
TIMEOUT_S = 60.0


def run_seeds(seeds: Iterable[int], host: Host) -> Tally:
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
    with TemporaryDirectory() as folder:
        for one, source, library in zip(made, sources, built(sources, host, Path(folder)), strict=True):
            tally.pairs += 1
            tally.moves += Counter(name_of(m) for m in one.moves)
            tally.has.update(features(one, source))
            reason = library.text if isinstance(library, Failure) else disagreement(one, source, library)
            if reason:
                tally.wrong.append(report(one, reason))
    return tally


def emitted(made: Sequence) -> EmittedSource:
    """Return the code of a sequence, as a kernel of its own name."""
    name = f"k{made.seed}"
    start, now = replace(made.start, name=name), replace(made.program, name=name)
    return emit(start, "cuda", fp=made.setting.fp, scheduled=Scheduled(now, ""))


def disagreement(made: Sequence, source: EmittedSource, library: Emulated) -> str:
    """Return "" or what is wrong: a fault, other bits where they are fixed, a result beyond its bound."""
    rng = random.Random(made.seed)
    inputs = random_inputs(made.start, made.seed, rng.choice(KINDS))
    orders = [rng.getrandbits(30) for _ in range(ORDERS)]
    ran, _ = run_emulated(source, library, device_of(ARCHITECTURE), inputs, orders, TIMEOUT_S)
    if ran.outcome != "ok":
        return f"{ran.outcome}: {ran.text}"
    if bits_are_fixed(made.start, made.setting.fp, own_library=True):
        return first_difference(ran.outputs, interpret(made.start, inputs))
    verdict = compare(ran.outputs, reference(made.start, inputs, made.setting.fp))
    return "" if verdict.passed else verdict.message


def features(made: Sequence, source: EmittedSource) -> list[str]:
    """Return what the code of a sequence has, in words."""
    text = source.files[0][1]
    kernels = text.split("__global__")[1:]
    has = {
        "at strict": made.setting.fp == "strict",
        "blocks": "blockIdx" in text,
        "threads": "threadIdx" in text,
        "threads along several axes": len(set(re.findall(r"= threadIdx\.(\w)", text))) > 1,
        "shared memory": "__shared__" in text,
        "barriers": "__syncthreads" in text,
        "barriers in loops": re.search(r"^    +__syncthreads", text, re.MULTILINE) is not None,
        "several kernels": len(kernels) > 1,
        "workspaces": "cudaMallocAsync" in text,
        "shuffles": "__shfl" in text,
        "wide accesses": re.search(r"\*\((const )?\w+ \*\)", text) is not None,
        "copies that are waited for later": "__pipeline" in text,
        "other code beside threads": "threadIdx.x == 0" in text,
    }
    return [name for name, is_so in has.items() if is_so]


def report(made: Sequence, reason: str) -> str:
    """Return what is wrong, the moves and the program that they made."""
    moves = "\n".join(f"  {m}" for m in made.moves)
    return (
        f"seed {made.seed}, cuda {made.setting.fp}: {reason}\n{moves}\n"
        f"of\n{render(made.start)}\nmade\n{render(made.program)}"
    )
