"""Many kernels in one program: one build for all, with the harness of the product, patched for each."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

from perfdojo.backends.snitch.runtime import runtime_files
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.elf import read_elf
from perfdojo.toolchains.snitch.gcc import Tools, build_elf
from perfdojo.toolchains.snitch.layout import Area, place
from perfdojo.toolchains.snitch.run import Built, build

CHOSEN = "many_chosen"
"""The symbol that the harness calls: it goes on to the kernel whose address is patched in."""
DISPATCH = f"""    .section .text.harness, "ax"
    .globl {CHOSEN}
{CHOSEN}:
    la t0, many_entry
    lw t0, 0(t0)
    jr t0

    .section .constants, "aw"
    .balign 8
    .globl many_entry
many_entry:
    .word 0, 0
"""
RUNTIME = "snitch_runtime."
SHARED = "snitch_"
"""What names begin with of files that several kernels have."""


def built(sources: Sequence[EmittedSource], tools: Tools) -> list[Built | Failure]:
    """Build kernels, whose names differ, with one program for those that the same harts run."""
    groups: dict[tuple[object, ...], list[int]] = {}
    areas = [place(e) for e in sources]
    for k, (e, area) in enumerate(zip(sources, areas, strict=True)):
        groups.setdefault((e.cores, e.dma, e.requires, e.flags, area.in_main), []).append(k)
    found: dict[int, Built | Failure] = {}
    for group in groups.values():
        made = _group([sources[k] for k in group], [areas[k] for k in group], tools)
        found |= dict(zip(group, made, strict=True))
    return [found[k] for k in range(len(sources))]


def _group(sources: list[EmittedSource], areas: list[Area], tools: Tools) -> list[Built | Failure]:
    """Build kernels together; by halves where they do not build, or do not fit the TCDM together."""
    if len(sources) == 1:
        return [build(sources[0], tools)]
    size = max(a.size_bytes for a in areas)
    longest = max(areas, key=lambda a: len(a.arguments))
    whole = replace(longest, size_bytes=size)
    made = build_elf(_joined(sources, whole), whole, tools)
    if isinstance(made, Failure):
        half = len(sources) // 2
        return [
            *_group(sources[:half], areas[:half], tools),
            *_group(sources[half:], areas[half:], tools),
        ]
    elf = read_elf(made.path)
    words = max(8, len(longest.arguments))
    found: list[Built | Failure] = []
    for e, area in zip(sources, areas, strict=True):
        offsets = [*area.offsets, *[0] * (words - len(area.offsets))]
        chosen = elf.patched(
            {
                "many_entry": struct.pack("<I", elf.symbols[e.symbol]),
                "perfdojo_offsets": struct.pack(f"<{words}I", *offsets),
            }
        )
        found.append(Built(e, tools, replace(area, size_bytes=size), chosen, made.command, made.warnings))
    return found


def _joined(sources: list[EmittedSource], whole: Area) -> EmittedSource:
    """Return one source with the files of all, and one runtime that has what any of them uses."""
    own = [f for e in sources for f in e.files if not f[0].startswith(SHARED)]
    others = {f[0]: f for e in sources for f in e.files if f[0].startswith(SHARED)}
    if any(name.startswith(RUNTIME) for name in others):
        others |= {f[0]: f for f in runtime_files("\n".join(t for n, t in own if n.endswith(".c")))}
    return replace(
        sources[0],
        kernel="many",
        symbol=CHOSEN,
        arguments=whole.arguments,
        files=(("many.S", DISPATCH), *own, *others.values()),
    )
