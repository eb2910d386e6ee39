"""The text of schedules: parse with places for errors, render."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.ir import Source, Span
from perfdojo.compiler.lowering.target import FP_LEVELS
from perfdojo.compiler.schedule.lines import Line, Value, Word, read_lines
from perfdojo.compiler.schedule.schedule import Schedule, Step
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms.base import Transform
from perfdojo.compiler.transforms.spelling import Spelling, spelled, usage

MAX_BYTES = 1 << 20
MAX_DIGITS = 18
"""Digits of an integer: no number of a move is larger than a size."""


def parse_schedule(text: str, name: str = "<schedule>") -> Schedule:
    """Return the schedule that `text` says.

    Raises:
        PerfDojoError: it is none, or names no transformation; with line and column.
    """
    source = Source(name, text)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise _too_long(size, source)
    found = read_lines(text if text.endswith("\n") else text + "\n", source)
    fp = found.level
    if fp is not None and fp.text not in FP_LEVELS:
        hint = nearest(fp.text, FP_LEVELS) or f"levels are {' '.join(FP_LEVELS)}"
        raise PerfDojoError(f"no floating-point level '{fp}'", source, fp.span, hint)
    steps = tuple(_step(line, source) for line in found.lines)
    level: Any = str(fp or "")
    return Schedule(found.kernel.text, steps, str(found.target or ""), level, source, found.kernel.span)


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


def _step(line: Line, source: Source) -> Step:
    name, span = line.move, line.span
    cls = _transform(name, source)
    names = tuple(map(str, line.names))
    values = _arguments(cls, line.values, source, span)
    for f, spelling in spelled(cls):
        if spelling.kind == "new":
            if 0 <= spelling.lowest < len(names):
                raise PerfDojoError(f"{name} makes at most {spelling.lowest} new things", source, span)
            values[f.name] = names
            names = ()
    if names:
        raise PerfDojoError(f"{name} makes nothing that '->' could name", source, span, f"write {usage(cls)}")
    return Step(cls(**values), line.optional, span)


def _transform(name: Word, source: Source) -> type[Transform]:
    try:
        return get_transform(name.text)
    except PerfDojoError as error:
        raise PerfDojoError(error.message, source, name.span, error.hint) from None


def _arguments(cls: type[Transform], given: tuple[Value, ...], source: Source, span: Span) -> dict[str, Any]:
    """Return field -> value: positional fields in order, then those behind their keywords in any order."""
    hint = f"write {usage(cls)}"
    known = [(f, s) for f, s in spelled(cls) if s.kind != "new"]
    keywords = {s.keyword: (f, s) for f, s in known if s.keyword}
    positional = [(f, s) for f, s in known if not s.keyword]
    values: dict[str, Any] = {}
    todo = list(given)
    while todo:
        value = todo.pop(0)
        word = value.words[0].text if _is_name(value) else ""
        if word in keywords:
            f, s = keywords[word]
            if f.name in values:
                raise PerfDojoError(f"{word} is given twice", source, value.span, hint)
            if s.kind == "flag":
                values[f.name] = True
                continue
            if not todo:
                raise PerfDojoError(f"nothing follows {word}", source, value.span, hint)
            value = todo.pop(0)
        else:
            unset = [(f, s) for f, s in positional if f.name not in values]
            if not unset:
                extra = nearest(word, keywords) if word else ""
                raise PerfDojoError("one argument too many", source, value.span, extra or hint)
            f, s = unset[0]
        values[f.name] = _value(value, s, source, hint)
    missing = [f for f, _ in known if f.default is MISSING and f.name not in values]
    if missing:
        raise PerfDojoError(f"the {missing[0].name} is missing", source, span, hint)
    return values


def _value(value: Value, spelling: Spelling, source: Source, hint: str) -> Any:
    if spelling.kind in ("names", "ints"):
        if not value.is_list:
            raise PerfDojoError("a list in brackets belongs here", source, value.span, hint)
        wanted = "int" if spelling.kind == "ints" else "name"
        wrong = next((w for w in value.words if w.kind != wanted), None)
        if wrong is not None:
            thing = "an integer" if wanted == "int" else "a name"
            raise PerfDojoError(f"{wrong} is not {thing}", source, wrong.span, hint)
        return tuple(_integer(w, source) if wanted == "int" else w.text for w in value.words)
    word = value.words[0] if value.words else None
    if spelling.kind == "int":
        if value.is_list or word is None or word.kind != "int":
            raise PerfDojoError("an integer belongs here", source, value.span, hint)
        number = _integer(word, source)
        if number < spelling.lowest:
            raise PerfDojoError(f"{number} is below {spelling.lowest}", source, word.span, hint)
        return number
    if word is None or not _is_name(value):
        raise PerfDojoError(f"a {spelling.kind} belongs here", source, value.span, hint)
    if spelling.choices and word.text not in spelling.choices:
        choices = f"it is one of {' '.join(spelling.choices)}"
        near = nearest(word.text, spelling.choices)
        raise PerfDojoError(f"no '{word}' here", source, word.span, near or choices)
    return word.text


def _is_name(value: Value) -> bool:
    return not value.is_list and value.words[0].kind == "name"


def _integer(word: Word, source: Source) -> int:
    if len(word.text.removeprefix("-")) > MAX_DIGITS:
        hint = "extents and factors are smaller"
        raise PerfDojoError(f"an integer has at most {MAX_DIGITS} digits", source, word.span, hint)
    return int(word.text)
