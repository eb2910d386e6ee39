"""What the grammar yields: untyped expressions and lines, with their spans, before names are resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.ir import Span

Kind = Literal["int", "float", "name", "load", "call", "iter", "op"]


@dataclass(slots=True)
class Raw:
    """An untyped expression.

    Attributes:
        value: digits of a number, a name, the depth or name of an iterator, or the operation.
        depth: height of the tree, kept while building so that no pass has to recurse to find out.
        dtype: inferred type; None for what takes its type from the context. Set by `typing.infer`.
    """

    kind: Kind
    value: str
    args: tuple[Raw, ...]
    span: Span
    depth: int = 1
    dtype: DType | None = None
    inferred: bool = False


@dataclass(slots=True)
class RawName:
    """A name in the text."""

    text: str
    span: Span


@dataclass(slots=True)
class RawSize:
    """`size NAME = VALUE`."""

    name: RawName
    value: Raw
    fixed: bool
    span: Span


@dataclass(slots=True)
class RawAttribute:
    """An attribute of a buffer, `order(1, 0)` or `nontemporal`."""

    name: RawName
    args: tuple[Raw, ...]


@dataclass(slots=True)
class RawBuffer:
    """One buffer line of the header."""

    role: str
    name: RawName
    dtype: RawName
    shape: tuple[Raw, ...]
    attributes: tuple[RawAttribute, ...]
    span: Span


@dataclass(slots=True)
class RawScope:
    """A scope where a body line opens it."""

    label: RawName | None
    extent: Raw
    marks: tuple[RawName, ...]
    span: Span


@dataclass(slots=True)
class RawStatement:
    """The statement of a body line."""

    label: RawName | None
    target: Raw
    op: str
    value: Raw
    guard: Raw | None
    span: Span


@dataclass(slots=True)
class RawLine:
    """A body line: bars, new scopes, perhaps a statement."""

    bars: tuple[Span, ...]
    scopes: tuple[RawScope, ...]
    statement: RawStatement | None


@dataclass(slots=True)
class RawKernel:
    """The whole text."""

    name: RawName
    sizes: tuple[RawSize, ...]
    buffers: tuple[RawBuffer, ...]
    lines: tuple[RawLine, ...] = field(default=())
