"""The one error type of the front end: where, what is wrong, what to do; and nearest names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from perfdojo.compiler.ir import Source, Span


class PerfDojoError(Exception):
    """Something that the user can fix.

    Attributes:
        message: one sentence.
        source, span: where; None when no text is at fault.
        hint: what to do, one sentence or "".
    """

    def __init__(
        self,
        message: str,
        source: Source | None = None,
        span: Span | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message, self.source, self.span, self.hint = message, source, span, hint

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column, from 1; None without a place in a text."""
        if self.source is None or self.span is None:
            return None
        before = self.source.text[: self.span.start]
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1

    def __str__(self) -> str:
        tail = f"\nhint: {self.hint}" if self.hint else ""
        if self.source is None or self.span is None or self.position is None:
            where = f"{self.source.name}: " if self.source else ""
            return f"{where}error: {self.message}{tail}"
        line, column = self.position
        start = self.span.start - (column - 1)
        raw = self.source.text[start:].split("\n", 1)[0].rstrip("\r")
        text, shown = _window(raw, column)
        width = min(self.span.end - self.span.start, len(text) - shown + 1)
        indent = "".join("\t" if c == "\t" else " " for c in text[: shown - 1])
        caret = indent + "^" * max(1, width)
        return f"{self.source.name}:{line}:{column}: error: {self.message}\n{text}\n{caret}{tail}"


def _window(text: str, column: int, width: int = 120) -> tuple[str, int]:
    """Cut a long line to the part around `column`; return it printable, with the column in it."""
    clean = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)
    if len(clean) <= width:
        return clean, column
    start = max(0, column - 1 - width // 2)
    return clean[start : start + width], column - start


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the hint `did you mean 'x'?`, or "" when no name is near."""
    near = get_close_matches(name, sorted(names), n=1)
    return f"did you mean '{near[0]}'?" if near else ""
