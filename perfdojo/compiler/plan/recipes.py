"""Compositions of rewrites that several strategies use; they hold no legality of their own."""

from __future__ import annotations

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.plan.legal import can_fission, can_interchange, can_join
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.join import join
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.rewrites.tile import tile
from perfdojo.compiler.tree import find, path, rename, siblings
from perfdojo.compiler.walk import const_int


def extent(program: Program, scope: str) -> int:
    """Return the iterations of a scope."""
    return const_int(find(program, scope).extent)


def blocks(program: Program, scope: str, size: int) -> tuple[Program, str, str, str | None]:
    """Tile a scope by `size` and peel what is left; return outer, inner and tail name (None without a tail).

    Blocks that are the whole scope leave it as it is: outer and inner are then the same name.
    """
    whole = extent(program, scope)
    tail: str | None = None
    if whole % size and whole > size:
        program, scope, tail = peel(program, scope, whole - whole % size)
    if extent(program, scope) <= size:
        return program, scope, scope, tail
    program, outer, inner = tile(program, scope, size)
    return program, outer, inner, tail


def isolate(program: Program, parent: str, child: str) -> Program | None:
    """Give the node `child` a copy of its scope `parent` for itself; None when that is not surely legal."""
    scope = find(program, parent)
    position = next(n for n, node in enumerate(scope.body) if node.name == child)
    cuts = [c for c in (position, position + 1) if 0 < c < len(scope.body)]
    if not cuts:
        return program
    return fission(program, parent, cuts)[0] if all(can_fission(program, scope, c) for c in cuts) else None


def order_chain(program: Program, wanted: list[str]) -> Program | None:
    """Put perfectly nested scopes into the order `wanted` by exchanges; None when one is not surely legal."""
    top = min((len(path(program, s)), s) for s in wanted)[1]
    for _ in range(len(wanted) ** 2):
        chain = [find(program, top)]
        while len(chain) < len(wanted):
            chain.append(chain[-1].body[0])  # type: ignore[arg-type]
        names = [s.name for s in chain]
        wrong = next(
            (n for n in range(len(names) - 1) if wanted.index(names[n]) > wanted.index(names[n + 1])), None
        )
        if wrong is None:
            return program
        if not can_interchange(program, chain[wrong]):
            return None
        program = interchange(program, names[wrong])
        top = names[1] if wrong == 0 else top
    return None


def join_next(program: Program, first: str, depth: int, keep_second: bool = False) -> Program | None:
    """Fuse `depth` nested scopes from `first` on with those of the next sibling; None when not surely legal.

    The names of the first stay, or those of the second.
    """
    for _ in range(depth):
        body = siblings(program, first)
        position = next(n for n, node in enumerate(body) if node.name == first)
        if position + 1 >= len(body):
            return None
        a, b = body[position], body[position + 1]
        if not isinstance(a, Scope) or not isinstance(b, Scope) or not can_join(program, a, b):
            return None
        joined = len(a.body)
        program = join(program, first)
        if keep_second:
            program = rename(program, first, b.name)
            first = b.name
        first = find(program, first).body[joined - 1].name
    return program
