"""Executes sequences in the emulated GPU, and says how they differ from the interpreter."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import random_inputs
from perfdojo.toolchains.cuda.device import device_of
from perfdojo.toolchains.cuda.emulation import Emulated
from perfdojo.toolchains.cuda.run import run_emulated
from perfdojo.toolchains.harness import Host
from tests.fuzz.batched import KINDS, emitted_as_own, run_batch, wrong_with
from tests.fuzz.cuda.batches import ARCHITECTURE, built
from tests.fuzz.cuda.sequences import Sequence, sequence
from tests.fuzz.tally import Tally

ORDERS = 3
"""Of threads and blocks that each sequence is run in."""
TIMEOUT_S = 60.0


def run_seeds(seeds: Iterable[int], host: Host) -> Tally:
    """Make, build and execute the sequences of some seeds."""
    with TemporaryDirectory() as folder:
        return run_batch(
            seeds,
            sequence,
            emitted,
            lambda sources: built(sources, host, Path(folder)),
            disagreement,
            features,
            lambda made: f"cuda {made.setting.fp}",
        )


def emitted(made: Sequence) -> EmittedSource:
    """Return the code of a sequence, as a kernel of its own name."""
    return emitted_as_own(made, "cuda")


def disagreement(made: Sequence, source: EmittedSource, library: Emulated) -> str:
    """Return "" or what is wrong in one of several orders of threads and blocks."""
    rng = random.Random(made.seed)
    inputs = random_inputs(made.start, made.seed, rng.choice(KINDS))
    orders = [rng.getrandbits(30) for _ in range(ORDERS)]
    ran, _ = run_emulated(source, library, device_of(ARCHITECTURE), inputs, orders, TIMEOUT_S)
    return wrong_with(made, ran, inputs)


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
