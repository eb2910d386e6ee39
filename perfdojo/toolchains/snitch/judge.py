"""What a finished program left in memory: how its calls went, and whether the kernel kept to its contract."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.leftovers import judge_memory
from perfdojo.toolchains.results import Outcome
from perfdojo.toolchains.snitch.layout import DMA_HART, STACK_BYTES, Area

MAGIC = 0x4A444650
CAUSES = {
    0: "instruction address misaligned",
    1: "instruction access fault",
    2: "illegal instruction",
    3: "breakpoint",
    4: "load address misaligned",
    5: "load access fault",
    6: "store address misaligned",
    7: "store access fault",
    8: "environment call",
    11: "environment call",
}
"""Of traps, by mcause (RISC-V privileged specification, table 3.6)."""
KEPT = {
    0: "s0",
    **{k: f"s{k}" for k in range(1, 12)},
    12: "sp",
    13: "frm",
    **{16 + k: f"fs{k}" for k in range(12)},
}
"""The bits of the word that start.S leaves for each hart: registers with other values than before."""

_HEAD_BYTES, _HART_BYTES = 64, 128


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the kernel, as the first hart saw it.

    Attributes:
        begin, own, end: mcycle before the call, behind it and the wait for the FPU, and when all harts
            were there.
        returned: what the function returned.
    """

    begin: int
    own: int
    end: int
    returned: int

    @property
    def cycles(self) -> int:
        """Cycles of the call."""
        return (self.end - self.begin) & 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Results:
    """The words that start.S leaves in `perfdojo_results`.

    Attributes:
        calls: of the first hart, one for each repetition.
        broken: (hart, registers that the kernel should have kept).
        overrun: harts whose stack ran over.
        trap: (mcause, mepc, hart), or None.
    """

    done: bool
    exit_code: int
    calls: tuple[Call, ...]
    returned: tuple[int, ...]
    broken: tuple[tuple[int, tuple[str, ...]], ...]
    overrun: tuple[int, ...]
    trap: tuple[int, int, int] | None


def results_bytes(emitted: EmittedSource) -> int:
    """Return the size of `perfdojo_results`."""
    return _HEAD_BYTES + _HART_BYTES * (emitted.cores + emitted.dma)


def read_results(emitted: EmittedSource, memory: bytes, repetitions: int) -> Results:
    """Read the words that the program left."""
    magic, done, code, trapped, cause, pc, hart = struct.unpack_from("<7I", memory)
    callers = emitted.cores + emitted.dma
    blocks = [
        struct.unpack_from("<18I", memory, _HEAD_BYTES + _HART_BYTES * k)
        for k in range(callers if magic == MAGIC else 0)
    ]
    calls = tuple(Call(*blocks[0][4 * r : 4 * r + 4]) for r in range(repetitions)) if blocks else ()
    harts = [DMA_HART if k == emitted.cores else k for k in range(callers)]
    return Results(
        magic == MAGIC and done == 1,
        code,
        calls,
        tuple(b[4 * r + 3] for b in blocks for r in range(repetitions)),
        tuple((h, tuple(_registers(b[16]))) for h, b in zip(harts, blocks, strict=False) if b[16]),
        tuple(h for h, b in zip(harts, blocks, strict=False) if b[17]),
        (cause, pc, hart) if trapped else None,
    )


def judge_results(emitted: EmittedSource, results: Results, where: str) -> tuple[Outcome, str]:
    """Judge the words; ok, or what is wrong in one sentence. `where` names the place of a trap."""
    if results.trap is not None:
        cause, _, hart = results.trap
        name = CAUSES.get(cause, f"cause {cause}")
        return "crash", f"hart {hart} trapped at {where}: {name}"
    if not results.done:
        return "crash", "the program ended before the kernel returned"
    if results.broken:
        hart, registers = results.broken[0]
        text = (
            f"{emitted.symbol} returned with other values in {', '.join(registers)} than it was called with"
        )
        return "wrong-result", text + (f" (hart {hart})" if emitted.cores > 1 else "")
    if results.overrun:
        size = STACK_BYTES[emitted.cores > 1 or emitted.dma]
        return "memory-overwrite", f"the stack of hart {results.overrun[0]} needs more than its {size} bytes"
    if any(results.returned):
        return "out-of-memory", f"{emitted.symbol} returned {max(results.returned)}"
    return "ok", ""


def judge_area(area: Area, before: bytes, first: bytes, second: bytes) -> tuple[Outcome, str]:
    """Judge the area after the calls 0 and 1; `before` is what it held before call 0."""
    for k, a in enumerate(area.arguments):
        at = area.offsets[k]
        changed = _first_changed(before, first, at + a.bytes, area.end(k))
        if changed is None and k == 0:
            changed = _first_changed(before, first, 0, at)
        if changed is not None:
            return (
                "memory-overwrite",
                f"{a.name} has {a.bytes} bytes, but its byte {changed - at} was written",
            )
        if a.role == "in":
            changed = _first_changed(before, first, at, at + a.bytes)
            if changed is not None:
                return "memory-overwrite", f"{a.name} is an input, but its byte {changed - at} was written"
    for a, at in zip(area.arguments, area.offsets, strict=True):
        outcome, text = judge_memory(a, first[at : at + a.bytes], second[at : at + a.bytes])
        if outcome != "ok":
            return outcome, text
    return "ok", ""


def _first_changed(before: bytes, after: bytes, start: int, end: int) -> int | None:
    if before[start:end] == after[start:end]:
        return None
    old, new = (np.frombuffer(m[start:end], np.uint8) for m in (before, after))
    return start + int(np.argmax(old != new))


def _registers(bits: int) -> Iterator[str]:
    return (name for bit, name in KEPT.items() if bits >> bit & 1)
