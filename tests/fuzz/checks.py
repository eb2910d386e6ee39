"""Whether a transformed program computes what the original does, asked in four ways."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from perfdojo.compiler.interpret import compare, first_difference, interpret, random_inputs, reference
from perfdojo.compiler.validate import Validator
from tests.fuzz import sequences as fuzz
from tests.native import Case, Library, build, call, case

KINDS = ("normal", "normal", "special", "cancel", "equal")


def by_interpreter(s: fuzz.Sequence) -> list[str]:
    """Run before and after in the reference interpreter: equal bits at strict, within the bound elsewhere."""
    inputs = random_inputs(s.start, s.seed, random.Random(s.seed).choice(KINDS))
    before = interpret(s.start, inputs)
    bound = None
    found = []
    for program in s.programs:
        after = interpret(program, inputs)
        reason = first_difference(after, before)
        if reason and s.setting.fp != "strict":
            bound = bound or reference(s.start, inputs, s.setting.fp)
            verdict = compare(after, bound)
            reason = "" if verdict.passed else verdict.message
        found.append(reason)
    return found


def by_validator(s: fuzz.Sequence) -> list[str]:
    """Run before and after on symbols."""
    found = []
    validator = Validator(s.start, s.setting.fp, limit=10_000_000)
    for program in s.programs:
        verdict = validator.validate(program)
        found.append("" if verdict.equal else verdict.message)
    return found


def by_backend(target: str) -> Callable[[Sequence[fuzz.Sequence]], list[list[str]]]:
    """Return a check of many sequences: the last program of each is emitted, built and called."""

    def check(many: Sequence[fuzz.Sequence]) -> list[list[str]]:
        cases = [case(f"k{s.seed}", s.start, target, s.setting.fp, s.programs[-1]) for s in many]
        library = build(cases)
        return [[_called(library, s, c)] for s, c in zip(many, cases, strict=True)]

    return check


def _called(library: Library, s: fuzz.Sequence, c: Case) -> str:
    inputs = random_inputs(s.start, s.seed, random.Random(s.seed).choice(KINDS))
    result = call(library, c.emitted, inputs)
    if s.setting.fp == "strict":
        return first_difference(result, interpret(s.start, inputs))
    verdict = compare(result, reference(s.start, inputs, s.setting.fp))
    return "" if verdict.passed else verdict.message
