"""A sequence of moves that is being made: moves by name where they are legal, random ones by weight."""

from __future__ import annotations

import random

from perfdojo.compiler.analysis.touches import touches
from perfdojo.compiler.ir import Node, Program
from perfdojo.compiler.recipes import run_recipe
from perfdojo.compiler.schedule import History, parse_move
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.base import Setting, Transform
from tests.fuzz.programs import executions
from tests.fuzz.sequences import MOST_STATEMENTS, random_move


class Making:
    """A sequence that is being made."""

    def __init__(self, rng: random.Random, at: Setting, start: Program, limit: int) -> None:
        self.rng, self.at, self.now, self.limit = rng, at, start, limit
        self.moves: list[Transform] = []

    def recipe(self, name: str) -> None:
        """Make the moves of a recipe."""
        history = History(self.now, self.at)
        try:
            run_recipe(history, name)
        except Exception as error:
            error.add_note(render(self.now))
            raise
        self.moves += [state.step.move for state in history.states]
        self.now = history.program

    def make(self, text: str) -> bool:
        """Make a move where it is legal; tell if it was."""
        move = parse_move(text)
        if move.why_not(self.now, self.at) is not None:
            return False
        self.moves.append(move)
        self.now = move.rewrite_for(self.now, self.at)
        return True

    def some(self, weights: dict[str, float], count: int) -> None:
        """Make so many moves at most, as long as the program does not become too large."""
        for _ in range(count):
            move = random_move(self.now, self.at, self.rng, weights)
            if move is None:
                return
            following = move.rewrite_for(self.now, self.at)
            if executions(following) > self.limit or len(following.statements) > MOST_STATEMENTS:
                return
            self.moves.append(move)
            self.now = following


def touched(body: tuple[Node, ...]) -> set[str]:
    """Return the buffers that nodes access."""
    return {load.buffer for load, _ in touches(body)}
