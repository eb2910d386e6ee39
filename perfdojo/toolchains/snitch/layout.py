"""Where the arguments of a kernel lie: one area with guards between them; the texts that tell the harness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.emitted import Argument, EmittedSource
from perfdojo.compiler.lowering.nests.limits import TCDM_BYTES

LINE = 64
"""Bytes between arguments, and what all of them are aligned to: a block that the DMA moves in a cycle."""
ARGUMENT_BYTES = TCDM_BYTES - (8 << 10)
"""Of the TCDM, for arguments; the rest is for stacks, the harness and what the kernel keeps there."""
STACK_BYTES = {True: 1024, False: 4096}
"""Of each hart: where several call the kernel, and where one does."""
DMA_HART = 8
PATTERNS = {"in": (b"\xfb\x7f", b"\x29\x3d"), "out": (b"\xfd\x7f", b"\x35\xb6")}
"""What guards and fresh outputs hold in calls with even and with odd numbers, as in harness/buffers.h."""


@dataclass(frozen=True, slots=True)
class Area:
    """All arguments with a guard before, between and behind them.

    Attributes:
        offsets: of each argument, bytes from the start.
        size_bytes: a multiple of `alignment`.
        in_main: the arguments lie in main memory rather than in the TCDM.
    """

    arguments: tuple[Argument, ...]
    offsets: tuple[int, ...]
    size_bytes: int
    alignment: int
    in_main: bool

    def end(self, k: int) -> int:
        """Return the offset behind the guard of argument `k`, where the next one starts."""
        return self.offsets[k + 1] if k + 1 < len(self.offsets) else self.size_bytes


def place(emitted: EmittedSource) -> Area:
    """Return the area: in the TCDM if the source says so, or says nothing and all of it fits there."""
    alignment = max(LINE, emitted.alignment)
    offsets = []
    at = _up(LINE, alignment)
    for a in emitted.arguments:
        offsets.append(at)
        at = _up(_up(at + a.bytes, LINE) + LINE, alignment)
    in_main = emitted.memory == "main" or (not emitted.memory and at > ARGUMENT_BYTES)
    return Area(emitted.arguments, tuple(offsets), at, alignment, in_main)


def plan_header(emitted: EmittedSource, area: Area) -> str:
    """Return the header that start.S describes."""
    several = emitted.cores > 1 or emitted.dma
    values = {
        "KERNEL": emitted.symbol,
        "WAITS": int(emitted.waits),
        "CORES": emitted.cores,
        "DMA_HART": DMA_HART if emitted.dma else -1,
        "ARGUMENTS": len(area.arguments),
        "AREA_BYTES": area.size_bytes,
        "IN_MAIN": int(area.in_main),
        "STACK_BYTES": STACK_BYTES[several],
    }
    return "".join(f"#define {name} {value}\n" for name, value in values.items())


def arguments_text(area: Area) -> str:
    """Return the assembly that reserves memory for images, arguments and snapshots."""
    offsets = [*area.offsets, *[0] * (8 - len(area.offsets))]
    lines = [
        _section(".constants", area.alignment, "perfdojo_offsets"),
        *[f"    .word {o}" for o in offsets],
        _section(".images", area.alignment, "perfdojo_images"),
        f"    .zero {2 * area.size_bytes}",
    ]
    if not area.in_main:
        lines += [
            _section(".area", area.alignment, "perfdojo_area", "nobits"),
            f"    .zero {area.size_bytes}",
            _section(".snapshots", area.alignment, "perfdojo_snapshots", "nobits"),
            f"    .zero {2 * area.size_bytes}",
        ]
    return "\n".join(lines) + "\n"


def checks_text(emitted: EmittedSource, area: Area) -> str:
    """Return the assembly with the table of checks that check.c describes; the intervals are zero."""
    table: list[tuple[int, int, int, int, int, str]] = []
    spans: list[tuple[int, int]] = []
    at = intervals = 0
    for a, offset in zip(area.arguments, area.offsets, strict=True):
        if a.role == "in":
            continue
        spans.append((at, offset))
        at = offset + a.bytes
        kind, fraction = _kind(a.dtype)
        where = f"perfdojo_intervals + {16 * intervals}"
        table.append((offset, a.size_elems, DTYPES[a.dtype].bytes, kind, fraction, where))
        intervals += a.size_elems
    spans.append((at, area.size_bytes))
    table += [(start, 0, end - start, 0, 0, "0") for start, end in spans if end > start]
    lines = [
        _section(".main", 8, "perfdojo_checks"),
        *[f"    .word {', '.join(map(str, row))}" for row in table],
        "    .globl perfdojo_check_count, perfdojo_callers",
        "perfdojo_check_count:",
        f"    .word {len(table)}",
        "perfdojo_callers:",
        f"    .word {emitted.cores + emitted.dma}",
        _section(".intervals", 64, "perfdojo_intervals"),
        f"    .zero {16 * max(1, intervals)}",
        _section(".main", 64, "perfdojo_original"),
        f"    .zero {area.size_bytes}",
    ]
    return "\n".join(lines) + "\n"


def image(area: Area, memory: dict[str, bytes], call: int) -> bytes:
    """Return what the area holds before a call: `memory` of arguments that are read, patterns elsewhere."""
    whole = np.empty(area.size_bytes, np.uint8)
    start = 0
    for k, a in enumerate(area.arguments):
        end = area.end(k)
        _fill(
            whole[start:end], PATTERNS["in" if a.role == "in" else "out"][call & 1], start - area.offsets[k]
        )
        start = end
    _fill(whole[start:], PATTERNS["out"][call & 1], 0)
    for k, a in enumerate(area.arguments):
        if a.role != "out":
            at = area.offsets[k]
            whole[at : at + a.bytes] = np.frombuffer(memory[a.name], np.uint8)
    return whole.tobytes()


def _fill(part: NDArray[np.uint8], pattern: bytes, first: int) -> None:
    """Repeat the pattern over `part`, which starts at byte `first` of its argument."""
    repeated = pattern[first & 1 :] + pattern[: first & 1]
    part[:] = np.frombuffer((repeated * (len(part) // 2 + 1))[: len(part)], np.uint8)


def _section(name: str, alignment: int, symbol: str, kind: str = "progbits") -> str:
    return f'    .section {name}, "aw", @{kind}\n    .balign {alignment}\n    .globl {symbol}\n{symbol}:'


def _kind(dtype: str) -> tuple[int, int]:
    """Kind of number and bits of its fraction, as check.c takes them."""
    fractions = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}
    if dtype in fractions:
        return 2, fractions[dtype]
    return int(dtype.startswith("i")), 0


def _up(n: int, unit: int) -> int:
    return -(-n // unit) * unit
