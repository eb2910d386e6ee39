"""`generate(seed)`: a random program that `verify` accepts."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

from perfdojo.compiler import ir
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import BOOL, I64, DType
from perfdojo.compiler.text import names as naming
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import map_statement, statements
from tests.random_programs.expressions import FLOATS, INTEGERS, TYPES, Dim, Env, Open, aside, number


@lru_cache(maxsize=256)  # many tests begin with the same seeds
def generate(seed: int, functions: bool = True) -> ir.Program:
    """Return the program of `seed`; some hundred statement executions at most.

    Without `functions` no elementary function occurs but sqrt.
    """
    for attempt in range(40):
        program = _Writer(random.Random(f"{seed}/{attempt}"), functions).program()
        try:
            verify(bind(program))
        except PerfDojoError:
            continue
        return program
    raise AssertionError(f"seed {seed}: no valid program in 40 attempts")


class _Writer:
    """Writes one program, a nest at a time; each nest fills one or more buffers completely."""

    def __init__(self, rng: random.Random, functions: bool) -> None:
        self.rng = rng
        self.env = Env(rng, functions=functions)
        self.sizes = {n: rng.choice((1, 2, 3, 4, 5, 7, 8, 17)) for n in "NMK"[: rng.randint(1, 3)]}
        self.made: list[ir.Buffer] = []
        self.count = 0
        self.depth = rng.choice((1, 2, 2, 3, 4))

    def program(self) -> ir.Program:
        for _ in range(self.rng.randint(1, 4)):
            self._input()
        if self.rng.random() < 0.15:
            self._promised()
        body: list[ir.Node] = []
        for _ in range(self.rng.randint(1, 4)):
            body += self._nest()
        buffers = self._roles(tuple(body))
        sizes = tuple(ir.Size(n, number(v)) for n, v in self.sizes.items())
        return _named(ir.Program("k", sizes, buffers, tuple(body)), self.rng)

    def _fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def dim(self) -> Dim:
        if self.rng.random() < 0.75:
            chosen = self.rng.choice(list(self.sizes))
            return Dim(self.sizes[chosen], ir.SizeRef(chosen, I64))
        value = self.rng.choice((1, 2, 3, 4, 6, 8))
        return Dim(value, number(value))

    def _dims(self, most: int) -> tuple[Dim, ...]:
        dims = tuple(
            self.dim() for _ in range(self.rng.choice((0, 1, 1, 2, 2, 2, 3, 3)) if most >= 3 else most)
        )
        total = 1
        for d in dims:
            total *= d.value
        return dims if total <= 600 else dims[:1]

    def _declare(self, role: ir.Role, dtype: DType, dims: tuple[Dim, ...]) -> ir.Buffer:
        rng = self.rng
        order: tuple[int, ...] = ()
        if len(dims) > 1 and rng.random() < 0.12:
            order = tuple(rng.sample(range(len(dims)), len(dims)))
            order = () if order == tuple(range(len(dims))) else order
        pad = tuple(rng.randint(0, 3) for _ in dims) if dims and rng.random() < 0.1 else ()
        b = ir.Buffer(
            self._fresh("b"),
            role,
            dtype,
            tuple(d.expr for d in dims),
            order=order,
            pad=pad if any(pad) else (),
        )
        self.made.append(b)
        return b

    def _input(self) -> None:
        dims = self._dims(3)
        role: ir.Role = "inout" if self.rng.random() < 0.12 else "in"
        b = self._declare(role, self.rng.choice(TYPES), dims)
        self.env.buffers[b.name] = (b, dims)

    def _promised(self) -> None:
        dims = self._dims(1)
        b = self._declare("in", self.rng.choice(INTEGERS[:3]), dims)
        b = replace(b, values=(number(0), number(self.rng.randint(1, 4))))
        self.made[-1] = b
        self.env.buffers[b.name] = (b, dims)

    # ------------------------------------------------------------ nests

    def _nest(self) -> list[ir.Node]:
        kind = self.rng.random()
        if kind < 0.35:
            return self._filling()
        if kind < 0.6:
            return self._reduction()
        if kind < 0.72:
            return self._rows()
        if kind < 0.80:
            return self._tiled()
        if kind < 0.88:
            return self._carried()
        if kind < 0.94:
            return self._concat()
        return self._update()

    def _open(self, dims: tuple[Dim, ...]) -> list[Open]:
        return [Open(self._fresh("i"), d) for d in dims]

    def _wrap(self, opened: list[Open], body: list[ir.Node], parallel: bool = False) -> ir.Node:
        node: list[ir.Node] = body
        for depth, o in reversed(list(enumerate(opened))):
            mark = ""
            if depth == 0 and parallel and self.rng.random() < 0.25:
                mark = self.rng.choice(("parallel", "parallel", "grid_x", "core"))
            elif self.rng.random() < 0.12:
                mark = self.rng.choice(("unroll", "unroll", "vector"))
            node = [ir.Scope(o.name, o.dim.expr, tuple(node), mark)]
        return node[0]

    def _in(self, opened: list[Open]) -> None:
        self.env.scopes = opened

    def _statement(
        self, target: ir.Load, op: str, value: ir.Expr, guard: ir.Expr | None = None
    ) -> ir.Statement:
        floats = next(b.dtype.is_float for b in self.made if b.name == target.buffer)
        if floats and op in ("min=", "max=") and aside(self.rng, 0.3):
            op = f"{op[:3]}num="
        return ir.Statement(self._fresh("s"), target, op, value, guard)  # type: ignore[arg-type]

    def _access(self, b: ir.Buffer, opened: list[Open]) -> ir.Load:
        return ir.Load(b.name, tuple(ir.Iter(o.name) for o in opened))

    def _filling(self) -> list[ir.Node]:
        """One nest over all elements, one to three statements, in any order of the scopes."""
        dims = self._dims(3)
        opened = self._open(dims)
        self._in(opened)
        body: list[ir.Node] = []
        made = []
        for _ in range(self.rng.randint(1, 3)):
            b = self._declare("tmp", self.rng.choice(TYPES), dims)
            target = self._access(b, opened)
            body.append(self._statement(target, "=", self.env.value(b.dtype, self.depth)))
            self.env.local.append((b.dtype, target))
            made.append(b)
        self._close(made, dims)
        if not opened:
            return body
        return [self._wrap(self.rng.sample(opened, len(opened)), body, parallel=True)]

    def _close(self, made: list[ir.Buffer], dims: tuple[Dim, ...]) -> None:
        self.env.local.clear()
        self.env.scopes = []
        for b in made:
            self.env.buffers[b.name] = (b, dims)

    def _reduction(self) -> list[ir.Node]:
        """Scopes of the target and of the reduction, interleaved; now and then guarded."""
        dims = self._dims(3)[:2]
        over = self._open(tuple(self.dim() for _ in range(self.rng.randint(1, 2))))
        opened = self._open(dims)
        dtype = self.rng.choice([t for t in TYPES if t != BOOL])
        b = self._declare("tmp", dtype, dims)
        self._in(opened + over)
        op = self.rng.choice(("+=", "+=", "+=", "max=", "min=", "*="))
        guard = self.env.condition(1) if self.rng.random() < 0.25 else None
        statement = self._statement(self._access(b, opened), op, self.env.value(dtype, self.depth), guard)
        self._close([b], dims)
        order = opened + over
        if self.rng.random() < 0.4:
            self.rng.shuffle(order)
        return [self._wrap(order, [statement], parallel=self.rng.random() < 0.5)]

    def _rows(self) -> list[ir.Node]:
        """Softmax-like: a scope over rows, inside it a row temporary, a reduction over it, and its use."""
        rows, columns = self.dim(), self.dim()
        row, first, second = self._open((rows, columns, columns))
        dtype = self.rng.choice(FLOATS)
        temporary = self._declare("tmp", dtype, (rows, columns))
        if self.rng.random() < 0.6:
            temporary = replace(temporary, reuse=(0,), order=(), pad=())
            self.made[-1] = temporary
        total = self._declare("tmp", dtype, (rows,))
        result = self._declare("tmp", dtype, (rows, columns))
        self._in([row, first])
        at = self._access(temporary, [row, first])
        fill: list[ir.Node] = [self._statement(at, "=", self.env.value(dtype, self.depth))]
        accumulate = self._statement(self._access(total, [row]), self.rng.choice(("+=", "max=")), at)
        if self.rng.random() < 0.7:
            fill.append(accumulate)
        self.env.local += [(dtype, self._access(temporary, [row, second]))]
        if len(fill) > 1:
            self.env.local += [(dtype, self._access(total, [row]))]
        self._in([row, second])
        use = self._statement(self._access(result, [row, second]), "=", self.env.value(dtype, self.depth))
        inner = [self._wrap([first], fill), self._wrap([second], [use])]
        node = ir.Scope(row.name, row.dim.expr, tuple(inner), self.rng.choice(("", "", "parallel")))
        self.made = [b for b in self.made if b is not total or len(fill) > 1]
        if not temporary.reuse:
            self._close([temporary], (rows, columns))
        if len(fill) > 1:
            self._close([total], (rows,))
        self._close([result], (rows, columns))
        return [node]

    def _tiled(self) -> list[ir.Node]:
        """A dimension written through a tile of two scopes with a guarded tail."""
        whole = self.dim()
        width = self.rng.choice((2, 3, 4, 8))
        outer, inner = self._open(
            (Dim(-(-whole.value // width), number(-(-whole.value // width))), Dim(width, number(width)))
        )
        dtype = self.rng.choice(TYPES)
        b = self._declare("tmp", dtype, (Dim(whole.value, number(whole.value)),))
        at: ir.Expr = ir.Op("add", (ir.Op("mul", (ir.Iter(outer.name), number(width))), ir.Iter(inner.name)))
        self._in([outer, inner])
        value = self.env.value(dtype, self.depth)
        guard = None if whole.value % width == 0 else ir.Op("lt", (at, number(whole.value)))
        statement = self._statement(ir.Load(b.name, (at,)), "=", value, guard)
        self._close([b], (Dim(whole.value, number(whole.value)),))
        return [self._wrap([outer, inner], [statement])]

    def _carried(self) -> list[ir.Node]:
        """A scan: each element from the one before."""
        d = self.dim()
        (o,) = self._open((d,))
        dtype = self.rng.choice(TYPES)
        b = self._declare("tmp", dtype, (d,))
        self._in([o])
        before = ir.Load(b.name, (ir.Op("sub", (ir.Iter(o.name), number(1))),))
        self.env.local.append((dtype, before))
        step = self.env.value(dtype, max(1, self.depth))
        self.env.local.clear()
        first = self.env.value(dtype, 1)
        value = ir.Op("select", (ir.Op("gt", (ir.Iter(o.name), number(0))), step, first))
        self._close([b], (d,))
        return [ir.Scope(o.name, o.dim.expr, (self._statement(self._access(b, [o]), "=", value),))]

    def _concat(self) -> list[ir.Node]:
        """Two nests that fill the halves of one buffer."""
        a, b_ = self.rng.randint(1, 5), self.rng.randint(1, 5)
        dtype = self.rng.choice(TYPES)
        whole = Dim(a + b_, number(a + b_))
        b = self._declare("tmp", dtype, (whole,))
        nodes: list[ir.Node] = []
        for start, count in ((0, a), (a, b_)):
            (o,) = self._open((Dim(count, number(count)),))
            self._in([o])
            at: ir.Expr = ir.Op("add", (ir.Iter(o.name), number(start))) if start else ir.Iter(o.name)
            statement = self._statement(ir.Load(b.name, (at,)), "=", self.env.value(dtype, self.depth))
            nodes.append(self._wrap([o], [statement]))
        self._close([b], (whole,))
        return nodes

    def _update(self) -> list[ir.Node]:
        """A second statement on a buffer that is complete already."""
        known = [(b, dims) for b, dims in self.env.buffers.values() if b.role != "in" and b.dtype != BOOL]
        if not known:
            return self._filling()
        b, dims = self.rng.choice(known)
        opened = self._open(dims)
        self._in(opened)
        guard = self.env.condition(1) if self.rng.random() < 0.4 else None
        op = self.rng.choice(("=", "+=", "*=", "max=", "min="))
        statement = self._statement(self._access(b, opened), op, self.env.value(b.dtype, self.depth), guard)
        self.env.scopes = []
        return [self._wrap(opened, [statement])] if opened else [statement]

    # ------------------------------------------------------------ header

    def _roles(self, body: tuple[ir.Node, ...]) -> tuple[ir.Buffer, ...]:
        """Make the last complete buffer, and some others, outputs; say of some how they use the memory."""
        whole = [n for n, (b, _) in self.env.buffers.items() if b.role == "tmp"]
        outputs = {whole[-1], *[n for n in whole if self.rng.random() < 0.3]} if whole else set()
        spaces = ("heap", "stack", "tcdm", "shared")
        result: list[ir.Buffer] = []
        for b in self.made:
            if b.name in outputs:
                b = replace(b, role="out")
            elif b.role == "tmp" and self.rng.random() < 0.15:
                b = replace(b, space=self.rng.choice(spaces))
            # by count and not by chance, so that a seed keeps its program
            if len(result) % 3 == 2:
                b = replace(b, nontemporal=b.role != "in", prefetch=16 * (len(result) % 2))
            result.append(b)
        return tuple(result)


def _named(program: ir.Program, rng: random.Random) -> ir.Program:
    """Let most scopes and statements have the names that the naming rule gives them."""
    found: list[tuple[str, str]] = []

    def collect(body: tuple[ir.Node, ...], depth: int) -> None:
        for node in body:
            if isinstance(node, ir.Scope):
                size = node.extent.name if isinstance(node.extent, ir.SizeRef) else None
                found.append((naming.scope_base(size, depth), node.name))
                collect(node.body, depth + 1)

    collect(program.body, 0)
    kept = [old if rng.random() < 0.2 else None for _, old in found]
    new = dict(zip([n for _, n in found], naming.assign([b for b, _ in found], kept), strict=True))
    labels = [s for _, s in statements(program)]
    kept = [s.name if rng.random() < 0.2 else None for s in labels]
    renamed = dict(
        zip([s.name for s in labels], naming.assign([s.target.buffer for s in labels], kept), strict=True)
    )

    def iterators(e: ir.Expr) -> ir.Expr:
        return ir.Iter(new[e.scope]) if isinstance(e, ir.Iter) else e

    def scope(node: ir.Node) -> ir.Node:
        if isinstance(node, ir.Statement):
            return replace(map_statement(iterators, node), name=renamed[node.name])
        return replace(node, name=new[node.name], body=tuple(scope(n) for n in node.body))

    return replace(program, body=tuple(scope(n) for n in program.body))
