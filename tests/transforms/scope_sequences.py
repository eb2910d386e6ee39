"""Random moves on random programs, each judged by running the program before and after it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret import compare, first_difference, interpret, random_inputs, reference
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.transforms import get_transform
from perfdojo.compiler.transforms.base import Transform
from perfdojo.compiler.transforms.spelling import spelled
from perfdojo.compiler.verify import verify
from tests.analysis.nests import nests
from tests.random_programs.generate import generate
from tests.transforms.states import body, check_state, setting

LEVELS: tuple[FpLevel, ...] = ("strict", "reassoc")


def random_program(seed: int) -> Program:
    """Return the program of `seed` as moves see it; accesses of odd ones are shifted, strided, folded."""
    while seed % 2:
        found = nests(seed)
        try:
            verify(found)
        except PerfDojoError:
            seed += 200_000
            continue
        return prepare(found)
    return prepare(bind(generate(seed)))


def random_move(rng: random.Random, program: Program, cls: type[Transform]) -> Transform:
    """Return a move of a kind with any arguments, legal or not."""
    scopes, statements = list(program.scopes), list(program.statements)
    values: dict[str, object] = {}
    for f, s in spelled(cls):
        if s.kind == "scope":
            values[f.name] = rng.choice(scopes)
        elif s.kind == "node":
            values[f.name] = rng.choice(scopes + statements)
        elif s.kind == "int":
            values[f.name] = rng.choice((0, 0, 1, 1, 2, 3, 4, 7)) + s.lowest
        elif s.kind == "word":
            values[f.name] = rng.choice(s.choices)
    return cls(**values)


def legal_moves(
    rng: random.Random, program: Program, names: Sequence[str], fp: FpLevel
) -> Iterator[Transform]:
    """Yield candidates and, among moves with any arguments, the legal ones."""
    at = setting(fp=fp)
    for name in names:
        cls = get_transform(name)
        yield from cls.candidates(program, at)
        if program.scopes:
            tried = (random_move(rng, program, cls) for _ in range(12))
            yield from (m for m in tried if m.why_not(program, at) is None)


def fault(seed: int, names: Sequence[str], length: int = 3) -> str:
    """Return what goes wrong in one random sequence of moves of some kinds; "" when nothing does."""
    rng = random.Random(seed)
    fp = rng.choice(LEVELS)
    start = now = random_program(seed)
    moves: list[Transform] = []
    for _ in range(length):
        found = list(legal_moves(rng, now, names, fp))
        if not found:
            break
        moves.append(rng.choice(found))
        try:
            now = moves[-1].apply(now, setting(fp=fp))
            check_state(now)
        except (PerfDojoError, AssertionError) as error:
            return _told(start, now, moves, repr(error))
    inputs = random_inputs(start, seed, rng.choice(("normal", "special", "cancel")))
    reason = first_difference(interpret(now, inputs), interpret(start, inputs))
    if reason and fp != "strict":
        verdict = compare(interpret(now, inputs), reference(start, inputs, fp))
        reason = "" if verdict.passed else verdict.message
    return _told(start, now, moves, f"{fp}: {reason}") if reason else ""


def _told(start: Program, now: Program, moves: Sequence[Transform], reason: str) -> str:
    return "\n".join((reason, body(start), *map(str, moves), body(now)))
