"""What the grammar yields: untyped expressions and lines, with their spans, before names are resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.ir import Span
from perfdojo.compiler.ops import OPS

MAX_DEPTH = 200
"""Nested operations: deep enough for any kernel, shallow enough for recursive passes."""

_BINARY = {o.symbol: o.name for o in OPS.values() if o.symbol and o.arity == 2}
_UNARY = {"-": "neg", "not": "not"}

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


# ---------------------------------------------------------------- expressions, as they are read


class TooDeep(Exception):
    """More than `MAX_DEPTH` nested operations."""

    def __init__(self, span: Span) -> None:
        super().__init__()
        self.span = span


def node(kind: Kind, value: str, args: tuple[Raw, ...], span: Span) -> Raw:
    """Return an expression one higher than its highest operand; TooDeep."""
    depth = 1 + max((a.depth for a in args), default=0)
    if depth > MAX_DEPTH:
        raise TooDeep(span)
    return Raw(kind, value, args, span, depth)


def name(text: str, span: Span) -> Raw:
    """Return a name, or a number that is written as one."""
    return Raw("float" if text in ("inf", "nan") else "name", text, (), span)


def unary(sign: str, operand: Raw, span: Span) -> Raw:
    """Return an operation on one operand; a minus before a number is part of it."""
    if sign == "-" and operand.kind in ("int", "float") and not operand.value.startswith("-"):
        return Raw(operand.kind, "-" + operand.value, (), span)
    return node("op", _UNARY[sign], (operand,), span)


def binary(sign: str, left: Raw, right: Raw) -> Raw:
    """Return an operation on two operands."""
    return node("op", _BINARY[sign], (left, right), Span(left.span.start, right.span.end))


def parens(inner: Raw) -> Raw:
    """Return what stands in parentheses, which count as an operation."""
    if inner.depth >= MAX_DEPTH:
        raise TooDeep(inner.span)
    inner.depth += 1
    return inner
