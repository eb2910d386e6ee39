"""Tile: one scope into two nested ones."""

from __future__ import annotations

from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms.tile_scope import TileScope
from perfdojo.compiler.tree import find, fresh, taken_names
from perfdojo.compiler.walk import const_int


def tile(program: Program, scope: str, factor: int) -> tuple[Program, str, str]:
    """Split a scope into blocks of `factor` iterations; return the program and the two new names.

        i:N { B({i}) }   ->   i_o:N/f { i_i:f { B({i_o}*f+{i_i}) } }

    The mark of the scope stays on the outer one. For another extent, `peel` the remainder first.

    1. 1 <= f and f divides N.
    """
    extent = const_int(find(program, scope).extent)
    if factor < 1 or extent % factor:
        raise ValueError(f"tile: {factor} does not divide the extent {extent} of scope {scope}")
    taken = taken_names(program)
    outer, inner = fresh(f"{scope}_o", taken), fresh(f"{scope}_i", taken)
    return TileScope(scope, factor, names=(outer, inner)).rewrite(program), outer, inner
