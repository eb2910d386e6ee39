"""Multiply-adds as the FPU has them: packed ones add to their register, those that add nothing multiply."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.lowering.nests.tree import Arg, Fixed, Line, Node, Nodes, Site, lines_of


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
    return tuple(out)


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
