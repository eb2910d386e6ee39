"""A trial with its problem as a line of JSON, for people and git: what such a line must be."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from perfdojo.compiler.lowering.target import FP_LEVELS
from perfdojo.tuning.problem import key_of
from perfdojo.tuning.trial import MOST_SEED, Trial

PROBLEM = ("key", "kernel", "text", "sizes", "target", "fp", "threads", "machine", "unit")
MOST = 2**53
"""Over which a count, a time or a cost is none."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one line says.

    Attributes:
        problem: its values, by the names of PROBLEM.
        place, final: where it was at the end of a search, and the samples it had there; None: it was not.
    """

    problem: Mapping[str, Any]
    trial: Trial
    day: str
    version: str
    place: int | None = None
    final: tuple[float, ...] = ()


def read_line(text: str) -> Line:
    """Return what a line says.

    Raises:
        ValueError: it is no such line; the message tells what is wrong with it.
    """
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    whole = _object(found, "the line")
    p, t = _object(_part(whole, "problem"), "problem"), _object(_part(whole, "trial"), "trial")
    if unknown := set(t) - {f.name for f in fields(Trial)}:
        raise ValueError(f"a trial has no {', '.join(sorted(unknown))}")
    trial = Trial(
        _text(t, "schedule"), _text(t, "outcome"), _text(t, "detail"), _samples(t), _flag(t, "cut"),
        _text(t, "search"), _count(t, "seed", most=MOST_SEED), _seconds(t, "at"),
    )  # fmt: skip
    day, version = _text(whole, "day"), _text(whole, "version")
    if whole.get("final") is None:
        return Line(_problem(p), trial, day, version)
    final = _object(whole["final"], "final")
    if not (samples := _samples(final)):
        raise ValueError("final has no samples")
    return Line(_problem(p), trial, day, version, _count(final, "place"), samples)


def _problem(p: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {k: _text(p, k) for k in PROBLEM if k not in ("sizes", "threads", "machine")}
    sizes = _object(_part(p, "sizes"), "sizes")
    found |= {"sizes": {str(n): _count(sizes, n) for n in sizes}, "threads": _count(p, "threads")}
    machine = _part(p, "machine")
    if not isinstance(machine, list) or not all(_is_fact(m) for m in machine):
        raise ValueError("machine is no list of pairs of texts")
    if found["fp"] not in FP_LEVELS:
        raise ValueError(f"fp is none of {', '.join(FP_LEVELS)}")
    facts = (tuple(m) for m in machine)
    made = key_of(found["text"], found["target"], found["fp"], found["threads"], tuple(facts), found["unit"])
    if made != found["key"]:
        raise ValueError("key is not that of its problem: one of both was changed")
    return {k: ({**found, "machine": machine})[k] for k in PROBLEM}


def _is_fact(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(v, str) for v in pair)


def _part(o: Mapping[str, Any], name: str) -> Any:
    if name not in o:
        raise ValueError(f"{name} is missing")
    return o[name]


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no object")
    return value


def _text(o: Mapping[str, Any], name: str) -> str:
    value = _part(o, name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    value.encode()  # half a surrogate pair is no text either
    return value


def _flag(o: Mapping[str, Any], name: str) -> bool:
    if not isinstance(value := _part(o, name), bool):
        raise ValueError(f"{name} is neither true nor false")
    return value


def _count(o: Mapping[str, Any], name: str, most: int = MOST) -> int:
    value = _part(o, name)
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name} is no whole number from 0 to {most}")
    return value


def _seconds(o: Mapping[str, Any], name: str) -> float:
    if not _is_number(value := _part(o, name)):
        raise ValueError(f"{name} is no number of seconds")
    return float(value)


def _samples(o: Mapping[str, Any]) -> tuple[float, ...]:
    found = _part(o, "samples")
    if not isinstance(found, list) or not all(_is_number(v) and v for v in found):
        raise ValueError("samples is no list of numbers over 0")
    return tuple(map(float, found))


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number from 0, and neither infinite nor NaN."""
    return type(value) in (int, float) and 0 <= value <= MOST and not math.isnan(value)
