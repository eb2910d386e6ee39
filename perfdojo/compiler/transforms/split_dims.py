"""Split dims: one dimension of a temporary into two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.affine import Affine, Forms
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Buffer, Cast, Expr, Literal, Load, Op, Program
from perfdojo.compiler.transforms._buffers import not_own, temporaries, with_buffer
from perfdojo.compiler.transforms._forms import spelled_form
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, no_buffer
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int, dtype_of, map_statement, map_statements

T = TypeVar("T")

FACTORS = (2, 4, 6, 8, 16, 32, 64)
"""Menu of inner extents: register tiles and vectors."""


@dataclass(frozen=True, slots=True)
class SplitDims(Transform):
    """Split a dimension of N elements of a temporary into N/b blocks of b: index e becomes e // b, e % b.

        split_dims x 1 4
        tmp x: f32[8, 32]; x[{i},{j}*4+{k}]   ->   tmp x: f32[8, 8, 4]; x[{i},{j},{k}]     where k < 4

    Multiples of b are taken apart exactly. The elements stay where they are; `reorder_dims` then moves them.

    0. The buffer exists.
    1. It is a temporary.
    2. It has the dimension, whose elements lie in different places, without unused ones behind them.
    3. b divides the extent, and is neither 1 nor all of it.
    4. (D) The program stays proved: an index that does not come apart may be too complicated.
    """

    aliases = ("tile_dims",)

    buffer: str = arg("buffer")
    dim: int = arg("int")
    factor: int = arg("int", lowest=1)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[SplitDims]:
        for buffer in temporaries(program):
            for dim, extent in enumerate(buffer.shape):
                if dim in buffer.reuse or (buffer.pad and buffer.pad[dim]):
                    continue
                size = const_int(extent)
                moves = (cls(buffer.name, dim, f) for f in FACTORS if f < size and size % f == 0)
                yield from (m for m in moves if m._comes_apart(program))

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        buffer = program.buffer(self.buffer)
        yield from not_own(buffer)
        if not 0 <= self.dim < len(buffer.shape):
            yield Violation(
                2, f"{self.buffer} has {len(buffer.shape)} dimensions, none of them is {self.dim}"
            )
        if self.dim in buffer.reuse:
            yield Violation(2, f"all indices of dimension {self.dim} of {self.buffer} name the same storage")
        if buffer.pad and buffer.pad[self.dim]:
            reason = (
                f"{buffer.pad[self.dim]} unused elements lie behind dimension {self.dim} of {self.buffer}"
            )
            yield Violation(2, reason, f"first pad_dims {self.buffer} {self.dim} 0")
        extent = const_int(buffer.shape[self.dim])
        if not 1 < self.factor < extent or extent % self.factor:
            reason = f"{self.factor} does not cut the {extent} elements along dimension {self.dim} of"
            yield Violation(3, f"{reason} {self.buffer} into equal blocks")
        if not self._comes_apart(program):
            try:
                verify(replace(self.rewrite(program), source=None))
            except PerfDojoError as error:
                yield Violation(4, f"with two dimensions {error.message}", error.hint)

    def rewrite(self, program: Program) -> Program:
        forms = model(program).forms

        def index(e: Expr) -> tuple[Expr, Expr]:
            form = forms.form(e)
            if form is not None and form.quasi_affine:
                outer, inner = self._cut(forms, form)
                return spelled_form(outer), spelled_form(inner)
            e = e if dtype_of(e, program) == I64 else Cast(I64, e)
            by = Literal(self.factor, I64)
            return Op("floordiv", (e, by)), Op("mod", (e, by))

        def access(e: Expr) -> Expr:
            if not isinstance(e, Load) or e.buffer != self.buffer:
                return e
            return replace(e, indices=_put(e.indices, self.dim, index(e.indices[self.dim])))

        body = map_statements(lambda s: map_statement(access, s), program.body)
        return replace(with_buffer(program, self._on(program.buffer(self.buffer))), body=body)

    def _on(self, b: Buffer) -> Buffer:
        d, by = self.dim, self.factor
        cut = (Literal(const_int(b.shape[d]) // by, I64), Literal(by, I64))
        order: tuple[int, ...] = ()
        for e in b.order:
            order += (d, d + 1) if e == d else (e + (e > d),)
        pad = _put(b.pad, d, (0, 0)) if b.pad else ()
        return replace(
            b,
            shape=_put(b.shape, d, cut),
            order=order,
            pad=pad,
            reuse=tuple(e + (e > d) for e in b.reuse),
        )

    def _cut(self, forms: Forms, form: Affine) -> tuple[Affine, Affine]:
        return forms.divide(form, self.factor, False), forms.divide(form, self.factor, True)

    def _comes_apart(self, program: Program) -> bool:
        """True when every index is cut into linear forms, which the quick analyses follow."""
        known = model(program)
        forms = [a.indices[self.dim] for a in known.by_buffer.get(self.buffer, ())]
        if not all(f.quasi_affine for f in forms):
            return False
        cut = [part for f in forms for part in self._cut(known.forms, f)]
        return all(isinstance(atom, str) for part in cut for atom in part.terms)


def _put(items: tuple[T, ...], at: int, values: tuple[T, ...]) -> tuple[T, ...]:
    return (*items[:at], *values, *items[at + 1 :])


TRANSFORM = SplitDims
