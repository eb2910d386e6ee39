"""Fuse elementwise: neighbours run in one loop, and what they hand on is not kept longer than that."""

from __future__ import annotations

from perfdojo.compiler.recipes._steps import join
from perfdojo.compiler.schedule import History
from perfdojo.compiler.walk import loads


def fuse_elementwise(h: History) -> None:
    """Join neighbours wherever it is legal; inline what is read once; let go of dimensions that are dead.

        N t[{0}] = x[{0}] + b[{0}]                    N t[] = x[{0}] + b[{0}]
        N e[{0}] = exp(t[{0}])                        | y[{0}] = exp(t[]) * t[]
        N y[{0}] = e[{0}] * t[{0}]                ->

    Here e is inlined, and t, which is read twice, gets `reuse(0)`.
    """
    join(h)
    for name in _temporaries(h):
        if _reads(h, name) == 1:
            h.attempt(f"inline {name}")
    shrink(h)


def shrink(h: History) -> None:
    """Reuse all dimensions of temporaries that are dead between iterations."""
    for name in _temporaries(h):
        buffer = h.program.buffer(name)
        for dim in (d for d in range(len(buffer.shape)) if d not in buffer.reuse):
            h.attempt(f"reuse_dims {name} [{dim}]")


def _temporaries(h: History) -> list[str]:
    return [b.name for b in h.program.buffers if b.role == "tmp"]


def _reads(h: History, name: str) -> int:
    values = (p.node.value for p in h.program.statements.values())
    return sum(load.buffer == name for value in values for load in loads(value))
