"""What this machine can do at best, as calls that are timed in turn with a kernel: multiply-adds, streams.

The loops are those of the roofline (perfdojo/templates/roofline/); here each runs for one slot at a time, so
that whatever slows the kernel down for a while slows its limit down too.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from importlib.resources import files

import numpy as np

from perfdojo.toolchains.builds import BuildRequest, build_files
from perfdojo.toolchains.gcc import native_flags
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.roofline import FLAGS, SHARES

Call = Callable[[int], float]
"""Runs so often and returns the processor seconds."""

PART_BYTES = 8 << 20
"""Of all arrays of a stream: they stay this near to each other."""

RATE_CALL = 20_000
"""Iterations of a loop of multiply-adds in one call."""

SOURCE = """#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include "rates.h"
#include "streams.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int find_rate(const char *type)
{
    int found = -1;
    for (int k = 0; k < (int)(sizeof RATES / sizeof *RATES); k++)
        if (!strcmp(RATES[k].type, type)) found = k;
    return found; /* the widest comes last */
}

int find_stream(const char *access)
{
    for (int k = 0; k < (int)(sizeof STREAMS / sizeof *STREAMS); k++)
        if (!strcmp(STREAMS[k].access, access)) return k;
    return -1;
}

long stream_unit(int kind) { return UNIT * STREAMS[kind].arrays; }

long rate_operations(int kind) { return RATES[kind].run(1); }

double rate_seconds(int kind, long iterations, long calls)
{
    double start = now();
    for (long c = 0; c < calls; c++) RATES[kind].run(iterations);
    return now() - start;
}

double stream_seconds(int kind, float *memory, long part, long parts, long calls)
{
    double start = now();
    for (long c = 0; c < calls; c++)
        for (long p = 0; p < parts; p++) STREAMS[kind].run(memory + p * part, (size_t)part);
    return now() - start;
}
"""


class Limits:
    """The loops, built for this machine.

    Raises:
        SystemExit: they could not be built.
    """

    def __init__(self, host: Host) -> None:
        folder = files("perfdojo") / "templates" / "roofline"
        headers = tuple((n, (folder / n).read_text("utf-8")) for n in ("rates.h", "streams.h"))
        flags = (*FLAGS, *native_flags(host.compiler))
        made = build_files(
            BuildRequest("limits", "shared", (("limits.c", SOURCE), *headers), flags),
            host.compiler,
            host.cpu,
            host.places,
        )
        if isinstance(made, Failure):
            raise SystemExit(f"limits: {made.text}, see {made.folder}")
        self._library = ctypes.CDLL(str(made.path))
        for name in ("rate_seconds", "stream_seconds"):
            getattr(self._library, name).restype = ctypes.c_double
        for name in ("stream_unit", "rate_operations"):
            getattr(self._library, name).restype = ctypes.c_long

    def compute(self, operations: float, dtype: str) -> tuple[Call, float]:
        """Return a call of multiply-adds in the widest vectors, and how often it makes `operations` up."""
        kind = self._library.find_rate(dtype.encode())
        each = self._library.rate_operations(kind) * RATE_CALL
        seconds = self._library.rate_seconds
        return lambda calls: float(seconds(kind, ctypes.c_long(RATE_CALL), ctypes.c_long(calls))), (
            operations / each
        )

    def memory(self, bytes: float, read_share: float) -> list[tuple[Call, float]]:
        """Return streams that read about this share of what they move, with both kinds of stores.

        With each: how often it moves `bytes`; its arrays have that size together.
        """
        access = min(SHARES, key=lambda name: abs(SHARES[name] - read_share))
        found = []
        for name in (access, access + "-direct"):
            kind = self._library.find_stream(name.encode())
            if kind < 0:
                continue
            unit = self._library.stream_unit(kind)
            parts = max(1, math.ceil(bytes / PART_BYTES))
            part = max(1, round(bytes / parts / 4 / unit)) * unit
            memory = np.ones(part * parts + 16, np.float32)  # untouched pages would all be one page of zeros
            start = -memory.ctypes.data % 64 // 4
            found.append((self._stream(kind, memory[start:], part, parts), bytes / (4 * part * parts)))
        return found

    def _stream(
        self, kind: int, memory: np.ndarray[tuple[int], np.dtype[np.float32]], part: int, parts: int
    ) -> Call:
        seconds, at = self._library.stream_seconds, ctypes.c_void_p

        def call(calls: int) -> float:
            return float(
                seconds(
                    kind,
                    at(memory.ctypes.data),
                    ctypes.c_long(part),
                    ctypes.c_long(parts),
                    ctypes.c_long(calls),
                )
            )

        return call
