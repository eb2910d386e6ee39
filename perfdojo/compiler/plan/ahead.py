"""Buffers that no near cache holds are fetched ahead where the hardware does not see what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import layout

CACHED_BYTES = 1 << 20
"""Buffers up to this size are in a second-level cache."""


def fetch_ahead(program: Program, distances: Mapping[str, int]) -> Program:
    """Return the program with larger arguments fetched so many elements ahead, where nobody said how far."""
    buffers = tuple(
        replace(b, prefetch=distances[b.name])
        if b.name in distances
        and b.role != "tmp"
        and not b.prefetch
        and layout(b).bytes > max(CACHED_BYTES, distances[b.name] * b.dtype.bytes)
        else b
        for b in program.buffers
    )
    return replace(program, buffers=buffers)
