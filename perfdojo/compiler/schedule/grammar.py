"""The text of a schedule by its grammar, with Lark (LALR): says what a text is, and what is wrong in it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Source, Span
from perfdojo.compiler.schedule.lines import Line, Text, Value, Word, line_of

_LINE = "a line is a move: tile_scope i 16"


def by_grammar(text: str, source: Source) -> Text:
    """Return the words of a schedule, the text of `source` with its last line ended.

    Raises:
        PerfDojoError: the grammar has no such text; with line and column.
    """
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, source) from None
    head, *lines = (c for c in tree.children if isinstance(c, Tree))
    kernel, target, level = _words(head)
    return Text(_word(kernel), target and _word(target), level and _word(level), tuple(map(_line, lines)))


def _line(line: Tree[Any]) -> Line:
    optional, move, *rest = _words(line)
    parts = [v for v in rest if isinstance(v, Tree)]
    values = tuple(_value(v) for v in parts if v.data != "name")
    names = tuple(_word(_words(v)[0]) for v in parts if v.data == "name")
    return line_of(optional is not None, _word(move), values, names)


def _value(value: Tree[Any]) -> Value:
    if value.data != "list":
        word = _word(_words(value)[0])
        return Value(False, (word,), word.span)
    words = tuple(_word(_words(i)[0]) for i in _words(value) if i is not None)
    return Value(True, words, Span(value.meta.start_pos, value.meta.end_pos))


def _words(tree: Tree[Any]) -> list[Any]:
    """The children of a tree; Lark's types do not say which are tokens."""
    return tree.children


def _word(token: Token) -> Word:
    start = token.start_pos or 0
    return Word("int" if token.type == "INT" else "name", str(token), Span(start, start + len(token)))


@cache
def _parser() -> Lark:
    text = (resources.files("perfdojo.grammar") / "schedule.lark").read_text("utf-8")
    return Lark(text, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def _syntax_error(error: UnexpectedInput, source: Source) -> PerfDojoError:
    if isinstance(error, UnexpectedCharacters):
        start = error.pos_in_stream or 0
        char, at = source.text[start], Span(start, start + 1)
        return PerfDojoError(f"unexpected character {char!r}", source, at, _LINE)
    whole = len(source.text)
    token = error.token if isinstance(error, UnexpectedToken) else None
    if token is None or token.type == "$END" or isinstance(error, UnexpectedEOF):
        return PerfDojoError(
            "the schedule is cut off: no line 'end'",
            source,
            Span(max(0, whole - 1), max(1, whole)),
            "the last line of a schedule is 'end'",
        )
    start = token.start_pos or 0
    if token.type == "_NL":
        shown, span = "the end of the line", Span(start, start + 1)
    else:
        shown, span = f"'{token}'", Span(start, token.end_pos or 0)
    accepted = set(error.accepts or error.expected) if isinstance(error, UnexpectedToken) else set()
    before = source.text[:start].rsplit("\n", 1)[-1].split()
    hint = _hint(accepted, before)
    return PerfDojoError(f"unexpected {shown}", source, span, hint)


def _hint(accepted: set[str], before: list[str]) -> str:
    """Return what could stand in the place of an unexpected word, `before` which the line has others."""
    if "SCHEDULE" in accepted or before[:1] == ["schedule"]:
        return "the first line is: schedule KERNEL [on TARGET] [at FP]"
    if "RSQB" in accepted:
        return "a list is names or integers in brackets: [1 0]"
    if accepted <= {"$END", "_NL"}:
        return "nothing stands behind the line 'end'"
    return "a name belongs here, of letters, digits and _" if accepted == {"NAME"} else _LINE
