"""Static throughput of innermost loops by llvm-mca: an estimate from a model of a processor, never a time."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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
    """An innermost loop of a function in assembly; `arithmetic`: its floating-point operations."""

    label: str
    lines: tuple[str, ...]
    arithmetic: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the model says of a loop.

    Attributes:
        cycles: of one iteration, of many in a row.
        share: part of the cycles of all `pipes` in which they start the loop's arithmetic.
    """

    model: Model
    loop: Loop
    cycles: float
    share: float


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
                count = sum(bool(_ARITHMETIC.match(b)) for b in body)
                found.append(Loop(label, tuple(body), count))
            label = ""
    return tuple(found)


def main_loop(assembly: str) -> Loop | None:
    """Return the innermost loop with the most arithmetic; None where none has any."""
    loops = [n for n in innermost_loops(assembly) if n.arithmetic]
    return max(loops, key=lambda n: n.arithmetic) if loops else None


def estimate(loop: Loop, model: Model) -> Estimate | str:
    """Return what the model says of a loop, or one sentence on why it says nothing."""
    path, _ = find_mca()
    with tempfile.TemporaryDirectory(prefix="perfdojo-mca-") as name:
        file = Path(name) / "loop.s"
        file.write_text("\n".join(loop.lines) + "\n")
        options = [f"-mtriple={model.triple}", f"-mcpu={model.name}", f"-iterations={ITERATIONS}"]
        done = run([path, *options, "-instruction-info=false", "--json", str(file)], LIMITS)
    try:
        summary = json.loads(done.stdout)["CodeRegions"][0]["SummaryView"]
        cycles = summary["TotalCycles"] / summary["Iterations"]
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        return f"llvm-mca does not take the loop: {(done.stderr.strip().splitlines() or ['no output'])[0]}"
    return Estimate(model, loop, cycles, loop.arithmetic / (cycles * model.pipes))
