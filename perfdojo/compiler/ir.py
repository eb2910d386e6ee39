"""The intermediate representation: an ordered tree of scopes and statements over named buffers.

A `Program` is a value: frozen, compared by content (spans and sources do not count). The text form
in docs/language.md and this tree are one to one: `parse(render(p)) == p`.

Expressions serve values and indices alike; an index is an integer expression, quasi-affine when it is
made of iterators, literals and sizes under + - *const //const %const.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar
from typing import Literal as OneOf

from perfdojo.compiler.dtypes import DType


@dataclass(frozen=True, slots=True)
class Source:
    """A named text; spans are offsets into it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of character offsets into the source."""

    start: int
    end: int


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of type `dtype`; a float literal is kept as written and rounds to `dtype` when used."""

    value: int | float | bool
    dtype: DType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SizeRef:
    """A named size used as a constant of type `dtype`; gone after `bind`."""

    name: str
    dtype: DType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Iter:
    """The iteration number (i64, from 0) of the enclosing scope named `scope`; printed as its depth."""

    scope: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Load:
    """The element of `buffer` at `indices`, one integer expression per dimension."""

    buffer: str
    indices: tuple[Expr, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Op:
    """Operation `op` of `ops.OPS` on its operands."""

    op: str
    args: tuple[Expr, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """Explicit conversion of `arg` to `dtype`."""

    dtype: DType
    arg: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


Expr = Literal | SizeRef | Iter | Load | Op | Cast

# ---------------------------------------------------------------- statements and scopes

Assign = OneOf["=", "+=", "*=", "max=", "min=", "maxnum=", "minnum="]


@dataclass(frozen=True, slots=True)
class Statement:
    """One element of `target` gets (`=`) or absorbs (a reduction sign) `value`, where `guard` holds.

    `target` is the written access in the shape of a Load; it is a read too for the reductions.
    """

    name: str
    target: Load
    op: Assign
    value: Expr
    guard: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """A loop from 0 to `extent` - 1 over `body`, in order; `mark` says how it runs ("" = sequentially)."""

    name: str
    extent: Expr
    body: tuple[Node, ...]
    mark: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


Node = Scope | Statement

GRID, BLOCK = (tuple(f"{unit}_{d}" for d in "xyz") for unit in ("grid", "block"))
"""Marks of scopes whose iterations are blocks of a GPU kernel, and threads of a block, along a dimension."""
CONCURRENT_MARKS: frozenset[str] = frozenset(("parallel", *GRID, *BLOCK, "core"))
"""Marks under which the iterations of a scope may run at the same time; races are rejected."""
LANE_MARKS: frozenset[str] = frozenset(("vector", "async", "warp"))
"""Marks under which they run together: lanes of a register, one copy, threads of a warp; sums end behind."""
MARKS: frozenset[str] = CONCURRENT_MARKS | LANE_MARKS | {"unroll", "mma", "stream", "frep", "dma"}

# ---------------------------------------------------------------- buffers and the program

Role = OneOf["in", "out", "inout", "tmp"]
SPACES: frozenset[str] = frozenset({"heap", "stack", "register", "shared", "fragment", "tcdm"})


@dataclass(frozen=True, slots=True)
class Buffer:
    """A named array.

    Attributes:
        shape: extents, outermost first, constant expressions over sizes (literals after `bind`).
        space: memory space, "" lets the backend choose.
        order: dimensions from slowest to fastest in memory; () is row-major.
        pad: unused elements behind each dimension; () is none.
        reuse: dimensions that are not materialised: every index along them names the same storage.
        values: half-open range that holds every element of an integer input, the caller's promise.
        nontemporal: full vectors that are stored pass by the caches.
        prefetch: elements that loads in innermost loops are fetched ahead of; 0 is not at all.
    """

    name: str
    role: Role
    dtype: DType
    shape: tuple[Expr, ...]
    space: str = ""
    order: tuple[int, ...] = ()
    pad: tuple[int, ...] = ()
    reuse: tuple[int, ...] = ()
    values: tuple[Expr, Expr] | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    nontemporal: bool = False
    prefetch: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """A named integer; `fixed` ones were worked into the body and cannot be overridden.

    `given` tells that `bind` was given the value, which the text alone would not have.
    """

    name: str
    value: Expr
    fixed: bool = False
    given: bool = field(default=False, compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)


N = TypeVar("N", bound="Scope | Statement")


@dataclass(frozen=True, slots=True)
class Place(Generic[N]):
    """Where a scope or a statement stands: the scopes around it, outermost first, its number in the body."""

    node: N
    around: tuple[Scope, ...]
    position: int


@dataclass(frozen=True)
class Program:
    """One kernel. No slots, so that look-ups by name can be kept."""

    name: str
    sizes: tuple[Size, ...]
    buffers: tuple[Buffer, ...]
    body: tuple[Node, ...]
    source: Source | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """Return the text, which reads back as the same program."""
        from perfdojo.compiler.text.render import render

        return render(self)

    def buffer(self, name: str) -> Buffer:
        """Return the buffer called `name`; KeyError when there is none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Buffer]:
        return {b.name: b for b in self.buffers}

    @cached_property
    def scopes(self) -> dict[str, Place[Scope]]:
        """Every scope by name, in the order of the text."""
        return {
            n.name: Place(n, around, at) for n, around, at in _places(self.body, ()) if isinstance(n, Scope)
        }

    @cached_property
    def statements(self) -> dict[str, Place[Statement]]:
        """Every statement by name, in the order of the text."""
        found = _places(self.body, ())
        return {n.name: Place(n, around, at) for n, around, at in found if isinstance(n, Statement)}

    @cached_property
    def depth(self) -> int:
        """Number of scopes that lie in one another, at the most."""
        return max((len(p.around) + 1 for p in self.scopes.values()), default=0)

    @property
    def arguments(self) -> tuple[Buffer, ...]:
        """The in, out and inout buffers in the order of the header: the order of the C arguments."""
        return tuple(b for b in self.buffers if b.role != "tmp")


def _places(
    body: tuple[Node, ...], around: tuple[Scope, ...]
) -> Iterator[tuple[Node, tuple[Scope, ...], int]]:
    for position, node in enumerate(body):
        yield node, around, position
        if isinstance(node, Scope):
            yield from _places(node.body, (*around, node))
