"""The text of a schedule as words and lines: usual texts by hand, the others by the grammar.

What is read by hand is read as the grammar reads it; at the first surprise the text is left to the grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from perfdojo.compiler.ir import Source, Span


@dataclass(frozen=True, slots=True)
class Word:
    """A name or an integer in the text."""

    kind: Literal["name", "int"]
    text: str
    span: Span

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Value:
    """An argument: one word, or a list of them in brackets, which belong to its span."""

    is_list: bool
    words: tuple[Word, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Line:
    """`try? move values -> names`; the span is that of its words from the name of the move on."""

    optional: bool
    move: Word
    values: tuple[Value, ...]
    names: tuple[Word, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Text:
    """`schedule kernel on target at level`, lines."""

    kernel: Word
    target: Word | None
    level: Word | None
    lines: tuple[Line, ...]


def line_of(optional: bool, move: Word, values: tuple[Value, ...], names: tuple[Word, ...]) -> Line:
    """Return the line of these words."""
    words = (move, *(w for v in values for w in v.words), *names)
    return Line(optional, move, values, names, Span(move.span.start, words[-1].span.end))


def read_lines(text: str, source: Source) -> Text:
    """Return the words of a schedule, the text of `source` with its last line ended.

    Raises:
        PerfDojoError: the grammar has no such text; with line and column.
    """
    found = plainly(text)
    if found is not None:
        return found
    # not at the top: Lark and its tables take 0.2 s, and few texts need them
    from perfdojo.compiler.schedule.grammar import by_grammar

    return by_grammar(text, source)


# ---------------------------------------------------------------- by hand

# groups: 1 a line's end, 2 a name, 3 an integer, 4 a sign, 5 none of them
_TOKEN = re.compile(
    r"[ \t\f]*(?:((?:[ \t\f]*(?:\#[^\n]*)?\r?\n)+)|([A-Za-z_][A-Za-z_0-9]*)|(-?[0-9]+)|(->|[\[\],])|(.))",
    re.DOTALL,
)
_KINDS = ("", "end of line", "name", "int", "", "")


class _Surprise(Exception):
    """The grammar has to judge this text."""


def plainly(text: str) -> Text | None:
    """Return the words of a schedule in which nothing is unusual; None when the grammar has to judge it."""
    try:
        return _Reader(text).text()
    except _Surprise:
        return None


class _Reader:
    """A place in a list of tokens; the kind of a sign is the sign."""

    __slots__ = ("at", "kinds", "starts", "words")

    def __init__(self, text: str) -> None:
        tokens = [(m, m.lastindex or 0) for m in _TOKEN.finditer(text)]
        self.kinds = [m[i] if i == 4 else _KINDS[i] for m, i in tokens]
        self.words = [m[i] for m, i in tokens]
        self.starts = [m.start(i) for m, i in tokens]
        self.kinds += ["end", "end"]
        self.words += ["", ""]
        self.at = 0

    def takes(self, kind: str) -> bool:
        if self.kinds[self.at] != kind:
            return False
        self.at += 1
        return True

    def says(self, word: str) -> bool:
        """Whether the next token is this word of the notation; then it is passed."""
        if self.words[self.at] != word:
            return False
        self.at += 1
        return True

    def take(self, kind: str) -> None:
        if not self.takes(kind):
            raise _Surprise

    def name(self, *reserved: str) -> Word:
        """Read a name that is none of the words that have a meaning here."""
        if self.words[self.at] in reserved or self.kinds[self.at] != "name":
            raise _Surprise
        return self.word()

    def word(self) -> Word:
        kind, text, start = self.kinds[self.at], self.words[self.at], self.starts[self.at]
        self.at += 1
        return Word("name" if kind == "name" else "int", text, Span(start, start + len(text)))

    def text(self) -> Text:
        self.takes("end of line")
        if not self.says("schedule"):
            raise _Surprise
        kernel = self.name("on", "at")
        target = self.name("on", "at") if self.says("on") else None
        level = self.name("on", "at") if self.says("at") else None
        self.take("end of line")
        lines = []
        while not self.says("end"):
            lines.append(self.line())
        self.takes("end of line")
        self.take("end")
        return Text(kernel, target, level, tuple(lines))

    def line(self) -> Line:
        optional = self.says("try")
        move = self.name("try", "end")
        values = []
        while self.kinds[self.at] in ("name", "int", "["):
            values.append(self.value())
        names = []
        if self.takes("->"):
            names.append(self.name())
            while self.kinds[self.at] == "name":
                names.append(self.word())
        self.take("end of line")
        return line_of(optional, move, tuple(values), tuple(names))

    def value(self) -> Value:
        start = self.starts[self.at]
        if not self.takes("["):
            word = self.word()
            return Value(False, (word,), word.span)
        words = []
        while self.kinds[self.at] in ("name", "int"):
            words.append(self.word())
            if self.takes(",") and self.kinds[self.at] == "]":
                raise _Surprise
        self.take("]")
        return Value(True, tuple(words), Span(start, self.starts[self.at - 1] + 1))
