"""Indices of matrices that warps hold: the lowest digits are rows and columns, the others say which one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perfdojo.compiler.analysis.accesses import Model
from perfdojo.compiler.analysis.affine import Affine, Atom
from perfdojo.compiler.analysis.block import BlockPart
from perfdojo.compiler.analysis.digits import Split
from perfdojo.compiler.analysis.tensor import SIDE

ROWS, COLUMNS = "<rows>", "<columns>"
"""Stand for the scopes of rows and columns, which each nest has of its own."""


def side_names(part: BlockPart) -> dict[str, str]:
    """Return these names for the scopes of a part that tensor cores do."""
    if part.tensor is None:
        return {}
    return {part.tensor.fragment.rows: ROWS, part.tensor.fragment.columns: COLUMNS}


def matrix_digits(
    known: Model,
    name: str,
    used: Sequence[tuple[BlockPart, Sequence[Affine]]],
    splits: Mapping[int, Split],
    threads: Mapping[str, int],
) -> dict[int, Split] | None:
    """Return what of the indices of a temporary says which matrix; None where other accesses are to it.

    Args:
        used: parts with indices of it that they access, threads by the dimension of the block.
        splits: what of an index is left to a thread.
        threads: of the block along each dimension.
    """
    matrices = [p.tensor.fragment if p.tensor else None for p, _ in used]
    sides = {m.sides if m is not None and m.buffer == name else () for m in matrices}
    if len(sides) != 1 or sides == {()}:
        return None
    found = dict(splits)
    numbers: dict[Atom, tuple[int, int]] = {axis: (0, n - 1) for axis, n in threads.items()}
    for d, side in zip(sides.pop(), (ROWS, COLUMNS), strict=True):
        forms = [indices[d].renamed(side_names(p)) for p, indices in used]
        forms = [splits[d].local(f) for f in forms] if d in splits else forms
        if any(n % SIDE for f in forms for n in (f.const, *(c for t, c in f.terms.items() if t != side))):
            return None
        digit = Split(frozenset((side,)), 0, SIDE)
        ranges = [known.forms.range(digit.local(f), numbers) for f in forms]
        if min(low for low, _ in ranges) < 0:
            return None
        digit = Split(digit.scopes, max(high for _, high in ranges) + 1, SIDE)
        found[d] = splits[d].then(digit) if d in splits else digit
    return found
