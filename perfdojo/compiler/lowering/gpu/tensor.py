"""Nests that tensor cores do: which of a kernel's, and their target IR; the others stay loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import Affine
from perfdojo.compiler.analysis.block import BlockPart
from perfdojo.compiler.analysis.fragments import side_names
from perfdojo.compiler.analysis.kept import WARP, Held
from perfdojo.compiler.analysis.tensor import (
    DEPTH,
    Lines,
    Matrix,
    TensorOp,
    Why,
    lines_of,
    misplaced,
    tensor_op,
)
from perfdojo.compiler.ir import Load, Scope
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.expressions import Expressions
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import INDEX, Allocate, Stmt, Stored, Tensor, Value


class Tensors:
    """Nests of one kernel marked @mma.

    Args:
        fits: the block can have whole warps along x.
    """

    def __init__(self, context: Context, known: Model, nests: Sequence[Scope], fits: bool) -> None:
        self.context, self.known = context, known
        self.ops: dict[str, TensorOp] = {}
        for scope in nests:
            found = tensor_op(known, scope)
            if isinstance(found, Why):
                self._left(scope.name, found.reason)
            elif not context.allows("fast"):
                self._left(scope.name, f"{context.fp} rounds each sum to nearest")
            elif not fits:
                reason = f"a block of it cannot have a multiple of {WARP} threads along x"
                self._left(scope.name, reason)
            else:
                self.ops[scope.name] = found

    @property
    def memory(self) -> set[str]:
        """Buffers that matrices are loaded from and stored to."""
        return {m.buffer for op in self.ops.values() for m in op.memory}

    def given_up(
        self, parts: Iterable[BlockPart], held: Mapping[str, Held], offset: Callable[[Access], Affine]
    ) -> bool:
        """Leave nests to the threads that lack what an instruction needs; tell whether there were any."""
        found, done = {}, {p.tensor.scope.name for p in parts if p.tensor is not None}
        for name, op in self.ops.items():
            fragment = op.fragment.buffer
            why = misplaced(self.known, op, offset)
            if name not in done:
                found[name] = "each thread runs it"
            elif fragment not in held or not held[fragment].matrices:
                found[name] = f"{fragment} is no array of matrices that a warp holds"
            elif why is not None:
                found[name] = why.reason
            elif op.factors is not None and DEPTH[op.factors] != self.depth(fragment):
                found[name] = f"{fragment} has sums of products of f32 and of 16 bits"
        for name, reason in found.items():
            del self.ops[name]
            self._left(name, reason)
        return bool(found)

    def depth(self, fragment: str) -> int:
        """Return the steps of the products that are summed in a buffer."""
        factors = (op.factors for op in self.ops.values() if op.fragment.buffer == fragment)
        return next((DEPTH[f] for f in factors if f is not None), max(DEPTH.values()))

    def _left(self, scope: str, reason: str) -> None:
        self.context.notes.append(f"scope {scope}: not done by tensor cores, {reason}")


def tensor_code(
    known: Model, item: BlockPart, op: TensorOp, expressions: Expressions, env: Mapping[str, Linear]
) -> tuple[Stmt, ...]:
    """Return the instructions that a part is, at iterations `env` of the scopes around it."""
    context = expressions.context
    sides = {s for m in (op.fragment, *op.memory) for s in (m.rows, m.columns)}
    frame = Frame({**env, **{s: Linear(0) for s in sides}})

    def place(load: Load) -> Value:
        return expressions.arena.offset(expressions.address(load, frame, None))

    def stored(m: Matrix) -> Stored:
        lines = lines_of(known, m, context.address(m.access.load))
        assert isinstance(lines, Lines)
        return Stored(m.buffer, place(m.access.load), lines.by_rows, lines.step)

    axes, context.axes = context.axes, {**context.axes, **side_names(item)}
    name, number = op.fragment.buffer, place(op.fragment.access.load)
    context.axes = axes
    if op.factors is None:
        return (Tensor(op.kind, name, number, tuple(map(stored, op.memory)), op.value),)
    depth, first = DEPTH[op.factors], expressions.arena.const(0, INDEX)
    pair: tuple[Literal["left", "right"], ...] = ("left", "right")
    arrays = [_fresh(context, word) for word in pair]
    return (
        *(Allocate(a, op.factors, 1, "fragment") for a in arrays),
        *(
            Tensor(kind, a, first, (stored(m),), depth=depth)
            for kind, a, m in zip(pair, arrays, op.memory, strict=True)
        ),
        Tensor("product", name, number, factors=tuple((a, first) for a in arrays), depth=depth),
    )


def _fresh(context: Context, word: str) -> str:
    """Return a name that no buffer has."""
    while (name := context.fresh(word)) in context.buffers:
        pass
    return name
