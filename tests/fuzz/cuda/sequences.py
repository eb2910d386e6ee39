"""Random legal sequences of moves towards GPUs: a shape, then blocks, copies, threads, then anything."""

from __future__ import annotations

import random
from dataclasses import dataclass

from perfdojo.backends import get_target
from perfdojo.compiler.analysis.kept import WARP
from perfdojo.compiler.ir import GRID, Load, Program, Scope
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.transforms.base import Setting, Transform
from perfdojo.compiler.walk import const_int
from tests.fuzz.cuda.programs import program
from tests.fuzz.making import Making, touched
from tests.fuzz.programs import executions
from tests.fuzz.sequences import GROWTH, WEIGHTS

LEVELS: tuple[FpLevel, ...] = ("strict", "strict", "contract", "reassoc", "reassoc", "fast")
SELDOM = dict.fromkeys(("nontemporal", "prefetch", "sequential", "add_scope", "materialize_dims"), 0.1)
SHAPE = {
    **dict.fromkeys(WEIGHTS, 0.4),
    **SELDOM,
    **dict.fromkeys(("tile_scope", "collapse_scopes"), 6.0),
    **dict.fromkeys(("fission_scope", "join_scopes", "reorder", "expand_buffer", "contract_fma"), 4.0),
    **dict.fromkeys(("split_reduction", "create_temporary", "recompute", "reuse_dims", "hoist"), 2.0),
    **dict.fromkeys(("grid", "block"), 0.1),
}
ANY = {
    **WEIGHTS,
    **SELDOM,
    **dict.fromkeys(("grid", "block", "create_temporary", "set_space", "vectorize"), 6.0),
    **dict.fromkeys(("async_copy", "warp_reduce", "double_buffer"), 6.0),
}
RECIPE = 0.12
"""How often the sequence begins with the moves of the recipe `gpu`."""
FACTORS = (2, 3, 4, 5, 8)
THREADS = 0.8
"""How often a scope of a block is spread over threads, where it can be."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A program and what some moves made of it; `program`: behind all moves."""

    seed: int
    setting: Setting
    start: Program
    moves: tuple[Transform, ...]
    program: Program


def sequence(seed: int) -> Sequence:
    """Return the sequence of `seed`."""
    rng = random.Random(f"cuda {seed}")
    at = Setting(get_target("cuda"), rng.choice(LEVELS))
    start = program(rng)
    made = _Making(rng, at, start, GROWTH * executions(start) + 200)
    if rng.random() < RECIPE:
        made.recipe("gpu")
    else:
        made.some(SHAPE, rng.choice((0, 0, 1, 1, 2, 3, 4)))
        made.grids()
        made.copies(rng.choice((0, 1, 1, 2)))
        made.turns()
        made.pieces()
        made.threads()
        made.copies(rng.choice((0, 0, 0, 1)))
        made.threads()
        made.wide()
    if rng.random() < 0.35:
        made.some(ANY, rng.choice((1, 2, 3)))
    return Sequence(seed, at, start, tuple(made.moves), made.now)


class _Making(Making):
    """A sequence towards a GPU; `whole`: scopes of which each thread does all."""

    def __init__(self, rng: random.Random, at: Setting, start: Program, limit: int) -> None:
        super().__init__(rng, at, start, limit)
        self.whole: set[str] = set()

    def grids(self) -> None:
        """Spread outermost scopes over blocks, also such around nothing else."""
        for top in [n for n in self.now.body if isinstance(n, Scope) and self.rng.random() < 0.9]:
            name = self._holding(top.name)
            free = self._axes()
            while free and self.make(f"grid {name} {free.pop()}"):
                body = self.now.scopes[name].node.body
                if len(body) > 1 or not isinstance(body[0], Scope) or self.rng.random() < 0.4:
                    break
                if not any(isinstance(n, Scope) for n in body[0].body) and self.rng.random() < 0.9:
                    break  # it is left for threads
                name = body[0].name

    def _holding(self, top: str) -> str:
        """Return the scope, cut in two where it holds no other one and is long enough."""
        node = self.now.scopes[top].node
        extent = const_int(node.extent)
        if any(isinstance(n, Scope) for n in node.body) or extent < 4 or self.rng.random() < 0.1:
            return top
        factor = self.rng.choice(FACTORS)
        rest = self.rng.choice(("mask", "mask", "peel")) if extent % factor else "exact"
        before = set(self.now.scopes)
        if factor < extent and self.make(f"tile_scope {top} {factor} remainder {rest}"):
            return next(n for n in self.now.scopes if n not in before)
        return top

    def copies(self, most: int) -> None:
        """Let scopes and statements of a block work on copies in its shared memory."""
        for _ in range(most):
            inside = [s for s in self.now.scopes if self._is_in_block(s)]
            if not inside:
                return
            at = self.rng.choice(inside)
            names = sorted(touched(self.now.scopes[at].node.body))
            buffer = self.rng.choice(names)
            for writes in self.rng.sample(("", " writes"), 2):
                if self.make(f"create_temporary {buffer} at {at} in shared{writes}"):
                    break
        for b in self.now.buffers:
            if b.role == "tmp" and not b.space and self.rng.random() < 0.3:
                self.make(f"set_space {b.name} shared")

    def turns(self) -> None:
        """Fill temporaries of loops by turns, ahead of their use mostly."""
        loops = [s for s in self.now.scopes if self._is_in_block(s)]
        if loops and self.rng.random() < 0.3:
            loop = self.rng.choice(loops)
            for name in sorted(touched(self.now.scopes[loop].node.body)):
                for ahead in self.rng.sample((" ahead", ""), 2):
                    if loop in self.now.scopes and self.make(f"double_buffer {name} by {loop}{ahead}"):
                        return

    def pieces(self) -> None:
        """Cut scopes that copy into pieces of one access; let the lanes of warps combine reductions."""
        for name in [s for s in self.now.scopes if self._is_in_block(s)]:
            inner = self.now.scopes[name].node.body[0]
            if isinstance(inner, Scope) or self.rng.random() < 0.2:
                continue
            if const_int(self.now.scopes[name].node.extent) == WARP and self.make(f"warp_reduce {name}"):
                continue
            before = set(self.now.scopes)
            if inner.op == "=" and isinstance(inner.value, Load):
                self.make(f"tile_scope {name} {self.rng.choice((2, 4, 4))}")
            self.whole.update([s for s in self.now.scopes if s not in before][1:])

    def wide(self) -> None:
        """Let innermost scopes be one access of several elements, which threads wait for later or not."""
        for name in [s for s in self.now.scopes if self._is_in_block(s)]:
            node = self.now.scopes[name].node
            if not node.mark and not isinstance(node.body[0], Scope) and self.rng.random() < 0.7:
                for move in self.rng.sample(("async_copy", "vectorize"), 2):
                    if self.make(f"{move} {name}"):
                        break

    def threads(self) -> None:
        """Spread scopes of blocks over their threads, those of one access aside."""
        inside = [s for s in self.now.scopes if self._is_in_block(s)]
        if self.rng.random() < 0.25:
            self.rng.shuffle(inside)
        for name in inside:
            if name in self.whole or self.now.scopes[name].node.mark or self.rng.random() > THREADS:
                continue
            free = self._axes()
            while free and not self.make(f"block {name} {free.pop()}"):
                pass

    def _axes(self) -> list[str]:
        """Return the axes, the first one to take last: x mostly; now and then one that is taken."""
        if self.rng.random() < 0.2:
            return [self.rng.choice("xyz") for _ in range(3)]
        return self.rng.choice((["z", "y", "x"],) * 4 + (["z", "x", "y"], ["x", "y", "z"]))[:]

    def _is_in_block(self, scope: str) -> bool:
        place = self.now.scopes[scope]
        return place.node.mark not in GRID and any(s.mark in GRID for s in place.around)
