"""Accesses: the elements that the indices of a load or a target name, as views where they are affine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret.algebra import Algebra, Array, Mask, Value
from perfdojo.compiler.interpret.frame import Frame
from perfdojo.compiler.interpret.indices import affine
from perfdojo.compiler.interpret.storage import Storage
from perfdojo.compiler.ir import Load, Program

Indices = NDArray[np.int64]
Evaluate = Callable[[Mask | None], Value]
Affine = tuple[dict[str, int], int]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Elements by address, which is safe to use everywhere and meant where `inside` (None: everywhere)."""

    address: Indices
    inside: Mask | None
    uncertain: Mask | None


class Access:
    """One load or target of a step, ready to be used at any iterations of its frame."""

    def __init__(
        self,
        program: Program,
        algebra: Algebra,
        storage: Storage,
        frame: Frame,
        load: Load,
        indices: list[Evaluate],
        lenient: bool = False,
    ) -> None:
        self._program, self._load, self._lenient = program, load, lenient
        self._algebra, self._frame, self.storage = algebra, frame, storage
        self._indices = indices
        forms = [affine(i) for i in load.indices]
        self._forms: list[Affine] | None = None
        if all(f is not None for f in forms):
            self._forms = [f for f in forms if f is not None]
            self._step: dict[str, int] = {}
            self._origin = 0
            for (factors, constant), stride in zip(self._forms, storage.strides, strict=True):
                self._origin += constant * stride
                for scope, factor in factors.items():
                    self._step[scope] = self._step.get(scope, 0) + factor * stride

    def take(self, mask: Mask | None) -> Value:
        """Return the elements; lanes outside of `mask` may name anything."""
        if self._forms is not None and self._within(self._forms):
            shape, offset, strides = self._place()
            views = [p.view(shape, offset, strides) for p in self.storage.planes]
            return self._algebra.read(self.storage, views)
        found = self._gather(mask)
        value = self._algebra.read(self.storage, [p.flat[found.address] for p in self.storage.planes])
        return value if found.uncertain is None else self._algebra.doubt(value, found.uncertain)

    def modify(self, mask: Mask | None, folded: int, change: Callable[[list[Array]], None]) -> None:
        """Let `change` work on arrays of the elements, which have extent 1 along the folded axes."""
        if self._forms is not None and self._within(self._forms):
            shape, offset, strides = self._place()
            change([p.view(shape, offset, strides) for p in self.storage.planes])
            return
        found = self._gather(mask)
        if found.uncertain is not None:
            self._algebra.forget(self.storage)
            return
        shape = self._frame.shape(folded)
        address = np.broadcast_to(found.address, shape)
        copies = [np.array(p.flat[address]) for p in self.storage.planes]
        change(copies)
        keep = ... if found.inside is None else np.broadcast_to(found.inside, shape)
        for plane, copy in zip(self.storage.planes, copies, strict=True):
            plane.flat[address[keep]] = copy[keep]

    def _within(self, forms: list[Affine]) -> bool:
        base, size = self._frame.base, self._frame.size
        for (factors, low), extent in zip(forms, self.storage.shape, strict=True):
            high = low
            for scope, factor in factors.items():
                first = factor * base[scope]
                low, high = low + first, high + first
                if scope in size:
                    reach = factor * (size[scope] - 1)
                    low, high = low + min(reach, 0), high + max(reach, 0)
            if low < 0 or high >= extent:
                return False
        return True

    def _place(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        frame, step = self._frame, self._step
        offset = self._origin + sum(frame.base[scope] * stride for scope, stride in step.items())
        strides = tuple(step.get(a, 0) for a in frame.axes)
        shape = tuple(frame.size[a] if s else 1 for a, s in zip(frame.axes, strides, strict=True))
        return shape, offset, strides

    def _gather(self, mask: Mask | None) -> Gathered:
        address: Indices = np.zeros((), np.int64)
        inside: Mask | None = None
        doubts: Mask | None = None
        for evaluate, extent, stride in zip(
            self._indices, self.storage.shape, self.storage.strides, strict=True
        ):
            index, uncertain = self._algebra.index(evaluate(mask))
            if uncertain is not None:
                doubts = uncertain if doubts is None else doubts | uncertain
            valid = (index >= 0) & (index < extent)
            if not valid.all():
                index = np.where(valid, index, 0)
                inside = valid if inside is None else inside & valid
            address = address + index * stride
        if inside is not None and not self._lenient:
            self._check(inside if doubts is None else inside | doubts, mask)
        return Gathered(address, inside, doubts)

    def _check(self, inside: Mask, mask: Mask | None) -> None:
        outside = ~inside if mask is None else ~inside & mask
        if outside.any():
            shape = ", ".join(str(n) for n in self.storage.shape)
            raise PerfDojoError(
                f"an index of '{self._load.buffer}' leaves its shape [{shape}]",
                self._program.source,
                self._load.span,
                "the program was not verified",
            )
