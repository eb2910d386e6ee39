"""Tile: several nested scopes run in blocks."""

from __future__ import annotations

from itertools import pairwise

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.recipes._steps import chain, cut, order
from perfdojo.compiler.schedule import History


def tile(h: History, *, scopes: tuple[str, ...], sizes: tuple[int, ...]) -> list[tuple[str, ...]]:
    """Run perfectly nested scopes in blocks; what is left of each is peeled and tiled along the others.

        i:M j:N B({i},{j})                                        scopes i, j; sizes 8, 16
        ->
        i_o:M//8  j_o:N//16 i_i:8   j_i:16   B({i_o}*8+{i_i}, {j_o}*16+{j_i})
        j_o_t:N//16         i_t:M%8 j_i_t:16 B({i_t}+.., {j_o_t}*16+{j_i_t})
        i_o_2:M//8          i_i_2:8 j_t:N%16 ..
        i_t_2:M%8                   j_t_2:N%16 ..

    Args:
        scopes: from the outermost to the innermost, as blocks and iterations in them are to be.
        sizes: of their blocks.
    Returns:
        The scopes of each nest, blocks first; the first one is the one of whole blocks.
    Raises:
        PerfDojoError: there is no such scope, the scopes are not perfectly nested, or an exchange is illegal.
    """
    if len(scopes) != len(sizes) or not scopes:
        raise PerfDojoError(f"{len(scopes)} scopes have {len(sizes)} sizes of blocks")
    for name in scopes:
        if name not in h.program.scopes:
            raise PerfDojoError(f"there is no scope {name}", hint=nearest(name, h.program.scopes))
    for one, two in pairwise(scopes):
        if not {one, two} <= set(chain(h, _outermost(h, scopes))):
            raise PerfDojoError(
                f"scopes {one} and {two} are not perfectly nested", hint="fission_scope parts them"
            )
    nests: list[tuple[list[str], list[str]]] = [([], list(scopes))]
    for n, size in enumerate(sizes):
        nests = [found for nest in nests for found in _cut(h, *nest, n, size)]
    for outer, inner in nests:
        order(h, (*outer, *inner))
    return [(*outer, *inner) for outer, inner in nests]


def _outermost(h: History, scopes: tuple[str, ...]) -> str:
    return min(scopes, key=lambda s: len(h.program.scopes[s].around))


def _cut(
    h: History, outer: list[str], inner: list[str], n: int, size: int
) -> list[tuple[list[str], list[str]]]:
    """Cut the scope number `n` of a nest, brought to the outside, so that each part is a nest of its own."""
    scope = inner[n]
    others = [*outer, *(s for s in inner if s != scope)]
    order(h, (scope, *others))
    found = []
    for block, copies in cut(h, scope, size, *others):
        new = [block.outer] if block.outer != block.inner else []
        rest = copies[len(outer) :]
        found.append(([*copies[: len(outer)], *new], [*rest[:n], block.inner, *rest[n:]]))
    return found
