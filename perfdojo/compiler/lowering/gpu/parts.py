"""The nodes of a GPU kernel as parts that threads do, and loops that all of them run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from perfdojo.compiler.analysis.accesses import Model
from perfdojo.compiler.analysis.block import BlockPart, Item, all_parts
from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.analysis.kept import WARP
from perfdojo.compiler.analysis.tensor import TensorOp
from perfdojo.compiler.analysis.waiting import Turns
from perfdojo.compiler.ir import BLOCK, Node, Scope, Statement
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.tree import nodes as all_nodes
from perfdojo.compiler.walk import const_int, iterators


class Cutting:
    """Cuts the body of a kernel.

    A scope of threads that holds parts is spread over each of them, as its iterations are independent.

    Args:
        whole: scopes of threads of which each thread does all that is in them by itself.
        lanes: whether scopes marked @warp are done by lanes.
        tensors: nests that tensor cores do, by the name of their outermost scope.
    """

    def __init__(self, whole: frozenset[str], lanes: bool, tensors: Mapping[str, TensorOp]) -> None:
        self.whole, self.lanes, self.tensors = whole, lanes, tensors

    def items(
        self, nodes: Sequence[Node], around: tuple[Scope, ...], scopes: tuple[Scope, ...] = ()
    ) -> Iterator[Item]:
        """Yield the parts of sibling nodes; `scopes`: those of threads around them."""
        for node in nodes:
            if not (isinstance(node, Scope) and self._spread(node, scopes)):
                yield BlockPart(scopes, (node,), around)
            elif node.mark == "warp":
                yield BlockPart(scopes, (node,), around, warp=node)
            elif node.name in self.tensors:
                yield BlockPart(scopes, (node,), around, tensor=self.tensors[node.name])
            elif node.mark not in BLOCK or node.mark in (s.mark for s in scopes):
                inner = self.items(node.body, (*around, node), scopes)
                yield Turns(node, list(inner), len(around))
            else:
                yield from self._threads(node, around, scopes)

    def _threads(self, node: Scope, around: tuple[Scope, ...], scopes: tuple[Scope, ...]) -> Iterator[Item]:
        scopes, inside = (*scopes, node), (*around, node)
        if node.name in self.whole or not self._holds_spread(node, scopes):
            yield BlockPart(scopes, node.body, inside)
        else:
            yield from self.items(node.body, inside, scopes)

    def _holds_spread(self, node: Scope, scopes: tuple[Scope, ...]) -> bool:
        return any(isinstance(n, Scope) and self._spread(n, scopes) for n in node.body)

    def _spread(self, node: Scope, scopes: tuple[Scope, ...]) -> bool:
        """Tell whether a scope, or one in it, is done by threads along a dimension that is free."""
        taken = {s.mark for s in scopes}
        if node.mark in BLOCK and node.mark not in taken:
            return True
        if node.mark == "warp" or node.name in self.tensors:
            return (self.lanes or node.mark != "warp") and "block_x" not in taken
        return self._holds_spread(node, scopes)


def why_no_lanes(scope: Scope, context: Context) -> str:
    """Return why the lanes of a warp cannot combine the iterations of a scope, "" where they can."""
    inner, count = scope.body[0], const_int(scope.extent)
    if count != WARP:
        return f"it has {count} iterations, a warp {WARP} lanes"
    if len(scope.body) > 1 or not isinstance(inner, Statement) or inner.op == "=":
        return "it holds something else than one reduction"
    if inner.guard is not None:
        return f"{inner.name} has a guard"
    if scope.name in iterators(inner.target):
        return f"{inner.name} has an element for each iteration"
    if context.buffers[inner.target.buffer].dtype.is_float and not context.allows("reassoc"):
        return f"{context.fp} keeps the order of {inner.op}"
    return ""


def not_shared(known: Model, items: Sequence[Item], kept: frozenset[str]) -> frozenset[str]:
    """Return scopes that cannot be spread over their parts: what is private to them would be shared."""
    users: dict[str, list[BlockPart]] = {}
    scopes: dict[str, None] = {}
    for part in all_parts(items):
        for s in part.scopes:
            users.setdefault(s.name, []).append(part)
            scopes[s.name] = None
    found = set()
    for name in scopes:
        if len(users[name]) > 1 and private_buffers(known, name) - kept:
            found.add(name)
    return frozenset(found)


def merged(items: Sequence[Item]) -> list[Item]:
    """Return the items with neighbours that the same threads do as one part."""

    def kind(item: Item) -> object:
        if isinstance(item, Turns) or item.warp is not None or item.tensor is not None or _inside(item):
            return item
        return item.scopes, item.every

    out: list[Item] = []
    for _, group in groupby(items, kind):
        first, *more = group
        if isinstance(first, Turns):
            first.items = merged(first.items)
        for item in more:
            assert isinstance(first, BlockPart)
            assert isinstance(item, BlockPart)
            first.nodes += item.nodes
            first.kept |= item.kept
        out.append(first)
    return out


def _inside(part: BlockPart) -> bool:
    """Tell whether a part is all that its innermost scope of threads holds."""
    return bool(part.scopes) and part.nodes == part.scopes[-1].body


def idle_scopes(part: BlockPart) -> Iterator[str]:
    """Yield the scopes marked for threads that a part runs as loops."""
    for n in all_nodes(part.nodes):
        if isinstance(n, Scope) and (n.mark in BLOCK or (n.mark == "warp" and n is not part.warp)):
            yield n.name
