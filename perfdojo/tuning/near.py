"""Why a kind of move has no legal instance on a program: instances on what there is are asked, one by one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import MISSING
from itertools import product
from math import prod
from typing import Any

from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms.base import Setting, Transform, Violation
from perfdojo.compiler.transforms.spelling import Spelling, spelled

MOST = 120
"""Instances that are asked; where there are more, each so manieth."""
REASONS = 3
"""That are told, each of one instance: those that came the furthest through the conditions."""
NUMBERS = (0, 1, 2, 4, 16)
"""For numbers; extents and dimensions are met by some of them."""
THINGS = {"scope": "no scope", "statement": "no statement", "buffer": "no buffer", "node": "no scope"}


def why_none(kind: type[Transform], program: Program, setting: Setting) -> tuple[str, ...]:
    """Return why no instance of a kind of move is offered on a program, one sentence each; at least one."""
    fields = [(f.name, s) for f, s in spelled(kind) if f.default is MISSING]
    values = [_values(s, program) for _, s in fields]
    if not all(values):
        missing = next(s for (_, s), v in zip(fields, values, strict=True) if not v)
        return (f"the program has {THINGS.get(missing.kind, missing.kind)} that it could be for",)
    moves = [kind(**dict(zip([n for n, _ in fields], v, strict=True))) for v in _some(values)]
    asked = [(m, m.why_not(program, setting)) for m in moves]
    if not asked:
        return ("the program has no two things that it could be for",)
    if legal := [m for m, why in asked if why is None]:
        return (f"legal as {legal[0]}, but no list of candidates has it",)
    return tuple(_told([(m, why) for m, why in asked if why is not None], program))


def _values(spelling: Spelling, program: Program) -> Sequence[Any]:
    """Return what a field can be: each scope, each buffer, some numbers."""
    scopes, statements = tuple(program.scopes), tuple(program.statements)
    if spelling.kind == "ints":
        ranks = {len(b.shape) for b in program.buffers if b.shape}
        singles = [(d,) for d in range(max(ranks, default=0))]
        return [*singles, *(tuple(reversed(range(r))) for r in sorted(ranks) if r > 1)]
    return {
        "scope": scopes,
        "statement": statements,
        "node": (*scopes, *statements),
        "buffer": tuple(b.name for b in program.buffers),
        "int": tuple(n for n in NUMBERS if n >= spelling.lowest),
        "word": spelling.choices,
    }.get(spelling.kind, ())


def _some(values: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield combinations, evenly spread where there are too many."""
    count = prod(map(len, values))
    step = -(-count // MOST)
    while step > 1 and any(len(v) % step == 0 for v in values):
        step += 1  # else one field would stay at one value
    yield from (v for n, v in enumerate(product(*values)) if n % step == 0 and _is_sensible(v))


def _is_sensible(values: Sequence[Any]) -> bool:
    """Tell whether no thing is named twice."""
    names = [v for v in values if isinstance(v, str)]
    return len(set(names)) == len(names)


def _told(refused: Sequence[tuple[Transform, Violation]], program: Program) -> Iterator[str]:
    """Yield the reasons of the instances that came the furthest; only reasons where these are all alike."""
    names = {*program.scopes, *program.statements, *(b.name for b in program.buffers)}
    alike: dict[str, list[tuple[Transform, Violation]]] = {}
    for move, why in sorted(refused, key=lambda r: -r[1].condition):
        alike.setdefault(_pattern(why.reason, names), []).append((move, why))
    whole = dict.fromkeys(_reason(why) for _, why in refused)
    if len(whole) == 1 or all(reason.startswith("target ") for reason in whole):
        yield from whole
        return
    for (move, why), *others in list(alike.values())[:REASONS]:
        yield f"{move}: {_reason(why)}" + (f", and {len(others)} more likewise" if others else "")
    if left := sum(map(len, list(alike.values())[REASONS:])):
        yield f"{left} more refused for other reasons"


def _pattern(reason: str, names: Collection[str]) -> str:
    """Return a reason without the names and numbers that it is about."""
    return re.sub(r"\w+", lambda word: "_" if word[0] in names or word[0].isdigit() else word[0], reason)


def _reason(why: Violation) -> str:
    return f"{why.reason} ({why.hint})" if why.hint else why.reason
