"""Where an access lies in memory: its offset in its buffer as one linear form."""

from __future__ import annotations

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import ZERO, Affine
from perfdojo.compiler.lowering.layout import layout


def offset(known: Model, access: Access) -> Affine:
    """Return the offset of an access from the first element of its buffer, in elements."""
    key = ("offset", id(access))
    if key not in known.answers:
        strides = layout(known.buffers[access.load.buffer]).strides
        form = ZERO
        for index, stride in zip(access.indices, strides, strict=True):
            form = form.plus(index, stride) if stride else form
        known.answers[key] = form
    found = known.answers[key]
    assert isinstance(found, Affine)
    return found


def step(known: Model, access: Access, scope: str) -> int | None:
    """Return how many elements an access moves with each iteration of a scope; None when not evenly."""
    form = offset(known, access)
    by = form.terms.get(scope, 0)
    return by if sum(1 for s in form.scopes() if s == scope) == (by != 0) else None
