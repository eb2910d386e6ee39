"""What makes a program wrong by itself, whatever it is compared with."""

from __future__ import annotations

from perfdojo.compiler.ir import Expr, Literal, Program
from perfdojo.compiler.walk import scopes


class Fault(Exception):
    """A program has no meaning: the sentence says why, and follows the words "the ... program"."""


def check_extents(program: Program) -> None:
    """Check that all extents are numbers, as they are after `bind`.

    Raises:
        Fault: one is not, or is less than 1.
    """
    for b in program.buffers:
        if not all(_is_extent(e) for e in b.shape):
            raise Fault(f"declares {b.name} with an extent that is no number of at least 1")
        if any(not 0 <= d < len(b.shape) for d in b.reuse):
            raise Fault(f"declares {b.name} with reuse of a dimension that it has not")
    for scope in scopes(program):
        if not _is_extent(scope.extent):
            raise Fault(f"has the scope {scope.name}, whose extent is no number of at least 1")


def _is_extent(e: Expr) -> bool:
    return isinstance(e, Literal) and e.dtype.is_integer and e.value >= 1
