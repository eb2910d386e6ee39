"""Copies whose source and target are contiguous along different scopes are done in square tiles."""

from __future__ import annotations

from perfdojo.compiler.ir import Program, Scope, Statement
from perfdojo.compiler.plan.legal import independent, reads
from perfdojo.compiler.plan.recipes import extent
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.plan.tree import find
from perfdojo.compiler.walk import const_int, statements

SIDE = 16
"""Side of a tile: a 64-byte line of f32."""


def tile_transposes(program: Program) -> Program:
    """Return the program with every transposing statement tiled."""
    for name in [s.name for _, s in statements(program)]:
        around, statement = next((a, s) for a, s in statements(program) if s.name == name)
        pair = _crossed(program, around, statement)
        if pair is not None:
            program = _tiled(program, *pair)
    return program


def _crossed(program: Program, around: tuple[Scope, ...], s: Statement) -> tuple[str, str] | None:
    """The two innermost scopes when the statement writes along one and reads along the other."""
    if s.op != "=" or len(around) < 2 or any(a.mark in ("vector", "unroll") for a in around):
        return None
    outer, inner = around[-2:]
    if (
        len(outer.body) != 1
        or len(inner.body) != 1
        or min(const_int(outer.extent), const_int(inner.extent)) < SIDE
    ):
        return None
    for along, across in ((outer, inner), (inner, outer)):
        steps = [(stride(program, o, along.name), stride(program, o, across.name)) for o in reads(s)]
        crossed = any(a == 1 and b is not None and abs(b) > 1 for a, b in steps)
        if (
            crossed
            and stride(program, s.target, across.name) == 1
            and abs(stride(program, s.target, along.name) or 0) > 1
        ):
            return (outer.name, inner.name) if independent(program, outer) else None
    return None


def _tiled(program: Program, outer: str, inner: str) -> Program:
    """i { j { S } }  ->  i_o { j_o { i_i { j_i { S } } } } and what is left over in both directions"""
    sides = {scope: SIDE if extent(program, scope) % SIDE == 0 else SIDE // 2 for scope in (outer, inner)}
    for scope, side in sides.items():
        left = extent(program, scope) % side
        if left:
            program, _, _ = peel(program, scope, extent(program, scope) - left)
    if len(find(program, outer).body) > 1:
        program, _ = fission(program, outer, [1])
    if extent(program, outer) > sides[outer]:
        program, _, outer = tile(program, outer, sides[outer])
    if extent(program, inner) > sides[inner]:
        program, _, _ = tile(program, inner, sides[inner])
        program = interchange(program, outer)
    return program
