"""Factors that several products of unrolled loops have in common are loaded once, in front of the loops.

for m { for n { load a[m]; load b[n]; s[m,n] += a * b } }
    ->  for n { load b[n] }; for m { load a; for n { s[m,n] += a * b[n] } }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.linear import Linear, plus
from perfdojo.compiler.lowering.lir import Allocate, Comment, Const, For, Stmt, Tensor, Threads, Value
from perfdojo.compiler.lowering.walk import BLOCKS

MOST = 8
"""Matrices of a factor that a warp holds at once: each takes 4 or 8 registers of a thread."""


def with_reuse(body: Sequence[Stmt], arena: Arena) -> tuple[Stmt, ...]:
    """Return a body in which the factors of products are loaded where they first differ."""
    out: list[Stmt] = []
    for s in body:
        loops: list[For] = []
        inner = s
        while isinstance(inner, For) and inner.unroll and len(inner.body) == 1:
            loops.append(inner)
            inner = inner.body[0]
        made = _moved(loops, inner, arena) if loops and isinstance(inner, Threads) else None
        if made is not None:
            out.append(made)
        elif isinstance(s, BLOCKS):
            out.append(replace(s, body=with_reuse(s.body, arena)))
        else:
            out.append(s)
    return tuple(out)


def _moved(loops: list[For], part: Threads, arena: Arena) -> Stmt | None:
    """Return the code of loops around one product; None where they hold something else."""
    told = [s for s in part.body if isinstance(s, Comment)]
    rest = [s for s in part.body if not isinstance(s, Comment | Allocate)]
    if not rest or not (isinstance(product := rest[-1], Tensor) and product.kind == "product"):
        return None
    loads = rest[:-1]
    placed: dict[int, list[Stmt]] = {}
    allocations: list[Stmt] = []
    factors = []
    for load, (name, _) in zip(loads, product.factors, strict=True):
        assert isinstance(load, Tensor)
        variables = arena.variables(load.memory[0].offset)
        depends = [s.var.name in variables for s in loops]
        at = next(_places(loops, depends))
        own = [s for s, yes in zip(loops[at + 1 :], depends[at + 1 :], strict=True) if yes]
        number = _number(own, arena)
        code: Stmt = replace(load, number=number)
        for s in reversed(own):
            code = replace(s, body=(code,))
        placed.setdefault(at, []).append(code)
        factors.append((name, number))
        dtype = next(s.dtype for s in part.body if isinstance(s, Allocate) and s.buffer == name)
        allocations.append(Allocate(name, dtype, prod(map(_extent, own)), "fragment"))
    made: tuple[Stmt, ...] = (*placed.get(len(loops), ()), replace(product, factors=tuple(factors)))
    for at, s in reversed(list(enumerate(loops))):
        made = (*placed.get(at, ()), replace(s, body=made))
    return replace(part, body=(*told, *allocations, *made))


def _places(loops: Sequence[For], depends: Sequence[bool]) -> Iterator[int]:
    """Yield the loops in front of which a factor can be loaded, outermost first; their number: in all."""
    for at in range(len(loops)):
        inside = zip(loops[at + 1 :], depends[at + 1 :], strict=True)
        if not depends[at] and prod(_extent(s) for s, yes in inside if yes) <= MOST:
            yield at
    yield len(loops)


def _extent(s: For) -> int:
    assert isinstance(s.stop, Const)
    return int(s.stop.value)


def _number(loops: Sequence[For], arena: Arena) -> Value:
    """Return the number of a matrix among those of some loops."""
    form = Linear(0)
    for s in loops:
        form = plus(arena.atom(s.var), form, _extent(s))
    return arena.offset(form)
