"""What the parts of lowering share: the program, the target, the arena, and where a statement stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perfdojo.compiler.analysis.affine import Affine, Forms
from perfdojo.compiler.analysis.digits import Split
from perfdojo.compiler.dtypes import BOOL, I64, DType
from perfdojo.compiler.ir import Buffer, Cast, Expr, Iter, Literal, Load, Op, Program
from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.layout import Layout, layouts
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import Value
from perfdojo.compiler.lowering.literals import rounded
from perfdojo.compiler.lowering.target import FpLevel, Target, at_least
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.walk import const_int, scopes

if TYPE_CHECKING:
    from perfdojo.compiler.lowering.accumulators import Accumulators


class NotVectorisableError(Exception):
    """Says why a scope stays scalar; caught inside lowering."""


@dataclass(frozen=True, slots=True)
class Part:
    """One vector of iterations: the first of them, the lanes that exist (None: all), a running number."""

    base: Linear
    mask: Value | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a statement stands.

    Attributes:
        env: iteration number of each enclosing scope.
        vector: name of the scope that runs in lanes, "" when none does.
        lanes: lanes of a vector.
        parts: the vectors of that scope that each statement is written for.
        parallel: inside a scope that is spread over threads.
        accumulators: where sums over lanes go.
        nest: inside a scope that becomes a `Stream`.
    """

    env: Mapping[str, Linear]
    vector: str = ""
    lanes: int = 1
    parts: tuple[Part, ...] = ()
    parallel: bool = False
    accumulators: Accumulators | None = None
    nest: bool = False

    def at(self, env: Mapping[str, Linear], *parts: Part) -> Frame:
        """Return the frame with other iteration numbers, and other parts when any are given."""
        return Frame(
            env, self.vector, self.lanes, parts or self.parts, self.parallel, self.accumulators, self.nest
        )


@dataclass(slots=True)
class Context:
    """One call of `lower`. Where it is only a `trial`, two vectors of a scope stand for all of them.

    `cores` of a cluster run the function together and share the iterations of the scopes in `spread`.
    """

    program: Program
    target: Target
    fp: FpLevel
    threads: int
    trial: bool = False
    cores: int = 1
    spread: set[str] = field(default_factory=set)
    arena: Arena = field(default_factory=Arena)
    notes: list[str] = field(default_factory=list)
    lanes: dict[str, int] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(init=False)
    layouts: dict[str, Layout] = field(init=False)
    forms: Forms = field(init=False)
    in_main: bool = field(init=False)
    """The arguments lie in main memory, as those of programs with @dma scopes do."""
    splits: dict[str, Mapping[int, Split]] = field(default_factory=dict)
    """Temporaries of which blocks or threads of a GPU hold only their elements, by dimension."""
    axes: dict[str, str] = field(default_factory=dict)
    """Scopes whose iterations are threads of a block where the code stands, with their dimension of it."""
    at_once: frozenset[str] = frozenset()
    """Buffers that a thread of a GPU uses itself without waiting: copies into them are not asynchronous."""
    used: dict[str, int] = field(default_factory=dict)
    _affine: dict[int, tuple[Expr, Affine | None]] = field(default_factory=dict)
    _literals: dict[int, tuple[Expr, Value]] = field(default_factory=dict)
    _supported: dict[tuple[str, str, int], bool] = field(default_factory=dict)
    _address: dict[int, tuple[Expr, Affine]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.buffers = {b.name: b for b in self.program.buffers}
        self.layouts = layouts(self.program)
        extents = {s.name: const_int(s.extent) for s in scopes(self.program)}
        self.forms = Forms(extents, self.buffers)
        dma = "dma" in self.target.marks
        self.in_main = dma and any(s.mark == "dma" for s in scopes(self.program))

    @property
    def on_gpu(self) -> bool:
        """Whether the code is that of threads of a GPU."""
        return "grid_x" in self.target.marks

    @property
    def concurrent(self) -> bool:
        """Whether others run beside what is lowered: threads, cores of a cluster, threads of a GPU."""
        return max(self.threads, self.cores) > 1 or self.on_gpu

    def allows(self, level: FpLevel) -> bool:
        """Tell whether the floating-point level of this call allows what `level` allows."""
        return at_least(self.fp, level)

    def fresh(self, base: str) -> str:
        """Return a variable name that was not used before: `base`, `base_1`, `base_2`, ..."""
        while True:
            number = self.used.get(base, 0)
            self.used[base] = number + 1
            name = f"{base}_{number}"
            if name not in self.forms.extents:
                return name

    def affine(self, expr: Expr) -> Affine | None:
        """Return the linear form of an integer expression, None for floats and bools."""
        found = self._affine.get(id(expr))
        if found is None:
            # the expression is kept so that its id stays its own
            found = self._affine[id(expr)] = expr, self.forms.form(expr)
        return found[1]

    def literal(self, e: Literal) -> Value:
        """Return a literal, rounded to its type, as a constant of one lane."""
        found = self._literals.get(id(e))
        if found is None:
            made = self.arena.const(rounded(e.value, e.dtype), self.arena.type(e.dtype))
            found = self._literals[id(e)] = e, made
        return found[1]

    def address(self, access: Load) -> Affine:
        """Return the offset of an access in elements as a linear form."""
        found = self._address.get(id(access))
        if found is None:
            form = Affine(0, {})
            splits = self.splits.get(access.buffer, {})
            for d, stride in enumerate(self.layouts[access.buffer].strides):
                if stride:
                    part = self.affine(access.indices[d])
                    assert part is not None, "an index is an integer"
                    if d in splits:
                        part = splits[d].local(part.renamed(self.axes))
                    form = form.plus(part, stride)
            found = self._address[id(access)] = access, form
        return found[1]

    def supports(self, op: str, dtype: DType, lanes: int) -> bool:
        """Tell whether the target has a vector operation (`Target.supports`)."""
        key = op, dtype.name, lanes
        found = self._supported.get(key)
        if found is None:
            found = self._supported[key] = self.target.supports(op, dtype, lanes)
        return found

    def dtype(self, expr: Expr) -> DType:
        """Return the type of an expression."""
        while True:
            if isinstance(expr, Literal | Cast):
                return expr.dtype
            if isinstance(expr, Iter):
                return I64
            if isinstance(expr, Load):
                return self.buffers[expr.buffer].dtype
            assert isinstance(expr, Op), "no SizeRef is left after bind"
            if OPS[expr.op].rule in ("compare", "logic"):
                return BOOL
            expr = expr.args[-1]
