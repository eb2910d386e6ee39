"""`--trace`: what every unit did cycle by cycle, as a file for Perfetto (ui.perfetto.dev) or chrome://tracing.

One microsecond of the viewer is one cycle. The file is in the Trace Event Format of Chromium: complete events
("ph": "X") on named threads of named processes, a process for each hart.
"""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.toolchains.arrays import Array
from perfdojo.toolchains.snitch.listing import Instruction, disassemble
from perfdojo.toolchains.snitch.measure import CycleMeasurement
from perfdojo.toolchains.snitch.run import CHECK_TIMEOUT_S, Built, builtin, input_memory, job, limits, program

RECORD = struct.Struct("<QHHIII")
"""cycle, kind, hart, a, b, unused: as sim/events.h describes them."""
CORE, FPU, FREP_BEGIN, FREP_END, STREAM_BEGIN, STREAM_END, DMA_BEGIN, DMA_END, BARRIER, RELEASED = range(
    1, 11
)
BEGINS = (FREP_BEGIN, STREAM_BEGIN, DMA_BEGIN, BARRIER)
ROWS = ("integer core", "barrier", "FPU", "FREP", "ft0", "ft1", "ft2", "DMA")
ROW_CORE, ROW_BARRIER, ROW_FPU, ROW_FREP, ROW_STREAM, ROW_DMA = 0, 1, 2, 3, 4, 7
MOST_CYCLES, MOST_EVENTS = 500_000, 500_000
"""Of a trace: viewers take some hundred bytes of memory for each event."""

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """Something that a unit did from one cycle up to another; `row` is an index of `ROWS`."""

    hart: int
    row: int
    begin: int
    end: int
    name: str
    details: Mapping[str, Any]


def trace_call(built: Built, inputs: Mapping[str, Array], m: CycleMeasurement) -> str:
    """Return the trace of the call that `m` measured on the built-in simulator, as JSON text.

    Raises:
        PerfDojoError: the call is so long that no viewer would show its trace.
    """
    if m.cycles > MOST_CYCLES:
        raise PerfDojoError(
            f"a trace of {m.cycles} cycles is too big to be looked at; the most is {MOST_CYCLES}",
            hint="choose smaller sizes with -D",
        )
    elf = program(built, input_memory(built, inputs), len(m.calls), 0)
    done = builtin(built.tools)(elf, job(built, events=True), limits(CHECK_TIMEOUT_S))
    code = disassemble(built.elf, *built.code, built.tools.compiler)
    return trace(done.events, m.window, code, f"{built.emitted.symbol}, {m.cycles} cycles")


def trace(log: bytes, window: tuple[int, int], code: tuple[Instruction, ...], title: str) -> str:
    """Return the trace of the cycles in `window` as JSON text.

    Args:
        log: the event log of the simulator.
        code: the kernel, for the names of instructions.
    """
    spans = sorted(_spans(log, window, {i.pc: i for i in code}), key=lambda s: s.begin)
    dropped = max(0, len(spans) - MOST_EVENTS)
    spans = spans[:MOST_EVENTS]
    events = [*_names(spans), *(_event(s, window[0]) for s in spans)]
    about = {"title": title, "unit": "1 us is 1 cycle", "cycles": window[1] - window[0], "left out": dropped}
    lines = ",\n".join(json.dumps(e, separators=(",", ":")) for e in events)
    return f'{{"displayTimeUnit":"ns","otherData":{json.dumps(about)},"traceEvents":[\n{lines}\n]}}\n'


def _spans(log: bytes, window: tuple[int, int], code: Mapping[int, Instruction]) -> Iterator[Span]:
    begun: defaultdict[tuple[int, int, int], list[Span]] = defaultdict(list)
    for cycle, kind, hart, a, b, _ in RECORD.iter_unpack(log[: len(log) // RECORD.size * RECORD.size]):
        if cycle >= window[1]:
            break
        if kind in (CORE, FPU):
            i = code.get(a)
            name = i.name if i else "harness"
            details = {"operands": i.operands, "pc": f"{a:08x}"} if i else {"pc": f"{a:08x}"}
            if cycle >= window[0]:
                yield Span(hart, ROW_CORE if kind == CORE else ROW_FPU, cycle, cycle + 1, name, details)
            continue
        row, name, details = _meaning(kind, a, b)
        key = hart, row, a if row == ROW_DMA else 0
        if kind in BEGINS:
            begun[key].append(Span(hart, row, max(cycle, window[0]), window[1], name, details))
        elif begun[key]:
            span = begun[key].pop()
            if cycle > window[0]:
                yield replace(span, end=cycle)
    for spans in begun.values():
        yield from spans


def _meaning(kind: int, a: int, b: int) -> tuple[int, str, dict[str, Any]]:
    """Row, name and details of what begins or ends."""
    if kind in (FREP_BEGIN, FREP_END):
        return ROW_FREP, f"{b} passes", {"pc": f"{a:08x}"}
    if kind in (STREAM_BEGIN, STREAM_END):
        return ROW_STREAM + (a & 255), f"{'write' if a & 256 else 'read'} {b}", {"elements": b}
    if kind in (DMA_BEGIN, DMA_END):
        return ROW_DMA, f"{b} bytes", {"transfer": a}
    return ROW_BARRIER, "barrier", {"pc": f"{a:08x}"}


def _event(s: Span, origin: int) -> Event:
    return {
        "ph": "X",
        "pid": s.hart,
        "tid": s.row,
        "ts": s.begin - origin,
        "dur": max(1, s.end - s.begin),
        "name": s.name,
        "args": dict(s.details),
    }


def _names(spans: list[Span]) -> Iterator[Event]:
    for hart in sorted({s.hart for s in spans}):
        yield {"ph": "M", "pid": hart, "name": "process_name", "args": {"name": f"hart {hart}"}}
        yield {"ph": "M", "pid": hart, "name": "process_sort_index", "args": {"sort_index": hart}}
        for row in sorted({s.row for s in spans if s.hart == hart}):
            yield {"ph": "M", "pid": hart, "tid": row, "name": "thread_name", "args": {"name": ROWS[row]}}
            yield {
                "ph": "M",
                "pid": hart,
                "tid": row,
                "name": "thread_sort_index",
                "args": {"sort_index": row},
            }
