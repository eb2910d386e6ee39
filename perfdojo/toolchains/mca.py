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

from perfdojo.toolchains.process import Limits, run
from perfdojo.toolchains.results import MissingTool

NEWEST, OLDEST = 40, 17
"""Versions of llvm-mca that are looked for; older ones model the Neoverse cores by others."""
PACKAGE = "llvm-19"
ITERATIONS = 1000
LIMITS = Limits(wall_s=20.0, output_bytes=64 << 20)

_LABEL = re.compile(r"^([.\w$]+):")
_INSTRUCTION = re.compile(r"^\s+([a-z][\w.]*)(?:\s+(.*))?$")
_ARITHMETIC = re.compile(r"f(?:n?m(?:la|ls|add|sub)|mul|add|sub|div|sqrt)\b")
_PRODUCT = re.compile(r"(?:[su]?ml[as]l?2?|[su]?mull?2?|[su]dot)\s+v")
_VECTOR = re.compile(r"\b[vq]\d")
_UNIT = re.compile(r"^[A-Z]+\d*Unit|\..*$", re.DOTALL)
"""What models put around the name of a unit: their own, and which of several equal ones it is."""
_BRANCH = re.compile(r"b[lr]?|blr|ret|b\.?(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)|[ct]bn?z")
"""What ends straight code on AArch64."""


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
class Loop:
    """An innermost loop of a function in assembly.

    Attributes:
        arithmetic: how many of its instructions are floating-point operations.
        products: how many multiply vectors of integers.
        vectors: how many name a vector register, loads and stores too.
    """

    label: str
    lines: tuple[str, ...]
    arithmetic: int
    products: int
    vectors: int


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


def innermost_loops(assembly: str) -> tuple[Loop, ...]:
    """Return the loops of gcc's assembly that jump back over nothing but straight code."""
    found: list[Loop] = []
    label = ""
    body: list[str] = []
    for line in assembly.splitlines():
        text = line.split("//")[0].rstrip()
        if named := _LABEL.match(text):
            label, body = named[1], []
        elif (said := _INSTRUCTION.match(text)) and not said[1].startswith("."):
            body.append(text.strip())
            if not _BRANCH.fullmatch(said[1]):
                continue
            if label and (said[2] or "").split(",")[-1].strip() == label:
                arithmetic = sum(bool(_ARITHMETIC.match(b)) for b in body)
                vectors = sum(bool(_VECTOR.search(b)) for b in body)
                products = sum(bool(_PRODUCT.match(b)) for b in body)
                found.append(Loop(label, tuple(body), arithmetic, products, vectors))
            label = ""
    return tuple(found)


def main_loop(assembly: str) -> Loop | None:
    """Return the innermost loop with the most arithmetic, products of integers too; of equal ones that with
    the most vectors.
    """
    loops = innermost_loops(assembly)
    return max(loops, key=lambda n: (n.arithmetic + n.products, n.vectors, len(n.lines)), default=None)


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
