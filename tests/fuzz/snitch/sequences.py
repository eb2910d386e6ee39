"""Random legal sequences of moves towards Snitch: scopes get a shape first, then marks, then anything."""

from __future__ import annotations

import random
from dataclasses import dataclass

from perfdojo.backends import get_target
from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.transforms.base import Setting, Transform
from perfdojo.compiler.walk import const_int
from tests.fuzz.making import Making, touched
from tests.fuzz.programs import executions
from tests.fuzz.sequences import GROWTH, WEIGHTS
from tests.fuzz.snitch.programs import program
from tests.fuzz.snitch.writer import WIDTH

LEVELS: tuple[FpLevel, ...] = ("strict", "strict", "strict", "contract", "reassoc", "reassoc")
TARGETS = (*("snitch",) * 9, "snitch:div", "snitch:div", "snitch:no-frep", "snitch:no-simd", "snitch:no-ssr")
CORES = (0, 0, 2, 3)
"""Of the cluster, 0: all."""
SELDOM = dict.fromkeys(("nontemporal", "prefetch", "sequential", "add_scope", "materialize_dims"), 0.1)
SHAPE = {
    **dict.fromkeys(WEIGHTS, 0.4),
    **SELDOM,
    **dict.fromkeys(("tile_scope", "unroll", "vectorize"), 8.0),
    **dict.fromkeys(("reorder", "split_reduction", "fission_scope", "contract_fma"), 4.0),
    **dict.fromkeys(("join_scopes", "create_temporary", "peel_scope", "pad_dims", "reorder_dims"), 2.0),
    **dict.fromkeys(("stream", "frep", "core", "dma"), 0.2),
}
MARKS = SHAPE | {"stream": 60.0, "frep": 40.0, "core": 12.0, "dma": 6.0, "double_buffer": 6.0, "unroll": 3.0}
STREAM = {"stream": 1e6}
ANY = WEIGHTS | SELDOM | dict.fromkeys(("stream", "frep", "core", "dma", "double_buffer"), 4.0)
RECIPE = 0.3
"""How often the sequence begins with the moves of the recipe `streams`."""
IN_LANES = 0.85
"""How often narrow elements are made words."""
STAGED = 0.12
"""How often a scope works on copies of all that it touches, which the DMA engine makes."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A program and what some moves made of it.

    Attributes:
        target: name of that of the setting.
        cores: that the code is made for.
        program: behind all moves.
    """

    seed: int
    target: str
    setting: Setting
    cores: int
    start: Program
    moves: tuple[Transform, ...]
    program: Program


def sequence(seed: int) -> Sequence:
    """Return the sequence of `seed`."""
    rng = random.Random(f"snitch {seed}")
    target = rng.choice(TARGETS)
    at = Setting(get_target(target), rng.choice(LEVELS))
    cores = rng.choice(CORES)
    start = program(rng)
    made = _Making(rng, at, start, GROWTH * executions(start) + 200)
    if rng.random() < RECIPE:
        made.recipe("streams")
        made.some(SHAPE, rng.choice((0, 0, 1)))
    else:
        made.some(SHAPE, rng.choice((0, 0, 1, 2, 3, 4)))
        if rng.random() < STAGED:
            made.staged()
        if rng.random() < IN_LANES:
            made.lanes()
        made.some(SHAPE, rng.choice((0, 0, 0, 1, 2)))
        if rng.random() < 0.85:
            made.some(STREAM, rng.choice((1, 1, 2)))
        made.some(MARKS, rng.choice((1, 2, 2, 3)))
    if rng.random() < 0.3:
        made.some(ANY, rng.choice((1, 2, 3)))
    return Sequence(seed, target, at, cores, start, tuple(made.moves), made.now)


class _Making(Making):
    """A sequence towards Snitch."""

    def lanes(self) -> None:
        """Cut words off scopes along which elements are neighbours, and run these in lanes."""
        for s in [s for s, place in self.now.scopes.items() if not place.node.mark]:
            inside = self.now.scopes[s].node.body
            widths = {WIDTH.get(b.dtype.name, 1) for b in map(self.now.buffer, touched(inside))}
            width, extent = max(widths, default=1), const_int(self.now.scopes[s].node.extent)
            if width == 1 or extent % width or any(isinstance(n, Scope) for n in inside):
                continue
            scopes = set(self.now.scopes)
            kept = len(self.moves), self.now
            made = extent == width or self.make(f"tile_scope {s} {width}")
            inner = ([n for n in self.now.scopes if n not in scopes] or [s])[-1]
            if not made or not self.make(f"vectorize {inner}"):
                del self.moves[kept[0] :]
                self.now = kept[1]

    def staged(self) -> None:
        """Let a scope work on copies, which the DMA engine makes where it can."""
        tops = [n.name for n in self.now.body if isinstance(n, Scope)]
        if not tops:
            return
        at = self.rng.choice([*tops, *self.now.scopes])
        before = set(self.now.scopes)
        for name in sorted(touched(self.now.scopes[at].node.body)):
            if self.now.buffer(name).role == "tmp":
                continue
            self.make(f"create_temporary {name} at {at} in tcdm writes") or self.make(
                f"create_temporary {name} at {at} in tcdm"
            )
        copies = [s for s in self.now.scopes if s not in before]
        for s in copies:
            if s in self.now.scopes:
                self.make(f"dma {s}")
        if self.rng.random() < 0.5:
            self.some(dict.fromkeys(SHAPE, 0.01) | {"double_buffer": 100.0}, 1)
