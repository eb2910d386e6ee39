"""What the emitted files say in words: how they were made, and what the function promises and expects."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import PurePath
from textwrap import wrap

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import Layout
from perfdojo.compiler.lowering.target import Target
from perfdojo.compiler.schedule import Scheduled
from perfdojo.compiler.text.render import render
from perfdojo.compiler.walk import const_int


def made_by(
    origin: Program,
    emitted: EmittedSource,
    target: Target,
    threads: int,
    scheduled: Scheduled | None = None,
    compiled: tuple[str, ...] = (),
    cores: int = 0,
) -> list[str]:
    """Return the lines of the comment at the top: command, levels, text of the kernel and of its schedule.

    `compiled` tells how the files are compiled, where it is not by the host's gcc.
    """
    name = PurePath(origin.source.name).name if origin.source else f"{origin.name}.ir"
    sizes = "".join(f" -D {s.name}={const_int(s.value)}" for s in origin.sizes if s.given)
    spread = f" --threads {threads}" if threads > 1 else f" --cores {cores}" if cores else ""
    machine = f"{emitted.target} --isa {target.isa}" if target.isa else emitted.target
    how = f" {scheduled.option}" if scheduled and scheduled.option else ""
    text = origin.source.text if origin.source else render(origin)
    return [
        f"Kernel {emitted.kernel} for {target.title}. Made by",
        f"  perfdojoc {_safe(name)} --target {machine} --fp {emitted.fp}{sizes}{spread}{_safe(how)}",
        f"Floating point: {_LEVELS[emitted.fp]}",
        *(compiled or _host_command(emitted, target)),
        "",
        *(_safe(line.rstrip()) for line in text.strip().splitlines()),
        *(("", "Its schedule:", "") if scheduled else ()),
        *(_safe(line.rstrip()) for line in (scheduled.text if scheduled else "").strip().splitlines()),
    ]


def _host_command(emitted: EmittedSource, target: Target) -> tuple[str, ...]:
    command = f"  gcc {' '.join((*_PORTABLE, *emitted.flags))} -c {emitted.kernel}.c"
    if not target.compilers:
        last = "and link with -lm; -O2 and -march=native are fine too, -ffast-math is not."
        return "Compile with", command, last
    last = "and link with -lm; -O2 is fine too, -ffast-math is not."
    return "Compile with", command, f"({target.compilers})", last


def _returns(emitted: EmittedSource) -> str:
    if any("heap" in w for w in emitted.workspace):
        lost = "when memory for a temporary could not be had, then no out array has a defined content"
        return f"Returns 0; 1 {lost}."
    return "Returns 0."


_PORTABLE = ("-std=c11", "-O3", "-ffp-contract=off", "-frounding-math")

_LEVELS = {
    "strict": "strict, every operation is rounded in the order of the text.",
    "contract": "contract, as strict but multiply-adds may be fused.",
    "reassoc": "reassoc, reductions may be summed in another order and multiply-adds fused.",
    "fast": "fast, as reassoc, and divisions may become multiplications by a reciprocal.",
}


def _safe(text: str) -> str:
    """Return text that neither ends a C comment nor begins another, with printable characters only."""
    kept = "".join(c if c.isprintable() or c == "\t" else "?" for c in text)
    kept = kept.replace("*/", "* /").replace("/*", "/ *")
    # a backslash at the end would join lines
    return kept + "." if kept.endswith("\\") else kept


def contract(
    program: Program, emitted: EmittedSource, placed: Mapping[str, Layout], returns: str = ""
) -> list[str]:
    """Return the lines of the comment on the function; `returns`: what it gives back, if not the usual."""
    lines = [_formula(program)] if _formula(program) else []
    lines += ["", "Arguments:"] if lines else ["Arguments:"]
    width = max((len(a.name) for a in emitted.arguments), default=0)
    for a in emitted.arguments:
        shape = ", ".join(map(str, a.shape))
        line = f"  {a.name:<{width}}  {a.role:<5}  {a.dtype}[{shape}]"
        if _row_major(a.shape) != a.strides_elems or prod(a.shape) != a.size_elems:
            line += f", strides {', '.join(map(str, a.strides_elems))}, {a.size_elems} elements in all"
        if a.values is not None:
            line += f", {a.values[0]} <= every element < {a.values[1]}"
        lines.append(line)
    kinds = {a.dtype for a in emitted.arguments}
    if kinds & {"f16", "bf16"}:
        lines.append("f16 and bf16 are passed as their 16 bits.")
    if emitted.tensor == "pairs":
        lines.append("Factors and sums that are subnormal in f32 may count as 0.")
    elif emitted.tensor:
        rounded = ", factors in f32 are rounded to tf32" if emitted.tensor == "tf32" else ""
        lines.append(f"Tensor cores multiply: sums in f32 are truncated, not rounded{rounded}.")
    if "bool" in kinds:
        lines.append("A bool is a byte, 0 or 1.")
    aligned = (
        f"Pointers are multiples of {emitted.alignment}."
        if emitted.alignment
        else "Any alignment of the element type will do, 64 bytes is fastest."
    )
    rules = (
        f"Arrays are row-major where no strides are given. {aligned} No array that is written may overlap"
        " another one. All elements of an out array are written."
    )
    lines += [
        *wrap(rules, 97),
        *wrap(_callers(emitted), 97),
        *(f"Workspace: {w}." for w in emitted.workspace),
        *wrap(returns or _returns(emitted), 97),
    ]
    return [_safe(line) for line in lines]


def _callers(emitted: EmittedSource) -> str:
    """Return who calls the function together, "" where one does."""
    if emitted.cores == 1 and not emitted.dma:
        return ""
    first = "hart 0" if emitted.cores == 1 else f"harts 0 to {emitted.cores - 1}"
    dma = " and 8, which has the DMA engine," if emitted.dma else ""
    main = " The arguments lie in main memory." if emitted.memory == "main" else ""
    return (
        f"To be called by {first}{dma} of the cluster together, with the same arguments; all other harts have"
        f" to arrive at each barrier in it. The results are there when all have returned.{main}"
    )


def _formula(program: Program) -> str:
    """Return the first comment of the kernel's text, which states its formula by custom."""
    if program.source is None:
        return ""
    first = program.source.text.lstrip().split("\n", 1)[0]
    return first.lstrip("# ").rstrip() if first.startswith("#") else ""


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
