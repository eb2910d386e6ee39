"""The text of schedules: parse with places for errors, render."""

from __future__ import annotations

from dataclasses import MISSING
from functools import cache
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.ir import Source, Span
from perfdojo.compiler.lowering.target import FP_LEVELS
from perfdojo.compiler.schedule.schedule import Schedule, Step
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms.base import Transform
from perfdojo.compiler.transforms.spelling import Spelling, spelled, usage
from perfdojo.grammar import parser

MAX_BYTES = 1 << 20
MAX_DIGITS = 18
"""Digits of an integer: no number of a move is larger than a size."""
_LINE = "a line is a move: tile_scope i 16"


def parse_schedule(text: str, name: str = "<schedule>") -> Schedule:
    """Return the schedule that `text` says.

    Raises:
        PerfDojoError: it is none, or names no transformation; with line and column.
    """
    source = Source(name, text)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise _too_long(size, source)
    try:
        tree = _parser().parse(text if text.endswith("\n") else text + "\n")
    except UnexpectedInput as error:
        raise _syntax_error(error, source) from None
    head, *lines = (c for c in tree.children if isinstance(c, Tree))
    names: list[Any] = head.children
    kernel, target, fp = names
    if fp is not None and fp not in FP_LEVELS:
        hint = nearest(fp, FP_LEVELS) or f"levels are {' '.join(FP_LEVELS)}"
        raise PerfDojoError(f"no floating-point level '{fp}'", source, _span(fp), hint)
    steps = tuple(_step(line, source) for line in lines)
    level: Any = str(fp or "")
    return Schedule(str(kernel), steps, str(target or ""), level, source, _span(kernel))


def read_text(data: bytes, name: str) -> Schedule:
    """Return the schedule in the bytes of a file; PerfDojoError when they are not UTF-8 text, or none."""
    if len(data) > MAX_BYTES:
        raise _too_long(len(data), Source(name, ""))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = len(data[: error.start].decode("utf-8"))
        raise PerfDojoError(
            f"byte {error.start} (0x{data[error.start]:02x}) is not UTF-8",
            Source(name, data.decode("utf-8", "replace")),
            Span(at, at + 1),
            "save the file as UTF-8",
        ) from None
    return parse_schedule(text.removeprefix("\ufeff"), name)


def _too_long(size: int, source: Source) -> PerfDojoError:
    return PerfDojoError(f"the text has {size} bytes; a schedule has at most {MAX_BYTES}", source)


def parse_step(text: str, name: str = "<move>") -> Step:
    """Return the step that one line says; PerfDojoError when it is none, or several."""
    head = "schedule k\n"
    try:
        steps = parse_schedule(f"{head}{text}\nend", name).steps
    except PerfDojoError as error:
        span = error.span and Span(error.span.start - len(head), error.span.end - len(head))
        if span is None or not 0 <= span.start <= len(text):
            span = Span(len(text), len(text) + 1)
        raise PerfDojoError(error.message, Source(name, text), span, error.hint) from None
    if not steps:
        raise PerfDojoError("no move in an empty line", hint="a move is a name and its arguments")
    if len(steps) > 1:
        second = steps[1].span
        assert second is not None, "it was parsed"
        place = Span(second.start - len(head), second.end - len(head))
        raise PerfDojoError("one move belongs here", Source(name, text), place, "give them one by one")
    return steps[0]


def parse_move(text: str, name: str = "<move>") -> Transform:
    """Return the move that one line says, with or without `try`; PerfDojoError when it is none."""
    return parse_step(text, name).move


def render_schedule(schedule: Schedule) -> str:
    """Return the text of a schedule; `parse_schedule` reads it back."""
    head = f"schedule {schedule.kernel}"
    head += f" on {schedule.target}" if schedule.target else ""
    head += f" at {schedule.fp}" if schedule.fp else ""
    return "\n".join((head, *map(str, schedule.steps), "end")) + "\n"


# ---------------------------------------------------------------- one line


def _step(line: Tree[Any], source: Source) -> Step:
    parts: list[Any] = line.children
    optional, name, *rest = parts
    cls = _transform(name, source)
    span = Span(_span(name).start, _end(line))
    given = [v for v in rest if isinstance(v, Tree) and v.data != "name"]
    names = tuple(str(v.children[0]) for v in rest if isinstance(v, Tree) and v.data == "name")
    values = _arguments(cls, given, source, span)
    for f, spelling in spelled(cls):
        if spelling.kind == "new":
            if 0 <= spelling.lowest < len(names):
                raise PerfDojoError(f"{name} makes at most {spelling.lowest} new things", source, span)
            values[f.name] = names
            names = ()
    if names:
        raise PerfDojoError(f"{name} makes nothing that '->' could name", source, span, f"write {usage(cls)}")
    return Step(cls(**values), optional is not None, span)


def _transform(name: Token, source: Source) -> type[Transform]:
    try:
        return get_transform(str(name))
    except PerfDojoError as error:
        raise PerfDojoError(error.message, source, _span(name), error.hint) from None


def _arguments(cls: type[Transform], given: list[Tree[Any]], source: Source, span: Span) -> dict[str, Any]:
    """Return field -> value: positional fields in order, then those behind their keywords in any order."""
    hint = f"write {usage(cls)}"
    known = [(f, s) for f, s in spelled(cls) if s.kind != "new"]
    keywords = {s.keyword: (f, s) for f, s in known if s.keyword}
    positional = [(f, s) for f, s in known if not s.keyword]
    values: dict[str, Any] = {}
    todo = list(given)
    while todo:
        value = todo.pop(0)
        word = str(value.children[0]) if value.data == "word" else ""
        if word in keywords:
            f, s = keywords[word]
            if f.name in values:
                raise PerfDojoError(f"{word} is given twice", source, _span_of(value), hint)
            if s.kind == "flag":
                values[f.name] = True
                continue
            if not todo:
                raise PerfDojoError(f"nothing follows {word}", source, _span_of(value), hint)
            value = todo.pop(0)
        else:
            unset = [(f, s) for f, s in positional if f.name not in values]
            if not unset:
                extra = nearest(word, keywords) if word else ""
                raise PerfDojoError("one argument too many", source, _span_of(value), extra or hint)
            f, s = unset[0]
        values[f.name] = _value(value, s, source, hint)
    missing = [f for f, _ in known if f.default is MISSING and f.name not in values]
    if missing:
        raise PerfDojoError(f"the {missing[0].name} is missing", source, span, hint)
    return values


def _value(value: Tree[Any], spelling: Spelling, source: Source, hint: str) -> Any:
    items: list[Any] = value.children
    if spelling.kind in ("names", "ints"):
        if value.data != "list":
            raise PerfDojoError("a list in brackets belongs here", source, _span_of(value), hint)
        words = [i.children[0] for i in items if i is not None]
        wanted = "INT" if spelling.kind == "ints" else "NAME"
        wrong = next((w for w in words if w.type != wanted), None)
        if wrong is not None:
            thing = "an integer" if wanted == "INT" else "a name"
            raise PerfDojoError(f"{wrong} is not {thing}", source, _span(wrong), hint)
        return tuple(_integer(w, source) if wanted == "INT" else str(w) for w in words)
    if spelling.kind == "int":
        if value.data != "integer":
            raise PerfDojoError("an integer belongs here", source, _span_of(value), hint)
        number = _integer(items[0], source)
        if number < spelling.lowest:
            raise PerfDojoError(f"{number} is below {spelling.lowest}", source, _span(items[0]), hint)
        return number
    if value.data != "word":
        raise PerfDojoError(f"a {spelling.kind} belongs here", source, _span_of(value), hint)
    if spelling.choices and str(items[0]) not in spelling.choices:
        choices = f"it is one of {' '.join(spelling.choices)}"
        near = nearest(str(items[0]), spelling.choices)
        raise PerfDojoError(f"no '{items[0]}' here", source, _span(items[0]), near or choices)
    return str(items[0])


def _integer(word: Token, source: Source) -> int:
    if len(word.removeprefix("-")) > MAX_DIGITS:
        hint = "extents and factors are smaller"
        raise PerfDojoError(f"an integer has at most {MAX_DIGITS} digits", source, _span(word), hint)
    return int(word)


# ---------------------------------------------------------------- places and errors


@cache
def _parser() -> Lark:
    return parser("schedule", propagate_positions=True)


def _span(token: Token) -> Span:
    start = token.start_pos or 0
    return Span(start, start + len(token))


def _span_of(tree: Tree[Any]) -> Span:
    return Span(tree.meta.start_pos, tree.meta.end_pos) if not tree.meta.empty else Span(0, 1)


def _end(line: Tree[Any]) -> int:
    ends = [t.end_pos for t in line.scan_values(lambda t: isinstance(t, Token) and t.type != "_NL")]
    return int(max(e for e in ends if e is not None))


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
