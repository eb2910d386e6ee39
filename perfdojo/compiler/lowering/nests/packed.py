"""Multiply-adds as the FPU has them: packed ones add to their register, those that add nothing multiply."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.lir import VType
from perfdojo.compiler.lowering.nests.tree import (
    Arg,
    Fixed,
    Line,
    NestError,
    Node,
    Nodes,
    Site,
    Spread,
    lines_of,
)


def legalized(nodes: Nodes, reassociates: bool) -> Nodes:
    """Return a tree in which every instruction exists.

    Args:
        reassociates: zeros of either sign are one, so a product that starts a sum needs no addition.
    """
    names = {line.dest for line in lines_of(nodes) if isinstance(line.dest, str)}
    return _legal(nodes, reassociates, names)


def _legal(nodes: Nodes, reassociates: bool, names: set[str]) -> Nodes:
    out: list[Node] = []
    for n in nodes:
        if not isinstance(n, Line):
            out.append(replace(n, body=_legal(n.body, reassociates, names)))
        elif n.type.lanes > 1 and n.op in ("fma", "fms", "nfms", "nfma"):
            out += _multiply_add(n, reassociates, names)
        elif n.op == "fma" and _nothing(n.args[2], reassociates):
            out.append(replace(n, op="mul", args=n.args[:2]))
        else:
            out.append(n)
    return tuple(x for n in out for x in _spread(n, names))


_COMMUTE = frozenset(("add", "mul", "minnum", "maxnum", "mac", "msub"))


def _spread(n: Node, names: set[str]) -> list[Node]:
    """Return a line whose scalar for all lanes is its last operand, or in lanes of a register before it."""
    if not isinstance(n, Line) or not any(isinstance(a, Spread) for a in n.args):
        return [n]
    if n.op == "copy":
        (a,) = n.args
        assert isinstance(a, Spread)
        return [_splat(n.type, n.dest, a)]
    args = n.args
    if n.op in _COMMUTE and isinstance(args[0], Spread):
        args = args[::-1]
    before: list[Node] = []
    fixed: list[Arg] = []
    for place, a in enumerate(args):
        last = place == 1 and (n.op in _COMMUTE or n.op == "sub")
        if isinstance(a, Spread) and not last:
            fixed.append(_fresh("%r", names))
            before.append(_splat(n.type, str(fixed[-1]), a))
        else:
            fixed.append(a.scalar if isinstance(a, Spread) else a)
    replicates = isinstance(args[-1], Spread) and len(args) == 2 and (n.op in _COMMUTE or n.op == "sub")
    return [*before, replace(n, op=f"{n.op}:r" if replicates else n.op, args=tuple(fixed))]


def _splat(type: VType, dest: str | Site, a: Spread) -> Line:
    if type.dtype.name != "f32":
        raise NestError(f"it spreads {type.dtype} over lanes, which the FPU has no instruction for")
    return Line("splat", type, dest, (a.scalar,))


def _multiply_add(n: Line, reassociates: bool, names: set[str]) -> list[Line]:
    a, b, c = n.args
    if n.op in ("fms", "nfma"):
        # c is subtracted: as -c, added
        negative = _fresh("%n", names)
        first = Line("neg", n.type, negative, (c,))
        op = "fma" if n.op == "fms" else "nfms"
        return [first, *_multiply_add(replace(n, op=op, args=(a, b, negative)), reassociates, names)]
    mac = "mac" if n.op == "fma" else "msub"
    if mac == "mac" and _nothing(c, reassociates):
        return [Line("mul", n.type, n.dest, (a, b))]
    if c == n.dest and isinstance(n.dest, str):
        return [Line(mac, n.type, n.dest, (a, b))]
    if n.loose and (isinstance(n.dest, Site) or isinstance(c, Site | Fixed)):
        product = _fresh("%p", names)
        pair = (c, product) if mac == "msub" else (product, c)
        join = "sub" if mac == "msub" else "add"
        return [Line("mul", n.type, product, (a, b)), Line(join, n.type, n.dest, pair)]
    total = _fresh("%s", names) if isinstance(n.dest, Site) or n.dest in (a, b) else n.dest
    lines = [Line("copy", n.type, total, (c,)), Line(mac, n.type, total, (a, b))]
    return lines if total == n.dest else [*lines, Line("copy", n.type, n.dest, (total,))]


def _nothing(c: Arg, reassociates: bool) -> bool:
    """Tell whether adding a product to a constant is the product; to 0.0, but for the sign of zeros."""
    return isinstance(c, Fixed) and c.value == 0 and (reassociates or c.value.hex() == "-0x0.0p+0")


def _fresh(stem: str, names: set[str]) -> str:
    number = 1
    while f"{stem}{number}" in names:
        number += 1
    names.add(f"{stem}{number}")
    return f"{stem}{number}"
