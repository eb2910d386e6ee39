"""`nests(seed)`: small random loop nests whose accesses are shifted, strided, transposed, folded and guarded.

Nothing is initialised or complete, as the order of accesses does not care; every index stays in its buffer,
because buffers are made as large as the indices turn out to be.
"""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import dataclass, field

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.text.parse import parse

RANKS = {"a": 2, "b": 1, "c": 2, "d": 1, "s": 0, "r": 0, "t": 2, "u": 1}
FLOATS, INTEGERS = ("a", "b", "s", "t"), ("c", "d", "r", "u")
MOST_EXECUTIONS = 70


@dataclass
class Writer:
    """Writes one program; `at` holds, for each buffer, the text of the indices of every access so far."""

    rng: random.Random
    lines: list[tuple[str, list[int], str]] = field(default_factory=list)
    used: dict[str, list[tuple[tuple[str, ...], tuple[int, ...]]]] = field(default_factory=dict)
    budget: int = MOST_EXECUTIONS

    def nodes(self, open_: tuple[int, ...], bars: int, many: int, executions: int) -> None:
        """A body of up to `many` nodes; the first one opens the scopes behind `bars`."""
        for _ in range(many):
            chance = self.rng.random()
            if len(open_) < 4 and (not open_ or chance < 0.6):
                extent = self.extent(open_)
                inner = 1 if self.rng.random() < 0.6 else self.rng.randint(2, 3)
                self.nodes((*open_, extent), bars, inner, executions * extent)
            else:
                self.statement(open_, bars, executions)
            bars = len(open_)

    def extent(self, open_: tuple[int, ...]) -> int:
        return self.rng.choice((1, 2, 3, 3, 3, 4)) if len(open_) < 2 else self.rng.choice((1, 2, 2, 3))

    def statement(self, open_: tuple[int, ...], bars: int, executions: int) -> None:
        self.budget -= executions
        if self.budget < 0 and self.lines:
            return
        rng = self.rng
        names = FLOATS if rng.random() < 0.6 else INTEGERS
        target = self.access(self.buffer(names), open_)
        sign = rng.choice(("=", "=", "=", "=", "+=", "+=", "max="))
        loads = [self.access(self.buffer(names), open_) for _ in range(rng.choice((0, 1, 1, 2)))]
        if loads and rng.random() < 0.15:
            loads[0] = f"({self.condition(open_)} ? {loads[0]} : 1)"
        guard = f" if {self.condition(open_)}" if open_ and rng.random() < 0.15 else ""
        text = f"{target} {sign} {' + '.join([*loads, '1'])}{guard}"
        self.lines.append(("| " * bars, list(open_[bars:]), text))

    def buffer(self, names: tuple[str, ...]) -> str:
        """One of the first of a type mostly, so that statements meet."""
        return self.rng.choice((*names, names[0], names[1]))

    def access(self, buffer: str, open_: tuple[int, ...]) -> str:
        known = [i for i, where in self.used.get(buffer, ()) if where == open_]
        if known and self.rng.random() < 0.3:
            indices = self.rng.choice(known)
        else:
            order = list(range(len(open_)))
            if self.rng.random() < 0.25:
                self.rng.shuffle(order)
            indices = tuple(self.index(order, d) for d in range(RANKS[buffer]))
        self.used.setdefault(buffer, []).append((indices, open_))
        return f"{buffer}[{','.join(f'<{i}>' for i in indices)}]"

    def index(self, order: list[int], d: int) -> str:
        """The iterator of the scope that `order` gives dimension d, moved now and then, or another form."""
        rng = self.rng
        if not order:
            return str(rng.randrange(2))
        plain = f"{{{order[d % len(order)]}}}"
        i, j = (f"{{{rng.choice(order)}}}" for _ in range(2))
        chance, k = rng.random(), rng.randint(1, 3)
        if chance < 0.45:
            return plain
        if chance < 0.65:
            return rng.choice((f"{plain} + {k}", f"{plain} - {k}", f"{k} - {plain}", f"{plain} + 1"))
        if chance < 0.85:
            return rng.choice(
                (i, f"{k} * {i}", f"{i} + {j}", f"{i} - {j}", f"{i} * 3 + {j}", f"2 * {i} - {j}")
            )
        if chance < 0.97:
            return rng.choice(
                (
                    f"{i} // 2",
                    f"{i} % 2",
                    f"({i} + {j}) % 3",
                    f"({i} * 3 + {j}) // 2",
                    f"min({i}, {k})",
                    str(k),
                )
            )
        return f"g[{i} % 3]"

    def condition(self, open_: tuple[int, ...]) -> str:
        rng = self.rng
        i, j = (f"{{{rng.randrange(len(open_))}}}" if open_ else "1" for _ in range(2))
        k = rng.randint(0, 2)
        return rng.choice(
            (
                f"{i} < {k}", f"{i} <= {j}", f"{i} >= {k}", f"{i} == {k}", f"{i} != {j}", f"{i} % 2 == 0",
                f"{i} + {j} < 3 and {i} > 0", f"({i} < 1 or {j} > 1)", f"g[{i} % 3] > 1",
            )
        )  # fmt: skip


def nests(seed: int) -> Program:
    """Return the program of `seed`: up to some hundred statement executions, its starts explicit."""
    writer = Writer(random.Random(seed))
    for _ in range(writer.rng.randint(1, 3)):
        writer.nodes((), 0, 1, 1)
    shapes, offsets = {}, {}
    for buffer, rank in RANKS.items():
        found = [[(0, 0)] for _ in range(rank)]
        for indices, open_ in writer.used.get(buffer, ()):
            for d, index in enumerate(indices):
                found[d].append(_span(index, open_))
        offsets[buffer] = [-min(low for low, _ in spans) for spans in found]
        shapes[buffer] = [
            max(high for _, high in spans) + offset + 1
            for spans, offset in zip(found, offsets[buffer], strict=True)
        ]
    header = [f"kernel nests{seed}", "in g: i64[3] values(0, 3)"]
    starts = []
    for buffer, shape in shapes.items():
        dtype = "f32" if buffer in FLOATS else "i64"
        role, storage = "inout", ""
        if buffer in ("t", "u"):
            dims = writer.rng.choice(("0", "0", "1", "0, 1") if buffer == "t" else ("", "0"))
            role, storage = "tmp", f" reuse({dims})" if dims else ""
            starts.append(f"{buffer}[{','.join('0' for _ in shape)}] = 0")
        header.append(f"{role} {buffer}: {dtype}[{', '.join(map(str, shape))}]{storage}")
    lines = [
        f"{bars}{' '.join([*map(str, scopes), _placed(text, offsets)])}"
        for bars, scopes, text in writer.lines
    ]
    made = bind(parse("\n".join([*header, *starts, *lines]) + "\n", f"nests{seed}"))
    assert explicit_starts(made) is made
    return made


def _span(index: str, open_: tuple[int, ...]) -> tuple[int, int]:
    code = compile(re.sub(r"\{(\d)\}", r"at[\1]", index), index, "eval")
    gathers = ((0, 0, 0), (2, 2, 2)) if "g[" in index else ((0, 0, 0),)
    values = [
        eval(code, {"at": at, "g": g, "min": min})
        for at in itertools.product(*map(range, open_))
        for g in gathers
    ]
    return min(values), max(values)


def _placed(text: str, offsets: dict[str, list[int]]) -> str:
    """The text with every index moved into its buffer."""

    def access(found: re.Match[str]) -> str:
        buffer, indices = found[1], re.findall(r"<([^>]*)>", found[2])
        moved = [f"{i} + {o}" if o else i for i, o in zip(indices, offsets[buffer], strict=True)]
        return f"{buffer}[{','.join(moved)}]"

    return re.sub(r"([a-z])\[((?:<[^>]*>,?)*)\]", access, text)
