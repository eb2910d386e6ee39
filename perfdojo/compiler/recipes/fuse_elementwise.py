"""Fuse elementwise: neighbours run in one loop, and what they hand on is not kept longer than that."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.ir import Place, Statement
from perfdojo.compiler.recipes._steps import join
from perfdojo.compiler.schedule import History
from perfdojo.compiler.walk import const_int, iterators, loads


def fuse_elementwise(h: History) -> None:
    """Join neighbours wherever it is legal; inline what is read once; let go of dimensions that are dead.

        M N t[{0},{1}] = x[{0},{1}] + b[{1}]          M N t[{1}] = x[{0},{1}] + b[{1}]
        M N e[{0},{1}] = exp(t[{0},{1}])         ->   | | y[{0},{1}] = exp(t[{1}]) * t[{1}]
        M N y[{0},{1}] = e[{0},{1}] * t[{0},{1}]

    Here e is inlined, and t, which is read twice, gets `reuse(0)`. Dimensions along innermost scopes are
    kept, as lanes need an element each; what is read where it was written stays in registers anyway.
    """
    join(h)
    for name in _temporaries(h):
        if _is_read_once(h, name):
            h.attempt(f"inline {name}")
    for name in _temporaries(h):
        _shrink(h, name)


def _shrink(h: History, name: str) -> None:
    buffer = h.program.buffer(name)
    writes = _writes(h, name)
    for dim in (d for d in range(len(buffer.shape)) if d not in buffer.reuse):
        if not any(p.around and p.around[-1].name in iterators(p.node.target.indices[dim]) for p in writes):
            h.attempt(f"reuse_dims {name} [{dim}]")


def _temporaries(h: History) -> list[str]:
    return [b.name for b in h.program.buffers if b.role == "tmp"]


def _writes(h: History, name: str) -> list[Place[Statement]]:
    return [p for p in h.program.statements.values() if p.node.target.buffer == name]


def _is_read_once(h: History, name: str) -> bool:
    """Tell whether each element is read once: by one load, which happens as often as the write."""
    readers = [
        p for p in h.program.statements.values() for load in loads(p.node.value) if load.buffer == name
    ]
    return len(readers) == 1 and _times(readers[0]) <= sum(map(_times, _writes(h, name)))


def _times(place: Place[Statement]) -> int:
    return prod(const_int(s.extent) for s in place.around)
