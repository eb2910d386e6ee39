"""A program as functions of a GPU: one for each nest, whose blocks and threads are marked scopes.

In a block, a scope that is spread over its threads is a part that each thread does by itself; what stands
beside such scopes is done by the first thread, or by every one where each keeps the result; loops around
them are run by all. Between two parts of which one writes what another thread touches in the other, all
threads of the block wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.ir import GRID, Node, Scope
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.gpu.kernel import KernelCode
from perfdojo.compiler.lowering.lir import Allocate, Stmt
from perfdojo.compiler.lowering.scopes import Scopes


def kernels(context: Context) -> tuple[Stmt, ...]:
    """Return the code of a program: memory that all blocks see, then a `Kernel` for each nest in turn."""
    known = model(context.program)
    scopes = Scopes(context)
    made = [KernelCode(context, known, scopes, group) for group in _groups(context.program.body)]
    everywhere: list[Stmt] = []
    for name, layout in context.layouts.items():
        users = [k for k in made if name in k.names]
        if layout.buffer.role == "tmp" and users and not (len(users) == 1 and users[0].takes(name)):
            everywhere.append(Allocate(name, layout.buffer.dtype, layout.elems, "heap"))
    found = [k.code() for k in made]
    return (*everywhere, *(a for k in found for a in k.each), *found)


def _groups(body: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """Yield the nodes of each function: a nest with a grid, or what stands between such."""
    plain: list[Node] = []
    for node in body:
        if not (isinstance(node, Scope) and node.mark in GRID):
            plain.append(node)
            continue
        if plain:
            yield tuple(plain)
            plain = []
        yield (node,)
    if plain:
        yield tuple(plain)
