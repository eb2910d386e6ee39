"""The text of a move: `tile_scope i 16 remainder peel` <-> `TileScope("i", 16, "peel")`.

A field is spelled by its kind, behind its keyword unless it is positional; one at its default is left out.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import getdoc
from typing import Any, Literal

from perfdojo.compiler.transforms.base import Transform

Kind = Literal["scope", "statement", "node", "buffer", "int", "word", "flag", "names", "ints", "new"]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one field is written.

    Attributes:
        kind: what it names. `node` is a scope or a statement; `names` and `ints` stand in brackets; a `flag`
            is its keyword alone; `new` names what the move makes, behind `->`.
        keyword: the word before it; "" for a positional one.
        choices: what a `word` can be.
        lowest: smallest value of an `int`.
    """

    kind: Kind
    keyword: str = ""
    choices: tuple[str, ...] = ()
    lowest: int = 0


def arg(
    kind: Kind,
    keyword: str = "",
    *,
    default: Any = MISSING,
    choices: tuple[str, ...] = (),
    lowest: int = 0,
) -> Any:
    """Return a dataclass field of a move; positional without `keyword`."""
    return field(default=default, metadata={"spelling": Spelling(kind, keyword, choices, lowest)})


def new(count: int | None = None) -> Any:
    """Return the field for the names of what a move makes; () derives them from old ones.

    Two moves that differ in these only are equal. `count` tells how many there can be.
    """
    spelling = Spelling("new", "->", lowest=-1 if count is None else count)
    return field(default=(), compare=False, metadata={"spelling": spelling})


def spelled(move: type[Transform] | Transform) -> list[tuple[Field[Any], Spelling]]:
    """Return the fields of a move with their spelling, positional ones first, new names last."""
    found = [(f, f.metadata["spelling"]) for f in fields(move)]
    return sorted(found, key=lambda f: (f[1].kind == "new", f[1].keyword != ""))


def name_of(move: type[Transform] | Transform) -> str:
    """Return the name of a transformation: that of its module."""
    cls = move if isinstance(move, type) else type(move)
    return cls.__module__.rsplit(".", 1)[-1]


def spell(move: Transform) -> str:
    """Return the text of a move."""
    words = [name_of(move)]
    for f, spelling in spelled(move):
        value = getattr(move, f.name)
        if (spelling.keyword or f.default is not MISSING) and value == f.default:
            continue
        if spelling.keyword:
            words.append(spelling.keyword)
        if spelling.kind in ("names", "ints"):
            words.append(f"[{' '.join(map(str, value))}]")
        elif spelling.kind == "new":
            words.extend(value)
        elif spelling.kind != "flag":
            words.append(str(value))
    return " ".join(words)


def usage(cls: type[Transform]) -> str:
    """Return how a move is written: `tile_scope SCOPE FACTOR [remainder exact|peel|mask] [-> NAME NAME]`."""
    words = [name_of(cls)]
    for f, s in spelled(cls):
        shown = {"int": "N", "names": "[NAME ...]", "ints": "[N ...]", "word": "|".join(s.choices)}
        value = shown.get(s.kind, s.kind.upper())
        if s.kind == "flag":
            words.append(f"[{s.keyword}]")
        elif s.kind == "new":
            words.append(f"[-> {' '.join(['NAME'] * s.lowest) if s.lowest > 0 else 'NAME ...'}]")
        elif s.kind == "int" and not s.keyword:
            words.append(f.name.upper())
        elif s.keyword:
            text = f"{s.keyword} {value}"
            words.append(text if f.default is MISSING else f"[{text}]")
        else:
            words.append(value if f.default is MISSING else f"[{value}]")
    return " ".join(words)


def misfit(move: object) -> str:
    """Return why an object is no move that a text could say, one sentence; "" when it is one."""
    if not isinstance(move, Transform):
        return f"{move!r} is no move"
    for f, s in spelled(move):
        value = getattr(move, f.name)
        if value == f.default and type(value) is type(f.default):
            continue
        if s.kind == "flag":
            fits = isinstance(value, bool)
        elif s.kind == "int":
            fits = _is_integer(value) and value >= s.lowest
        elif s.kind in ("names", "ints", "new"):
            one = _is_integer if s.kind == "ints" else _is_name
            fits = isinstance(value, tuple) and all(map(one, value))
            fits = fits and not (s.kind == "new" and 0 <= s.lowest < len(value))
        else:
            fits = _is_name(value) and (not s.choices or value in s.choices)
        if not fits:
            return f"{value!r} cannot be the {f.name} of {name_of(move)}: write {usage(type(move))}"
    return ""


def _is_integer(value: object) -> bool:
    return type(value) is int


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", value) is not None


def summary(cls: type[Transform]) -> str:
    """Return what a move does: the first sentence of its docstring."""
    return " ".join((getdoc(cls) or "").split("\n\n", 1)[0].split())
