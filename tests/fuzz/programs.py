"""Programs to make moves on: random ones of three kinds, and library kernels at small sizes."""

from __future__ import annotations

import random
from functools import cache
from importlib import resources
from typing import NamedTuple

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int, statements
from tests.analysis.nests import nests
from tests.fuzz.flows import ORDER, flows
from tests.random_programs.generate import generate

MOST_EXECUTIONS = 1500
"""Statement executions above which a program takes too long to be run some thousand times."""
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17)


class Made(NamedTuple):
    """A program in the state in which moves see it, and the moves for which its structure matters most."""

    program: Program
    moves: tuple[str, ...] = ()


def program(rng: random.Random) -> Made:
    """Return a program, and what may go wrong with it."""
    kind = rng.random()
    if kind < 0.2:
        return Made(prepare(bind(generate(rng.getrandbits(30)))))
    if kind < 0.5:
        nest = nests(rng.getrandbits(30))
        if is_proved(nest):
            return Made(prepare(nest), ORDER)
    if kind < 0.88:
        flow, moves = flows(rng)
        return Made(prepare(flow), moves)
    while True:
        found = _small(rng.choice(_kernels()), rng)
        if found is not None:
            return Made(found)


def is_proved(program: Program) -> bool:
    """Tell whether `verify` accepts a program."""
    try:
        verify(program)
    except PerfDojoError:
        return False
    return True


def lacks(program: Program) -> str:
    """Return "" or what a state lacks: it has to be proved, with explicit starts, and equal to its text."""
    try:
        verify(program)
    except PerfDojoError as error:
        return f"it is no longer proved: {error.message}"
    if prepare(program) is not program:
        return "an implicit start, or a statement called like a scope"
    return "" if bind(parse(render(program))) == program else "it does not read back from its text"


def executions(program: Program) -> int:
    """Return how many statements run, guards aside."""
    total = 0
    for around, _ in statements(program):
        count = 1
        for scope in around:
            count *= const_int(scope.extent)
        total += count
    return total


@cache
def _kernels() -> tuple[str, ...]:
    folder = resources.files("perfdojo") / "kernels"
    return tuple(sorted(f.name for f in folder.iterdir() if f.name.endswith(".ir")))


@cache
def _kernel(name: str) -> Program:
    return parse((resources.files("perfdojo") / "kernels" / name).read_text("utf-8"), name)


def _small(name: str, rng: random.Random) -> Program | None:
    """A library kernel at random small sizes; None when the kernel does not allow them."""
    source = _kernel(name)
    for _ in range(4):
        sizes = {
            s.name: rng.choice(SIZES[: rng.randint(3, 13)]) for s in source.sizes if not _derived(s.name)
        }
        try:
            found = bind(source, sizes)
            verify(found)
        except PerfDojoError:
            continue
        if executions(found) <= MOST_EXECUTIONS:
            return prepare(found)
    return None


def _derived(name: str) -> bool:
    """Sizes of filters and paddings stay as they are: others rarely fit together."""
    return name in ("P", "R", "S", "KH", "KW", "OH", "OW")
