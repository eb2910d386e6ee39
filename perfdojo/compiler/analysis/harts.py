"""What the harts of a cluster do in a program with @core and @dma scopes.

Everything outside of such scopes is done by the first core alone. All harts run the loops around them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from perfdojo.compiler.analysis.accesses import Model
from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.analysis.waiting import Turns
from perfdojo.compiler.ir import Node, Scope, Statement
from perfdojo.compiler.walk import const_int

Who = Literal["first", "cores", "dma"]

ALONE = frozenset(("vector", "stream", "frep"))
"""Marks of scopes that one hart runs as a whole."""


@dataclass(eq=False, slots=True)
class Part:
    """Sibling nodes that some harts run while the others go on.

    Attributes:
        around: the loops that all harts run, outermost first.
        barrier: all harts arrive at one before it.
        wait: the DMA engine has to be idle before it.
        private: temporaries of which each core has its own copy.
    """

    who: Who
    nodes: tuple[Node, ...]
    around: tuple[Scope, ...]
    barrier: bool = False
    wait: bool = False
    private: frozenset[str] = frozenset()


Item = Part | Turns[Part]


def parts(known: Model, cores: int, copied: Collection[str]) -> list[Item]:
    """Return the parts of a program, without barriers.

    Args:
        cores: that run the program.
        copied: the @dma scopes that the DMA engine can do.
    """
    return list(_cut(known, known.explicit.body, (), cores, frozenset(copied)))


def all_parts(items: Sequence[Item]) -> Iterator[Part]:
    """Yield the parts in the order of the text."""
    for item in items:
        if isinstance(item, Part):
            yield item
        else:
            yield from all_parts(item.items)


def names_in(part: Part) -> frozenset[str]:
    """Return the buffers that a part accesses."""
    from perfdojo.compiler.analysis.touches import touches

    return frozenset(load.buffer for load, _ in touches(part.nodes))


def _cut(
    known: Model, body: Sequence[Node], around: tuple[Scope, ...], cores: int, copied: frozenset[str]
) -> Iterator[Item]:
    first: list[Node] = []
    for node in body:
        who = _who(node, cores, copied)
        if who == "first":
            first.append(node)
            continue
        if first:
            yield Part("first", tuple(first), around)
            first = []
        assert isinstance(node, Scope)
        if who == "all":
            inner = list(_cut(known, node.body, (*around, node), cores, copied))
            yield Turns(node, inner, len(around))
        elif who == "cores":
            yield Part("cores", (node,), around, private=private_buffers(known, node.name))
        else:
            yield Part("dma", (node,), around)
    if first:
        yield Part("first", tuple(first), around)


def _who(node: Node, cores: int, copied: frozenset[str]) -> Who | Literal["all"]:
    if isinstance(node, Statement):
        return "first"
    if node.name in copied:
        return "dma"
    if node.mark == "core" and cores > 1 and const_int(node.extent) > 1:
        return "cores"
    if node.mark in ALONE:
        return "first"
    return "all" if any(_who(n, cores, copied) != "first" for n in node.body) else "first"
