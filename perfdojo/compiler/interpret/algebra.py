"""What the engine asks of an algebra: how values are represented, computed and stored.

One engine executes a program in two algebras: `exact` computes in the declared types, `bounds` in float64
with an error bound beside every value. A value is whatever the algebra says; it broadcasts like an array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.interpret.storage import Storage

Array = NDArray[Any]
Mask = NDArray[np.bool_]
Value = Any


@dataclass(frozen=True, slots=True)
class Change:
    """How a step changes its target.

    Attributes:
        op: the sign.
        start: the step is the start of a reduction.
        folded: trailing axes of the value along which it is accumulated, in order.
    """

    op: str
    start: bool
    folded: int


class Algebra(Protocol):
    """The representation of values; see the module."""

    def allocate(self, storage: Storage, array: Array | None) -> None:
        """Make the planes of a buffer, of zeros or of the elements of an argument."""

    def constant(self, array: Array, dtype: DType) -> Value:
        """Return exact elements as a value; `array` has the NumPy type of `dtype`."""

    def operation(self, op: str, dtype: DType) -> Callable[..., Value]:
        """Return the function of an operation of `ops.OPS` on operands of type `dtype`."""

    def conversion(self, source: DType, target: DType) -> Callable[[Value], Value]:
        """Return the function that converts between two types."""

    def may(self, condition: Value) -> Mask:
        """Tell where a bool may be true."""

    def may_not(self, condition: Value) -> Mask:
        """Tell where a bool may be false."""

    def index(self, value: Value) -> tuple[NDArray[np.int64], Mask | None]:
        """Return an integer as an index, and where it is uncertain."""

    def doubt(self, value: Value, where: Mask) -> Value:
        """Return the value, undecided at the marked elements."""

    def read(self, storage: Storage, planes: list[Array]) -> Value:
        """Return the value of the elements that `planes` select; may share their memory."""

    def admit(self, storage: Storage, value: Value, condition: Value | None) -> None:
        """Prepare the planes of `storage` for an update with these operands."""

    def update(
        self,
        storage: Storage,
        planes: list[Array],
        change: Change,
        value: Value,
        condition: Value | None,
        shape: tuple[int, ...],
    ) -> None:
        """Let the selected elements become or absorb `value` where `condition` holds.

        `planes` lack the folded axes (they have extent 1); value and condition broadcast to `shape`.
        """

    def forget(self, storage: Storage) -> None:
        """Make every element undecided: an uncertain index may have written any."""
