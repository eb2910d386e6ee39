"""Random instances of a transformation, legal or not, whose arguments have to do with each other.

Candidates come from menus and pass quick filters; what a legality condition lets through shows beside them.
"""

from __future__ import annotations

import random
from typing import Any

from perfdojo.compiler.ir import Place, Program, Scope, Statement
from perfdojo.compiler.transforms.base import Transform, siblings
from perfdojo.compiler.transforms.spelling import Spelling, spelled
from perfdojo.compiler.tree import nodes
from perfdojo.compiler.walk import const_int, loads

NUMBERS = (0, 1, 1, 2, 2, 3, 4, 5, 8)


def instance(cls: type[Transform], now: Program, rng: random.Random) -> Transform | None:
    """Return a move around a random statement; None when something that it names is missing there."""
    maker = _Maker(now, rng)
    given: dict[str, Any] = {}
    for f, spelling in spelled(cls):
        if spelling.kind == "new":
            continue
        value = maker.dim() if f.name == "dim" else maker.value(spelling, f.default)
        if value is None and spelling.kind != "names":
            return None
        given[f.name] = value
    return cls(**given)


class _Maker:
    """Draws arguments: a scope around a statement or beside the last one drawn, a buffer that it accesses."""

    def __init__(self, now: Program, rng: random.Random) -> None:
        self.now, self.rng = now, rng
        self.place: Place[Statement] = rng.choice(list(now.statements.values()))
        self.scopes: list[str] = []
        self.buffers: list[str] = []
        self.behind = ""

    def value(self, spelling: Spelling, default: Any) -> Any:
        """Return a value for one field; None when there is none."""
        rng, kind = self.rng, spelling.kind
        optional = isinstance(default, str | int | None) and rng.random() < 0.5
        if kind == "statement":
            return self.place.node.name
        if kind == "scope":
            return default if isinstance(default, str) and optional else self._scope()
        if kind == "node":
            return self._node()
        if kind == "buffer":
            return self._buffer()
        if kind == "int":
            return default if isinstance(default, int) and optional else self._number(spelling.lowest)
        if kind == "flag":
            return rng.random() < 0.4
        if kind == "word":
            return rng.choice(spelling.choices)
        return self._dims() if kind == "ints" else self._layout()

    def dim(self) -> int | None:
        """Return a dimension of the last buffer drawn; None when it has none."""
        rank = len(self.now.buffer(self.buffers[-1]).shape) if self.buffers else 0
        return self.rng.randrange(rank) if rank else None

    def _some(self, found: list[str]) -> str | None:
        return self.rng.choice(found) if found else None

    def _scope(self) -> str | None:
        if not self.scopes:
            found = self._some([s.name for s in self.place.around])
        else:
            last = self.now.scopes[self.scopes[-1]]
            beside = [n for n in siblings(self.now, last.node.name) if isinstance(n, Scope)]
            inside = [n for n in last.node.body if isinstance(n, Scope)]
            found = self._some([n.name for n in (*beside, *inside, *inside, *last.around)])
        self.scopes += [found] if found else []
        return found

    def _node(self) -> str | None:
        if self.scopes:  # `fission_scope i at B`
            return self._some([n.name for n in self.now.scopes[self.scopes[-1]].node.body])
        if self.behind:  # `swap_siblings A B`
            return self.behind
        found = self.rng.choice([*(s.name for s in self.place.around), self.place.node.name])
        beside = siblings(self.now, found)
        at = next(n for n, node in enumerate(beside) if node.name == found)
        self.behind = beside[min(at + 1, len(beside) - 1)].name
        return found

    def _buffer(self) -> str | None:
        s = self.place.node
        if not self.buffers:
            touched = [s.target.buffer, *(load.buffer for load in loads(s.value))]
            temporary = [b for b in touched if self.now.buffer(b).role == "tmp"]
            found = self._some(temporary if temporary and self.rng.random() < 0.5 else touched)
        else:
            first = self.now.buffer(self.buffers[-1])
            like = [b.name for b in self.now.buffers if (b.dtype, b.shape) == (first.dtype, first.shape)]
            found = self._some(like)
        self.buffers += [found] if found else []
        return found

    def _number(self, lowest: int) -> int:
        if self.scopes and self.rng.random() < 0.3:
            return max(
                lowest, const_int(self.now.scopes[self.scopes[-1]].node.extent) - self.rng.choice(NUMBERS)
            )
        return max(lowest, self.rng.choice(NUMBERS))

    def _dims(self) -> tuple[int, ...]:
        rank = len(self.now.buffer(self.buffers[-1]).shape) if self.buffers else 0
        return tuple(self.rng.sample(range(rank), self.rng.choice((min(1, rank), self.rng.randint(0, rank)))))

    def _layout(self) -> tuple[str, ...] | None:
        if self.rng.random() < 0.5:
            return None
        top = self.place.around[0] if self.place.around else self.place.node
        names = [n.name for n in nodes((top,)) if isinstance(n, Scope)]
        return tuple(self.rng.sample(names, self.rng.randint(0, min(3, len(names)))))
