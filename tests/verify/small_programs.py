"""Small random programs, right and wrong ones, with every form of index, guard and mark."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.walk import const_int
from tests.verify.trace import elements

MARKS = ("", "", "", "", "", "", "", "", "", "@parallel", "@grid_x", "@vector", "@unroll")


@dataclass
class Draft:
    """A program under construction; `open_` holds the extents of the scopes of the line before."""

    rng: random.Random
    open_: list[int] = field(default_factory=list)
    writes: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    # ------------------------------------------------------------ expressions

    def term(self) -> str:
        """An iteration number, or a constant where no scope is open."""
        if not self.open_ or self.rng.random() < 0.05:
            return str(self.rng.randrange(4))
        return f"{{{self.rng.randrange(len(self.open_))}}}"

    def index(self, extent: int) -> str:
        """An index of a dimension of `extent` elements, mostly one that stays in it."""
        for _ in range(12):
            found = self.any_index(extent)
            if self.rng.random() < 0.02 or self.fits(found, extent):
                break
        return found

    def fits(self, index: str, extent: int) -> bool:
        """Tell by trial whether an index stays in 0 .. extent - 1; loads are as promised in the header."""
        if "?" in index:
            return True
        text = re.sub(r"\{(\d)\}", r"at[\1]", index)
        names = {"i64": int, "i8": int, "min": min, "max": max, "abs": abs}
        for at in itertools.product(*map(range, self.open_)):
            for idx, free in (((0, 0, 0), (-9, -9, -9)), ((3, 3, 3), (9, 9, 9))):
                found = eval(text.replace("t0[]", "9"), {**names, "at": at, "idx": idx, "free": free})
                if not 0 <= found < extent:
                    return False
        return True

    def any_index(self, extent: int) -> str:
        a, b, k = self.term(), self.term(), self.rng.randint(1, 4)
        form = self.rng.random()
        if form < 0.4:
            return a
        if form < 0.55:
            return self.pick(f"{a} + {k}", f"{a} - {k}", f"{k} - {a}", f"{a} * {k}", str(k - 1))
        if form < 0.75:
            return self.pick(f"{a} + {b}", f"{a} * {k} + {b}", f"{a} - {b}", f"{a} + {k} * {b}", f"{a} * {b}")
        if form < 0.85:
            return self.pick(
                f"{a} // {k}", f"{a} % {k}", f"({a} + {b}) % {k}", f"({k} * {a} + {b}) // 2", f"{a} // -2 + 1"
            )
        if form < 0.93:
            top = extent - 1
            inner = self.pick(f"{a} - {k}", f"{a} + {b}", f"free[{a} % 3]", f"idx[{a} % 3] - 1")
            return self.pick(
                f"min(max({inner}, 0), {top})", f"min({a}, {top})", f"max({a} - {k}, 0)", f"abs({a} - {k})",
                f"({a} < {k} ? {a} : {b})", f"i64(i8({a}))", f"i64({a} < {k})",
            )  # fmt: skip
        return self.pick(f"idx[{a} % 3]", f"idx[{a} % 3] + {k}", f"free[{a} % 3]", f"t0[] + {a}")

    def inside(self, indices: tuple[str, ...], buffer: str) -> str:
        """A condition that the indices lie in the buffer."""
        shape = self.shapes[buffer]
        return " and ".join(f"{i} >= 0 and {i} < {n}" for i, n in zip(indices, shape, strict=True)) or "true"

    def condition(self) -> str:
        a, b, k = self.term(), self.term(), self.rng.randint(0, 3)
        plain = self.pick(
            f"{a} < {b}", f"{a} <= {b}", f"{a} == {k}", f"{a} != {k}", f"{a} + {b} >= {k}", f"{a} % 2 == 0",
            f"not ({a} > {k})", f"({a} < {k} or {b} < {k})", f"{a} >= {k} and {b} <= {k}",
            f"not ({a} < {k} and {b} > 0)",
            f"bool({a})", f"({a} < 2) == ({b} < 2)", f"({a} < 1 ? {b} < 2 : {b} > 0)",
        )  # fmt: skip
        return (
            plain
            if self.rng.random() < 0.8
            else self.pick(f"flag[{a} % 3]", f"not flag[{b} % 3]", f"free[{a} % 3] > {k}")
        )

    def indices(self, buffer: str) -> tuple[str, ...]:
        """Indices that an earlier write used (they may mean something else here), or new ones."""
        shape = self.shapes[buffer]
        known = [w for w in self.writes.get(buffer, ()) if all(map(self._open_here, w))]
        known = [w for w in known if all(map(self.fits, w, shape)) or self.rng.random() < 0.03]
        if known and self.rng.random() < 0.6:
            return self.rng.choice(known)
        return tuple(self.index(n) for n in self.shapes[buffer])

    def _open_here(self, index: str) -> bool:
        return all(f"{{{d}}}" not in index for d in range(len(self.open_), 6))

    def access(self, buffer: str, indices: tuple[str, ...]) -> str:
        return f"{buffer}[{','.join(indices)}]"

    def value(self) -> str:
        parts = []
        for _ in range(self.rng.randint(1, 2)):
            buffer = self.rng.choice(["x", "t", "t", "t0", "y", "z", "u", "u"])
            if buffer in ("t", "u", "t0", "y") and buffer not in self.writes and self.rng.random() < 0.93:
                buffer = "x"
            at = self.indices(buffer)
            load = self.access(buffer, at)
            chance = self.rng.random()
            if chance < 0.25:
                condition = self.inside(at, buffer) if self.rng.random() < 0.6 else self.condition()
                load = f"({condition} ? {load} : 1)"
            elif chance < 0.3:
                load = f"i64({self.condition()} and {load} > 0)"
            parts.append(load)
        return " + ".join(parts)

    # ------------------------------------------------------------ lines

    def line(self) -> None:
        kept = self.rng.randint(0, len(self.open_))
        self.open_ = self.open_[:kept]
        scopes = []
        for _ in range(self.rng.choice([0, 1, 1, 2, 2]) if kept else self.rng.randint(1, 3)):
            if len(self.open_) < 4:
                extent = self.rng.choice([1, 2, 3, 3, 4, 4])
                self.open_.append(extent)
                scopes.append(f"{extent}{self.rng.choice(MARKS)}")
        buffer = self.rng.choice(["t", "t", "t0", "y", "u", "u", "z"])
        at = self.plain(buffer) if self.rng.random() < 0.75 else self.indices(buffer)
        op = self.pick("=", "=", "=", "=", "+=", "max=")
        guard = ""
        if self.rng.random() < 0.25:
            guard = " if " + (self.inside(at, buffer) if self.rng.random() < 0.5 else self.condition())
        value = self.value()
        self.lines.append("| " * kept + " ".join([*scopes, f"{self.access(buffer, at)} {op} {value}{guard}"]))
        self.writes.setdefault(buffer, []).append(at)

    def last(self, extent: int) -> None:
        """A line that writes all of y."""
        self.open_ = [extent]
        self.lines.append(f"{extent}{self.rng.choice(MARKS)} y[{{0}}] = {self.value()}")

    def plain(self, buffer: str) -> tuple[str, ...]:
        """One iterator for each dimension where there are enough whose range fits."""
        found: list[str] = []
        for n in self.shapes[buffer]:
            fitting = [f"{{{d}}}" for d, e in enumerate(self.open_) if e == n and f"{{{d}}}" not in found]
            found.append(self.rng.choice(fitting) if fitting else self.index(n))
        return tuple(found)


def small_program(seed: int) -> Program:
    """Return a bound program of two to five statements over small buffers; often a wrong one."""
    draft = Draft(random.Random(seed))
    rng = draft.rng
    dims = [rng.choice([1, 2, 3, 4, 4, 6, 8]) for _ in range(4)]
    shapes = {"x": (8,), "y": (dims[0],), "z": (4,), "t": (dims[1], dims[2]), "u": (dims[3],), "t0": ()}
    draft.shapes = {**shapes, "idx": (3,), "free": (3,), "flag": (3,)}
    reuse = rng.choice(["", "", " reuse(0)", " reuse(1)", " reuse(0, 1)"])
    for _ in range(rng.randint(1, 4)):
        draft.line()
    if rng.random() < 0.8:
        draft.last(dims[0])
    header = [
        f"kernel k{seed}",
        "in idx: i64[3] values(0, 4)",
        "in free: i64[3]",
        "in flag: bool[3]",
        "in x: i64[8]",
    ]
    header += [f"out y: i64[{dims[0]}]", "inout z: i64[4]"]
    header += [f"tmp t: i64[{dims[1]}, {dims[2]}]{reuse}", f"tmp u: i64[{dims[3]}]", "tmp t0: i64[]"]
    return bind(parse("\n".join([*header, *draft.lines]) + "\n", f"k{seed}"))


def random_data(program: Program, rng: random.Random) -> Mapping[str, Mapping[tuple[int, ...], int]]:
    """Return elements for the arguments, within the promises."""
    data = {}
    for b in program.arguments:
        low, high = (const_int(v) for v in b.values) if b.values else (-2, 6)
        if b.dtype.kind == "bool":
            low, high = 0, 2
        data[b.name] = {at: rng.randrange(low, high) for at in elements(program, b.name)}
    return data
