"""Text -> Program: reads the grammar with Lark (LALR) and hands untyped nodes to `resolve`."""

from __future__ import annotations

from functools import cache
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program, Source, Span
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.text import raw
from perfdojo.compiler.text.resolve import resolve
from perfdojo.grammar import parser

MAX_BYTES = 1 << 20
MAX_DEPTH = 200
"""Nested operations: deep enough for any kernel, shallow enough for recursive passes."""

_BINARY = {o.symbol: o.name for o in OPS.values() if o.symbol and o.arity == 2}
_UNARY = {"-": "neg", "not": "not"}
_READABLE = {
    "_NL": "the end of the line",
    "$END": "the end of the file",
    "NAME": "a name",
    "INT": "a number",
    "FLOAT": "a number",
    "ASSIGN": "'=', '+=', '*=', 'max=', 'min=', 'maxnum=', 'minnum='",
    "MARK": "a @mark",
    "LBRACE": "'{'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COLON": "':'",
    "COMMA": "','",
    "EQUAL": "'='",
    "BAR": "'|'",
    "MINUS": "'-'",
    "IF": "'if'",
    "NOT": "'not'",
    "KERNEL": "'kernel'",
    "SIZE": "'size'",
    **dict.fromkeys(("QMARK", "PLUS", "TIMES", "COMPARE", "AND", "OR"), "an operator"),
}


def parse(text: str, name: str = "<text>") -> Program:
    """Return the program that `text` says; sizes stay symbolic until `bind`.

    Raises:
        PerfDojoError: the text is not a kernel; with line, column and what was expected.
    """
    source = Source(name, text)
    _check_text(source)
    padded = text if text.endswith("\n") else text + "\n"
    try:
        kernel = _parser(source)(padded)
    except UnexpectedInput as error:
        raise _syntax_error(error, source) from None
    return resolve(kernel, source)


def read(path: str, data: bytes) -> Program:
    """Return the program in the bytes of a file; PerfDojoError when they are not UTF-8 text."""
    if len(data) > MAX_BYTES:
        raise _too_long(len(data), path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = data.decode("utf-8", "replace")
        at = len(data[: error.start].decode("utf-8"))
        raise PerfDojoError(
            f"byte {error.start} (0x{data[error.start]:02x}) is not UTF-8",
            Source(path, shown),
            Span(at, at + 1),
            "save the file as UTF-8",
        ) from None
    return parse(text.removeprefix("\ufeff"), path)


def _too_long(size: int, path: str) -> PerfDojoError:
    return PerfDojoError(
        f"the text has {size} bytes; a kernel has at most {MAX_BYTES}", Source(path, ""), None
    )


def _check_text(source: Source) -> None:
    size = len(source.text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise _too_long(size, source.name)
    if not source.text.strip():
        raise PerfDojoError(
            "the file is empty", source, Span(0, 1), "begin with 'kernel NAME', then sizes, buffers and loops"
        )
    nul = source.text.find("\0")
    if nul >= 0:
        raise PerfDojoError("a NUL byte is not text", source, Span(nul, nul + 1), "is this a binary file?")


@cache
def _grammar() -> Lark:
    return parser("kernel", transformer=_Build())


def _parser(source: Source) -> Any:
    def run(text: str) -> raw.RawKernel:
        try:
            return _grammar().parse(text)  # type: ignore[return-value]
        except _TooDeep as error:
            raise PerfDojoError(
                f"more than {MAX_DEPTH} nested operations",
                source,
                error.span,
                "split the expression over several statements",
            ) from None

    return run


def _syntax_error(error: UnexpectedInput, source: Source) -> PerfDojoError:
    at = min(error.pos_in_stream or 0, max(0, len(source.text) - 1))
    if isinstance(error, UnexpectedToken) and error.token.type == "_NL":
        found, span = (
            "the end of the line",
            Span(error.token.start_pos or 0, (error.token.start_pos or 0) + 1),
        )
        expected = error.accepts or error.expected
    elif isinstance(error, UnexpectedToken):
        token = error.token
        found = "the end of the file" if token.type == "$END" else f"'{token}'"
        start = len(source.text.rstrip()) if token.type == "$END" else token.start_pos or 0
        span = Span(start, start + max(1, len(token)))
        expected = error.accepts or error.expected
    elif isinstance(error, UnexpectedCharacters):
        return PerfDojoError(
            f"unexpected {source.text[at]!r}", source, Span(at, at + 1), "this character has no meaning here"
        )
    else:
        assert isinstance(error, UnexpectedEOF)
        found, span, expected = "the end of the file", Span(at, at + 1), set(error.expected)
    expected = set(expected) - ({"MINUS"} if "PLUS" in expected else set())
    words = sorted({_READABLE.get(e, e.lower()) for e in expected})
    return PerfDojoError(f"unexpected {found}", source, span, f"expected {_either(words)}" if words else "")


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


class _TooDeep(Exception):
    def __init__(self, span: Span) -> None:
        super().__init__()
        self.span = span


def _span(*parts: Any) -> Span:
    """Span from the first to the last of tokens and raw nodes."""
    spans = [Span(p.start_pos or 0, p.end_pos or 0) if isinstance(p, Token) else p.span for p in parts if p]
    return Span(spans[0].start, spans[-1].end)


def _name(token: Token) -> raw.RawName:
    return raw.RawName(str(token), _span(token))


def _node(kind: raw.Kind, value: str, args: tuple[raw.Raw, ...], span: Span) -> raw.Raw:
    depth = 1 + max((a.depth for a in args), default=0)
    if depth > MAX_DEPTH:
        raise _TooDeep(span)
    return raw.Raw(kind, value, args, span, depth)


class _Build(Transformer[Any, Any]):
    """One method a grammar rule; runs while Lark reduces, so no Lark tree is ever built."""

    def start(self, c: list[Any]) -> raw.RawKernel:
        parts = [p for p in c if p is not None]
        sizes = tuple(p for p in parts if isinstance(p, raw.RawSize))
        buffers = tuple(p for p in parts if isinstance(p, raw.RawBuffer))
        name = next(p for p in parts if isinstance(p, raw.RawName))
        return raw.RawKernel(name, sizes, buffers, parts[-1])

    def kernel(self, c: list[Any]) -> raw.RawName:
        return _name(c[0])

    def role(self, c: list[Any]) -> Token:
        return c[0]  # type: ignore[no-any-return]

    def size(self, c: list[Any]) -> raw.RawSize:
        fixed = len(c) > 2 and c[2] is not None
        return raw.RawSize(_name(c[0]), c[1], fixed, _span(c[0], c[1]))

    def buffer(self, c: list[Any]) -> raw.RawBuffer:
        role, name, dtype, shape, *attributes = c
        return raw.RawBuffer(
            str(role), _name(name), _name(dtype), shape or (), tuple(attributes), _span(role, dtype)
        )

    def attribute(self, c: list[Any]) -> raw.RawAttribute:
        return raw.RawAttribute(_name(c[0]), (c[1] if len(c) > 1 else None) or ())

    def body(self, c: list[Any]) -> tuple[raw.RawLine, ...]:
        return tuple(c)

    def line(self, c: list[Any]) -> raw.RawLine:
        bars = tuple(_span(t) for t in c if isinstance(t, Token))
        scopes = tuple(s for s in c if isinstance(s, raw.RawScope))
        statement = next((s for s in c if isinstance(s, raw.RawStatement)), None)
        return raw.RawLine(bars, scopes, statement)

    def label(self, c: list[Any]) -> raw.RawName:
        return _name(c[0])

    def extent(self, c: list[Any]) -> raw.Raw:
        return c[0]  # type: ignore[no-any-return]

    def scope(self, c: list[Any]) -> raw.RawScope:
        label, extent, *marks = c
        return raw.RawScope(label, extent, tuple(_name(m) for m in marks), _span(label, extent, *marks))

    def statement(self, c: list[Any]) -> raw.RawStatement:
        label, name, indices, bracket, op, value, guard = c
        target = _node("load", str(name), indices or (), _span(name, bracket))
        return raw.RawStatement(label, target, str(op), value, guard, _span(name, value, guard))

    def arguments(self, c: list[Any]) -> tuple[raw.Raw, ...]:
        return tuple(c)

    def select(self, c: list[Any]) -> raw.Raw:
        return _node("op", "select", tuple(c), _span(c[0], c[-1]))

    def binary(self, c: list[Any]) -> raw.Raw:
        left, sign, right = c
        return _node("op", _BINARY[str(sign)], (left, right), _span(left, right))

    def unary(self, c: list[Any]) -> raw.Raw:
        sign, operand = c
        if str(sign) == "-" and operand.kind in ("int", "float") and not operand.value.startswith("-"):
            return _node(operand.kind, "-" + operand.value, (), _span(sign, operand))
        return _node("op", _UNARY[str(sign)], (operand,), _span(sign, operand))

    def parens(self, c: list[Any]) -> raw.Raw:
        inner: raw.Raw = c[0]
        if inner.depth >= MAX_DEPTH:
            raise _TooDeep(inner.span)
        inner.depth += 1
        return inner

    def integer(self, c: list[Any]) -> raw.Raw:
        return _node("int", str(c[0]), (), _span(c[0]))

    def float_(self, c: list[Any]) -> raw.Raw:
        return _node("float", str(c[0]), (), _span(c[0]))

    def name(self, c: list[Any]) -> raw.Raw:
        text = str(c[0])
        return _node("float" if text in ("inf", "nan") else "name", text, (), _span(c[0]))

    def load(self, c: list[Any]) -> raw.Raw:
        return _node("load", str(c[0]), c[1] or (), _span(c[0], c[2]))

    def call(self, c: list[Any]) -> raw.Raw:
        return _node("call", str(c[0]), c[1] or (), _span(c[0], c[2]))

    def iterator(self, c: list[Any]) -> raw.Raw:
        return _node("iter", str(c[1]), (), _span(c[0], c[2]))
