"""The space of schedules: points, and the ways from one to another. All that comes out is legal."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import Parameter, signature

from perfdojo.backends import planned
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.recipes import get_recipe, parameters, recipe_names
from perfdojo.compiler.schedule import History, Schedule, Step, render_schedule
from perfdojo.compiler.schedule.prepare import prepare
from perfdojo.compiler.transforms import get_transform, transforms
from perfdojo.compiler.transforms.base import Transform
from perfdojo.compiler.transforms.plan import Plan
from perfdojo.compiler.transforms.spelling import spelled
from perfdojo.tuning.problem import Problem

MOST_MOVES = 160
"""Of a schedule; edits make no longer ones."""
WEIGHTS = {
    "tile_scope": 4.0,
    "vectorize": 4.0,
    "unroll": 3.0,
    "reorder": 3.0,
    "split_reduction": 2.0,
    "fission_scope": 2.0,
    "join_scopes": 2.0,
    "create_temporary": 2.0,
    "plan": 4.0,
    "stream": 3.0,
    "frep": 3.0,
    "sequential": 0.2,
    "add_scope": 0.2,
    "materialize_dims": 0.2,
    "expand_buffer": 0.2,
}
"""How often a kind of move is drawn against 1 for the others."""
TRIES = 4
"""Changes of a move of which the first legal one is taken."""
NUMBERS = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024)
"""Menu for numbers that are changed, beside their neighbours."""


@dataclass(frozen=True)
class Point:
    """A schedule and what it makes of the kernel; `moves` None: as it is planned without one."""

    moves: tuple[Transform, ...] | None
    program: Program
    text: str


KEPT = 20_000
"""Programs behind moves that are remembered: edits replay what is before and behind them."""


@dataclass(frozen=True)
class Space:
    """The schedules of one problem; everything random comes from `rng`."""

    problem: Problem
    rng: random.Random
    most_moves: int = MOST_MOVES
    _behind: dict[tuple[int, str], tuple[Program, Program | None]] = field(default_factory=dict, repr=False)

    @cached_property
    def start(self) -> Point:
        """The kernel as moves see it, without any."""
        return self._point((), prepare(self.problem.bound))

    @cached_property
    def planned(self) -> Point:
        """The kernel as it is planned without a schedule."""
        p, at = self.problem, self.problem.setting
        made = planned(p.bound, p.target, fp=at.fp, threads=p.threads if p.unit == "s" else 1)
        return Point(None, prepare(made), "")

    def _point(self, moves: tuple[Transform, ...], program: Program) -> Point:
        at = self.problem.setting
        steps = tuple(Step(m) for m in moves)
        schedule = Schedule(self.problem.bound.name, steps, at.target.name, at.fp)
        return Point(moves, program, render_schedule(schedule))

    def _step(self, program: Program, move: Transform) -> Program | None:
        """Return the program behind a move; None where it is not legal."""
        # by identity: programs are kept as long as what was made of them
        key = (id(program), str(move))
        if key not in self._behind:
            if len(self._behind) >= KEPT:
                self._behind.clear()
            legal = move.why_not(program, self.problem.setting) is None
            made = move.rewrite_for(program, self.problem.setting) if legal else None
            self._behind[key] = (program, made)
        return self._behind[key][1]

    # ------------------------------------------------------------ whole schedules

    def made(self, moves: Iterable[Transform]) -> Point:
        """Return the point of those moves that are legal, one after the other; the others are left out."""
        kept: list[Transform] = []
        program = self.start.program
        for move in moves:
            if len(kept) == self.most_moves:
                break
            behind = self._step(program, move)
            if behind is not None:
                program = behind
                kept.append(move)
        return self._point(tuple(kept), program)

    def of_schedule(self, schedule: Schedule) -> Point:
        """Return the point of a schedule; a step that is not legal is left out."""
        return self.made(s.move for s in schedule.steps)

    @cached_property
    def as_planned(self) -> Point:
        """The code as it is planned, by a move: what edits of it begin with."""
        return self.made((Plan(parallel=self.problem.threads > 1 and self.problem.unit == "s"),))

    def recipes(self) -> list[Point]:
        """Return what each recipe makes of the kernel, its parameters as they are."""
        found = []
        for name in recipe_names():
            history = History(self.problem.bound, self.problem.setting)
            recipe = get_recipe(name)
            if any(p for p in parameters(recipe) if _is_required(recipe, p)):
                continue
            try:
                recipe(history)
            except (PerfDojoError, ValueError, KeyError, StopIteration, AssertionError):
                continue
            moves = tuple(s.step.move for s in history.states if not s.skipped)
            if moves:
                found.append(self.made(moves))
        return list({p.text: p for p in found}.values())

    # ------------------------------------------------------------ steps

    def random_move(self, program: Program) -> Transform | None:
        """Return a legal move, of a kind drawn by weight; None when there is none."""
        names = sorted(transforms(), key=lambda n: -(self.rng.random() ** (1 / WEIGHTS.get(n, 1.0))))
        for name in names:
            found = list(get_transform(name).candidates(program, self.problem.setting))
            self.rng.shuffle(found)
            for move in found:
                if move.why_not(program, self.problem.setting) is None:
                    return move
        return None

    def some(self, point: Point, kind: str, count: int) -> list[Transform]:
        """Return a few legal moves of a kind behind those of a point, drawn at random."""
        found = list(get_transform(kind).candidates(point.program, self.problem.setting))
        return self.rng.sample(found, min(count, len(found)))

    def longer(self, point: Point, count: int = 1) -> Point:
        """Return a point with random moves behind those of another."""
        moves, program = list(point.moves or ()), point.program
        for _ in range(min(count, self.most_moves - len(moves))):
            move = self.random_move(program)
            behind = self._step(program, move) if move is not None else None
            if move is None or behind is None:
                break
            program = behind
            moves.append(move)
        return self._point(tuple(moves), program)

    def edited(self, point: Point) -> Point:
        """Return a point that differs from another by one edit anywhere: add, remove, change or swap."""
        moves = list(point.moves or ())
        kind = self.rng.choice(
            ("add", "add", "remove", "change", "change", "change", "swap") if moves else ("add",)
        )
        at = self.rng.randrange(len(moves) + (kind == "add"))
        if kind == "add":
            before = self.made(moves[:at])
            move = self.random_move(before.program)
            return point if move is None else self.made((*moves[:at], move, *moves[at:]))
        if kind == "remove":
            return self.made((*moves[:at], *moves[at + 1 :]))
        if kind == "swap":
            other = min(at + 1, len(moves) - 1)
            moves[at], moves[other] = moves[other], moves[at]
            return self.made(moves)
        program = self.made(moves[:at]).program
        tries = (self._changed(moves[at]) for _ in range(TRIES))
        changed = next((m for m in tries if m.why_not(program, self.problem.setting) is None), moves[at])
        return self.made((*moves[:at], changed, *moves[at + 1 :]))

    def _changed(self, move: Transform) -> Transform:
        """Return a move with another number, word or flag; the same where it has none."""
        free = [(f.name, s) for f, s in spelled(move) if s.kind in ("int", "word", "flag")]
        if not free:
            return move
        name, spelling = self.rng.choice(free)
        old = getattr(move, name)
        if spelling.kind == "flag":
            return replace(move, **{name: not old})
        if spelling.kind == "word":
            return replace(move, **{name: self.rng.choice(spelling.choices or (old,))})
        near = (old - 1, old + 1, old * 2, old // 2, *self.rng.sample(NUMBERS, 3))
        return replace(move, **{name: max(spelling.lowest, self.rng.choice(near))})

    def crossed(self, one: Point, two: Point) -> Point:
        """Return the first moves of one point with the last moves of another."""
        a, b = one.moves or (), two.moves or ()
        return self.made((*a[: self.rng.randint(0, len(a))], *b[self.rng.randint(0, len(b)) :]))


def _is_required(recipe: object, name: str) -> bool:
    return signature(recipe).parameters[name].default is Parameter.empty  # type: ignore[arg-type]
