"""Random legal move sequences: candidates mostly, and now and then moves with arguments of no menu."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from perfdojo.backends import get_target
from perfdojo.compiler.ir import MARKS, SPACES, Program
from perfdojo.compiler.lowering.target import FP_LEVELS, Target
from perfdojo.compiler.transforms import transforms
from perfdojo.compiler.transforms.add_scope import AddScope
from perfdojo.compiler.transforms.base import Setting, Transform
from perfdojo.compiler.transforms.spelling import spelled
from tests.fuzz.instances import instance
from tests.fuzz.programs import executions, lacks, program

MOST_MOVES = 12
MOST_STATEMENTS = 60
"""Statements above which a sequence ends: copies of copies teach nothing new."""
WEIGHTS = {
    **dict.fromkeys(("add_scope", "drop_scope", "sequential", "set_space", "unroll"), 0.3),
    **dict.fromkeys(("nontemporal", "pad_dims", "prefetch", "reorder_dims"), 0.3),
    **dict.fromkeys(("create_temporary", "inline", "recompute", "reuse_dims"), 2.0),
    "reuse_buffers": 4.0,
    "split_dims": 3.0,
    "peel_scope": 0.7,
    **dict.fromkeys(("fission_scope", "join_scopes", "split_reduction", "swap_siblings"), 2.0),
    **dict.fromkeys(("contract_fma", "parallelize", "reorder", "vectorize"), 2.0),
    "grid": 2.0,
    "block": 4.0,
}
"""How often a transformation is drawn, else 1: seldom where nothing moves, often where much may go wrong."""
IN_LANES = {"contract_fma": 5.0, "tile_scope": 2.0, "vectorize": 12.0}
"""The same where code is made, whose lanes nothing else executes."""
FAVOUR, FAVOURED = 0.7, 4.0
"""How often moves are preferred for which the structure of the program matters, and how much."""
TRIALS = 5
"""Instances of no menu that are tried for one move."""
GROWTH = 4
"""Times the executions of the original above which a sequence ends."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A program and what some moves made of it, one program for each move."""

    seed: int
    setting: Setting
    start: Program
    moves: tuple[Transform, ...]
    programs: tuple[Program, ...]


def sequence(seed: int, most: int = MOST_MOVES, target: str = "") -> Sequence:
    """Return the sequence of `seed`, for a random machine unless a target is named."""
    rng = random.Random(f"fuzz {seed}")
    machine = get_target(target) if target else machines()[rng.randrange(len(machines()))]
    weights = WEIGHTS | (IN_LANES if target else {})
    at = Setting(machine, rng.choice((*FP_LEVELS, "strict", "reassoc")))
    start, favoured = program(rng)
    now = start
    if rng.random() < FAVOUR:
        weights = weights | {name: FAVOURED * weights.get(name, 1.0) for name in favoured}
    limit = GROWTH * executions(start) + 200
    moves: list[Transform] = []
    programs: list[Program] = []
    for _ in range(rng.randint(1, rng.randint(3, most))):
        try:
            move = random_move(now, at, rng, weights)
            if move is None:
                break
            following = move.rewrite_for(now, at)
        except Exception:
            if lacks(now):  # a wrong move made it, which is what is to be told
                break
            raise
        if executions(following) > limit or len(following.statements) > MOST_STATEMENTS:
            break
        now = following
        moves.append(move)
        programs.append(now)
    return Sequence(seed, at, start, tuple(moves), tuple(programs))


def machines() -> tuple[Target, ...]:
    """Return the targets, and one that has every mark and memory space."""
    avx2 = get_target("avx2")
    every = replace(avx2, name="every", marks=MARKS, spaces=SPACES)
    return get_target("c"), avx2, get_target("avx512"), every, every


def random_move(
    now: Program, at: Setting, rng: random.Random, weights: Mapping[str, float] = WEIGHTS
) -> Transform | None:
    """Return a legal move, one of a transformation drawn by weight; None when there is none."""
    names = list(transforms())
    for name in sorted(names, key=lambda n: rng.random() ** (1 / weights.get(n, 1.0)), reverse=True):
        wild = rng.random()
        if wild < 0.6:
            for _ in range(TRIALS):
                drawn = instance(transforms()[name], now, rng)
                if drawn is not None and drawn.why_not(now, at) is None:
                    return drawn
        found = _offered(name, now, at)
        if not found:
            continue
        move = rng.choice(found)
        if wild < 0.7:
            for other in changed(move, now, rng):
                if other.why_not(now, at) is None:
                    return other
        return move
    return None


def _offered(name: str, now: Program, at: Setting) -> list[Transform]:
    """The candidates of a transformation; of the one that has none, some instances."""
    if name != "add_scope":
        return list(transforms()[name].candidates(now, at))
    return [AddScope(n) for n in (*now.scopes, *now.statements) if AddScope(n).why_not(now, at) is None]


def changed(move: Transform, now: Program, rng: random.Random) -> Iterator[Transform]:
    """Yield moves of the same kind with one argument changed to anything that fits its kind."""
    fields = [(f.name, s) for f, s in spelled(move) if s.kind != "new"]
    for _ in range(4):
        name, spelling = rng.choice(fields)
        old = getattr(move, name)
        scopes, statements = list(now.scopes), list(now.statements)
        choice: dict[str, list[object]] = {
            "scope": [*scopes],
            "statement": [*statements],
            "node": [*scopes, *statements],
            "buffer": [b.name for b in now.buffers],
            "word": [*spelling.choices],
            "flag": [True, False],
            "int": list(range(spelling.lowest, 20)),
        }
        if choice.get(spelling.kind):
            yield replace(move, **{name: rng.choice(choice[spelling.kind])})
        elif isinstance(old, tuple) and old:
            yield replace(move, **{name: tuple(rng.sample(old, rng.randint(1, len(old))))})
