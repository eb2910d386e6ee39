"""What a move changed: line by line in the text of the program, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal as OneOf
from typing import NamedTuple

from perfdojo.compiler.ir import Buffer, Node, Program, Scope
from perfdojo.compiler.text.render import expression, render
from perfdojo.compiler.walk import const_int


class Line(NamedTuple):
    """A line of a program that was kept (" "), added ("+"), or taken away ("-")."""

    sign: OneOf[" ", "+", "-"]
    text: str


def difference(before: Program, after: Program) -> Iterator[Line]:
    """Return the loops of the program after a move and what it took away, of the header only what changed.

    All names are written.
    """
    found = list(_lines(before, after))
    body = next(n for n, line in enumerate(found) if not line.text)
    return (line for n, line in enumerate(found) if n > body or line.sign != " ")


def _lines(before: Program, after: Program) -> Iterator[Line]:
    old, new = (render(p, named=True).splitlines() for p in (before, after))
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (Line(" ", text) for text in new[k:m])
        else:
            yield from (Line("-", text) for text in old[i:j])
            yield from (Line("+", text) for text in new[k:m])


def effect(before: Program, after: Program) -> str:
    """Return in words what a move does to scopes, statements and buffers; "" when it is nothing."""
    told = [t for tell in (_scopes, _statements, _buffers) for t in tell(before, after)]
    return "; ".join(told or (*_moved(before.body, after.body), *_rewritten(before, after)))


MAX_NAMES = 4


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - MAX_NAMES} more" if len(items) > MAX_NAMES else ""
    return ", ".join(items[:MAX_NAMES]) + more


def _scopes(before: Program, after: Program) -> Iterator[str]:
    old, new = before.scopes, after.scopes
    gone = [n for n in old if n not in new]
    made = [_scope(p.node) for n, p in new.items() if n not in old]
    if gone and made:
        yield f"{_listed(gone)} -> {_listed(made)}"
    elif gone or made:
        yield f"without {_listed(gone)}" if gone else f"new {_listed(made)}"
    for name in (n for n in new if n in old):
        was, now = old[name].node, new[name].node
        if was.mark != now.mark:
            yield f"{name} runs @{now.mark}" if now.mark else f"{name} runs in order"
        if was.extent != now.extent:
            yield f"{name}: {const_int(was.extent)} -> {const_int(now.extent)} iterations"
    kept = [n for n in new if n in old]
    if not gone and not made and kept != [n for n in old if n in new]:
        yield f"order {_listed(kept)}"


def _scope(scope: Scope) -> str:
    return f"{scope.name}:{const_int(scope.extent)}"


def _statements(before: Program, after: Program) -> Iterator[str]:
    old, new = before.statements, after.statements
    made = [n for n in new if n not in old]
    gone = [n for n in old if n not in new]
    if made:
        yield f"new statement{'s' if len(made) > 1 else ''} {_listed(made)}"
    if gone:
        yield f"without statement{'s' if len(gone) > 1 else ''} {_listed(gone)}"


def _moved(before: Sequence[Node], after: Sequence[Node]) -> Iterator[str]:
    old, new = list(_names(before)), list(_names(after))
    at = [n for n, (one, two) in enumerate(zip(old, new, strict=False)) if one != two]
    if at and sorted(old) == sorted(new):
        yield f"order {_listed(new[at[0] : at[-1] + 1])}"


def _names(body: Sequence[Node]) -> Iterator[str]:
    for node in body:
        yield node.name
        if isinstance(node, Scope):
            yield from _names(node.body)


def _rewritten(before: Program, after: Program) -> Iterator[str]:
    old = before.statements
    for name, place in after.statements.items():
        if name in old and old[name].node != place.node:
            around = tuple(s.name for s in place.around)
            yield f"{name} {place.node.op} {expression(place.node.value, around)}"


def _buffers(before: Program, after: Program) -> Iterator[str]:
    old, new = ({b.name: b for b in p.buffers} for p in (before, after))
    for name, b in new.items():
        if name not in old:
            yield f"new {b.role} {_buffer(b)}"
        elif old[name] != b:
            yield _changed(old[name], b)
    gone = [n for n in old if n not in new]
    if gone:
        yield f"without {_listed(gone)}"


def _changed(old: Buffer, new: Buffer) -> str:
    if old.shape != new.shape:
        return f"{_buffer(old)} -> {_buffer(new)}"
    was, now = _words(old), _words(new)
    gone = [w for w in was if w.partition("(")[0] not in {n.partition("(")[0] for n in now}]
    told = [w for w in now if w not in was] + [f"without {w}" for w in gone]
    return f"{new.name}: {', '.join(told)}"


def _buffer(b: Buffer) -> str:
    shape = ", ".join(expression(e) for e in b.shape)
    return " ".join((f"{b.name}[{shape}]", *_words(b)))


def _words(b: Buffer) -> list[str]:
    """Return what the header says behind the shape, but for `values`."""
    words = [f"space({b.space})"] if b.space else []
    for word, numbers in (("order", b.order), ("pad", b.pad), ("reuse", b.reuse)):
        words += [f"{word}({', '.join(map(str, numbers))})"] if numbers else []
    words += ["nontemporal"] if b.nontemporal else []
    words += [f"prefetch({b.prefetch})"] if b.prefetch else []
    return words
