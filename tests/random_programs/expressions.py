"""Random typed expressions and in-bounds indices inside open scopes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from perfdojo.compiler import ir
from perfdojo.compiler.dtypes import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, U8, DType
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.walk import const_int

FLOATS = (F64, F32, F16, BF16)
INTEGERS = (I64, I32, I16, I8, U8)
TYPES = (*[F32] * 8, F64, F64, F16, BF16, I32, I32, I64, I16, I8, U8, BOOL)

_FLOAT_CALLS = [o.name for o in OPS.values() if o.rule == "float" and o.arity == 1]


def number(value: int) -> ir.Literal:
    return ir.Literal(value, I64)


@dataclass
class Dim:
    """An extent: its value, and how it is written (a literal or a size)."""

    value: int
    expr: ir.Expr


@dataclass
class Open:
    """An open scope."""

    name: str
    dim: Dim


@dataclass
class Env:
    """What an expression may read: whole buffers, and elements written earlier in the same body."""

    rng: random.Random
    buffers: dict[str, tuple[ir.Buffer, tuple[Dim, ...]]] = field(default_factory=dict)
    scopes: list[Open] = field(default_factory=list)
    local: list[tuple[DType, ir.Load]] = field(default_factory=list)
    functions: bool = True

    # ------------------------------------------------------------ indices

    def index(self, extent: int) -> ir.Expr:
        """Return an index expression with values in [0, extent)."""
        rng = self.rng
        fitting = [o for o in self.scopes if o.dim.value <= extent]
        kind = rng.random()
        if fitting and kind < 0.6:
            return ir.Iter(rng.choice(fitting).name)
        if fitting and kind < 0.7:
            o = rng.choice(fitting)
            free = extent - o.dim.value
            if free > 0:
                return ir.Op("add", (ir.Iter(o.name), number(rng.randint(1, free))))
            return ir.Op("sub", (number(extent - 1), ir.Iter(o.name)))
        if self.scopes and kind < 0.92:
            return self._quasi_affine(extent)
        return number(rng.randrange(extent))

    def _quasi_affine(self, extent: int) -> ir.Expr:
        rng = self.rng
        o = rng.choice(self.scopes)
        it: ir.Expr = ir.Iter(o.name)
        kind = rng.randrange(4)
        if kind == 0:
            return ir.Op("mod", (it, number(rng.randint(1, extent))))
        if kind == 1:
            divisor = -(-o.dim.value // extent) + rng.randint(0, 2)
            return ir.Op("floordiv", (it, number(max(1, divisor))))
        if kind == 2:
            p = rng.choice(self.scopes)
            if o.dim.value + p.dim.value - 1 <= extent:
                return ir.Op("add", (it, ir.Iter(p.name)))
            return ir.Op("mod", (ir.Op("add", (it, ir.Iter(p.name))), number(extent)))
        scale = (extent - 1) // max(1, o.dim.value - 1) if o.dim.value > 1 else 2
        if scale >= 1 and (o.dim.value - 1) * scale < extent:
            return ir.Op("mul", (it, number(scale)))
        return number(rng.randrange(extent))

    def load(self, name: str) -> ir.Load:
        """Return an in-bounds read of a buffer that is completely written."""
        _, dims = self.buffers[name]
        return ir.Load(name, tuple(self._dimension_index(d) for d in dims))

    def _dimension_index(self, d: Dim) -> ir.Expr:
        rng = self.rng
        promised = [
            (b, dims)
            for b, dims in self.buffers.values()
            if b.values and const_int(b.values[0]) >= 0 and const_int(b.values[1]) <= d.value
        ]
        if promised and rng.random() < 0.5:
            return self.load(rng.choice(promised)[0].name)
        integers = [b for b, _ in self.buffers.values() if b.dtype.is_integer and not b.values]
        if integers and rng.random() < 0.08:
            b = rng.choice(integers)
            low, high = ir.Literal(0, b.dtype), ir.Literal(min(d.value - 1, int(b.dtype.largest)), b.dtype)
            return ir.Op("min", (ir.Op("max", (self.load(b.name), low)), high))
        return self.index(d.value)

    # ------------------------------------------------------------ values

    def value(self, dtype: DType, depth: int) -> ir.Expr:
        """Return an expression of type `dtype` with at most `depth` nested operations."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            return self._leaf(dtype)
        if rng.random() < 0.12:
            return ir.Op(
                "select",
                (self.condition(depth - 1), self.value(dtype, depth - 1), self.value(dtype, depth - 1)),
            )
        if rng.random() < 0.08:
            return self._padded(dtype, depth)
        if rng.random() < 0.12:
            source = rng.choice(TYPES)
            return ir.Cast(dtype, self._typed(source, depth - 1))
        if dtype == BOOL:
            return self.condition(depth)
        return self._operation(dtype, depth)

    def _typed(self, dtype: DType, depth: int) -> ir.Expr:
        """An expression whose type does not hang on its context: conversions give their operand none."""
        value = self.value(dtype, depth)
        if dtype in (I64, F64, BOOL) or _has_own_type(value):
            return value
        return ir.Cast(dtype, self._leaf(rng_choice(self.rng, (I64, F64))))

    def _operation(self, dtype: DType, depth: int) -> ir.Expr:
        rng = self.rng
        names = ["add", "sub", "mul", "min", "max", "add", "mul", "neg", "abs"]
        if dtype.is_float:
            names += [
                "div",
                "fma",
                *(
                    [rng.choice(_FLOAT_CALLS), rng.choice(_FLOAT_CALLS), "pow"]
                    if self.functions
                    else ["sqrt"]
                ),
            ]
        else:
            names += ["floordiv", "mod"]
        name = rng.choice(names)
        args = tuple(self.value(dtype, depth - 1) for _ in range(OPS[name].arity))
        if name in ("floordiv", "mod") and isinstance(args[1], ir.Literal) and args[1].value == 0:
            args = (args[0], ir.Literal(3, dtype))
        if name == "neg" and isinstance(args[0], ir.Literal):
            return args[0]
        if dtype.is_float and name in ("min", "max") and aside(rng, 0.3):
            name += "num"
        return ir.Op(name, args)

    def condition(self, depth: int) -> ir.Expr:
        rng = self.rng
        kind = rng.random()
        if depth > 0 and kind < 0.25:
            return ir.Op(rng.choice(("and", "or")), (self.condition(depth - 1), self.condition(depth - 1)))
        if depth > 0 and kind < 0.33:
            return ir.Op("not", (self.condition(depth - 1),))
        if self.scopes and kind < 0.6:
            left: ir.Expr = ir.Iter(rng.choice(self.scopes).name)
            right = ir.Iter(rng.choice(self.scopes).name) if rng.random() < 0.4 else number(rng.randint(0, 6))
            return ir.Op(rng.choice(("lt", "le", "gt", "ge", "eq", "ne")), (left, right))
        bools = [b.name for b, _ in self.buffers.values() if b.dtype == BOOL]
        if bools and kind < 0.75:
            return self.load(rng.choice(bools))
        dtype = rng.choice((F32, F32, F64, I32, I64, F16))
        op = rng.choice(("lt", "le", "gt", "ge", "eq", "ne"))
        left = self._typed(dtype, depth - 1)
        return ir.Op(op, (left, self.value(dtype, depth - 1)))

    def _padded(self, dtype: DType, depth: int) -> ir.Expr:
        """A read that would leave its buffer, behind the condition that keeps it in."""
        rng = self.rng
        fitting = [(b, dims) for b, dims in self.buffers.values() if b.dtype == dtype and len(dims) >= 1]
        if not fitting or not self.scopes:
            return self._leaf(dtype)
        b, dims = rng.choice(fitting)
        which = rng.randrange(len(dims))
        it = ir.Iter(rng.choice(self.scopes).name)
        shifted: ir.Expr = ir.Op(rng.choice(("sub", "add")), (it, number(rng.randint(1, 3))))
        low = ir.Op("ge", (shifted, number(0)))
        high = ir.Op("lt", (shifted, number(dims[which].value)))
        indices = tuple(shifted if i == which else self.index(d.value) for i, d in enumerate(dims))
        inside = ir.Op("and", (low, high))
        return ir.Op("select", (inside, ir.Load(b.name, indices), self.value(dtype, depth - 1)))

    def _leaf(self, dtype: DType) -> ir.Expr:
        rng = self.rng
        local = [load for t, load in self.local if t == dtype]
        if local and rng.random() < 0.6:
            return rng.choice(local)
        whole = [b.name for b, _ in self.buffers.values() if b.dtype == dtype]
        if whole and rng.random() < 0.8:
            return self.load(rng.choice(whole))
        if self.scopes and dtype == I64 and rng.random() < 0.5:
            return ir.Iter(rng.choice(self.scopes).name)
        return literal(rng, dtype)


def aside(rng: random.Random, share: float) -> bool:
    """Tell yes with probability `share`, without a step of `rng`: what it draws next stays the same."""
    copy = random.Random()
    copy.setstate(rng.getstate())
    return copy.random() < share


def rng_choice(rng: random.Random, options: tuple[DType, ...]) -> DType:
    return rng.choice(options)


def _has_own_type(e: ir.Expr) -> bool:
    """Tell whether the text of `e` fixes its type without a context."""
    if isinstance(e, ir.Load | ir.Cast | ir.Iter):
        return True
    if isinstance(e, ir.Op):
        if OPS[e.op].rule in ("compare", "logic"):
            return True
        return any(_has_own_type(a) for a in (e.args[1:] if e.op == "select" else e.args))
    return False


def literal(rng: random.Random, dtype: DType) -> ir.Literal:
    """Return a literal of `dtype`, now and then an awkward one."""
    if dtype == BOOL:
        return ir.Literal(rng.random() < 0.5, BOOL)
    if dtype.is_float:
        return ir.Literal(
            rng.choice((0.0, 1.0, -1.0, 0.5, 3.0, -0.1, 2.5e-3, 1e30, -0.0, 7.0, float("inf"))), dtype
        )
    if rng.random() < 0.1:
        return ir.Literal(int(rng.choice((dtype.smallest, dtype.largest))), dtype)
    return ir.Literal(rng.randint(0 if dtype == U8 else -5, 9), dtype)
