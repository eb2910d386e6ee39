"""What the marks of GPUs share: their dimensions and limits."""

from __future__ import annotations

from collections.abc import Iterator

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.tree import nodes

DIMENSIONS = ("x", "y", "z")

MAX_EXTENT = {
    "grid_x": (1 << 31) - 1,
    "grid_y": 65535,
    "grid_z": 65535,
    "block_x": 1024,
    "block_y": 1024,
    "block_z": 64,
}
"""Largest extent of each dimension, the same for all compute capabilities from 3.0 on.

Source: CUDA C++ Programming Guide, table of technical specifications per compute capability.
"""

MAX_THREADS = 1024
"""Threads of a block at most; same source."""


def nest(program: Program, scope: str) -> Iterator[Scope]:
    """Yield the scopes of the outermost scope that `scope` is in, outer before inner."""
    place = program.scopes[scope]
    top = place.around[0] if place.around else place.node
    return (n for n in nodes((top,)) if isinstance(n, Scope))
