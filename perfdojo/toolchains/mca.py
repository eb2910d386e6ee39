"""Static throughput of innermost loops by llvm-mca: an estimate from a model of a processor, never a time."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from perfdojo.toolchains.loops import Loop
from perfdojo.toolchains.process import Limits, run
from perfdojo.toolchains.results import MissingTool

NEWEST, OLDEST = 40, 17
"""Versions of llvm-mca that are looked for; older ones model the Neoverse cores by others."""
PACKAGE = "llvm-19"
ITERATIONS = 1000
LIMITS = Limits(wall_s=20.0, output_bytes=64 << 20)

_UNIT = re.compile(r"^[A-Z]+\d*Unit|\..*$", re.DOTALL)
"""What models put around the name of a unit: their own, and which of several equal ones it is."""


@dataclass(frozen=True, slots=True)
class Model:
    """A processor that llvm-mca knows.

    Attributes:
        name: as -mcpu takes it.
        triple: of its instruction set.
        pipes: units that start a floating-point multiply-add each cycle.
    """

    name: str
    triple: str
    pipes: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the model says of a loop.

    Attributes:
        cycles: of one iteration, of many in a row.
        share: part of the cycles of all `pipes` in which they start the loop's arithmetic.
        busiest, busy: the units of one kind that are busy for the largest part of the cycles, as the model
            names them, or `dispatch`, what hands instructions to all of them; and that part.
    """

    model: Model
    loop: Loop
    cycles: float
    share: float
    busiest: str
    busy: float


@cache
def find_mca() -> tuple[str, int]:
    """Return the newest llvm-mca and its version.

    Raises:
        MissingTool: there is none, or none that knows the models; names the package.
    """
    for number in range(NEWEST, OLDEST - 1, -1):
        found = shutil.which(f"llvm-mca-{number}")
        if found:
            return found, number
    plain = shutil.which("llvm-mca")
    said = re.search(r"version (\d+)", run([plain, "--version"], LIMITS).stdout) if plain else None
    if plain and said and int(said[1]) >= OLDEST:
        return plain, int(said[1])
    raise MissingTool(f"llvm-mca {OLDEST} or newer", PACKAGE)


def estimate(loop: Loop, model: Model) -> Estimate | str:
    """Return what the model says of a loop, or one sentence on why it says nothing."""
    path, _ = find_mca()
    with tempfile.TemporaryDirectory(prefix="perfdojo-mca-") as name:
        file = Path(name) / "loop.s"
        file.write_text("\n".join(loop.lines) + "\n")
        options = [f"-mtriple={model.triple}", f"-mcpu={model.name}", f"-iterations={ITERATIONS}"]
        done = run([path, *options, "-instruction-info=false", "--json", str(file)], LIMITS)
    try:
        found = json.loads(done.stdout)
        summary = found["CodeRegions"][0]["SummaryView"]
        cycles = summary["TotalCycles"] / summary["Iterations"]
        busy = _busy(found, cycles)
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        return f"llvm-mca does not take the loop: {(done.stderr.strip().splitlines() or ['no output'])[0]}"
    most = max(busy, key=lambda n: busy[n])
    share = loop.arithmetic / (cycles * model.pipes)
    return Estimate(model, loop, cycles, share, most, busy[most])


def _busy(found: dict[str, Any], cycles: float) -> dict[str, float]:
    """Return the part of the cycles in which units work, the mean over equal ones, by their name."""
    region = found["CodeRegions"][0]
    summary = region["SummaryView"]
    names = [_UNIT.sub("", n) for n in found["TargetInfo"]["Resources"]]
    busy = {"dispatch": summary["TotaluOps"] / summary["TotalCycles"] / summary["DispatchWidth"]}
    for row in region["ResourcePressureView"]["ResourcePressureInfo"]:
        # the rows behind those of the instructions are their sums, for one iteration
        if row["InstructionIndex"] == len(region["Instructions"]):
            name = names[row["ResourceIndex"]]
            busy[name] = busy.get(name, 0.0) + row["ResourceUsage"] / cycles / names.count(name)
    return busy
