"""Arguments in memory: the way out undoes the way in."""

from __future__ import annotations

import numpy as np
import pytest

from perfdojo.compiler.emitted import Argument
from perfdojo.toolchains.arrays import from_memory, to_memory


@pytest.mark.parametrize(
    ("shape", "strides", "size"),
    [((), (), 1), ((3, 2), (2, 1), 6), ((3, 2), (1, 3), 6), ((3, 2), (8, 1), 24)],
)
def test_elements_come_back_in_their_declared_shape(
    shape: tuple[int, ...], strides: tuple[int, ...], size: int
) -> None:
    argument = Argument("x", "out", "f32", shape, strides, size)
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    back = from_memory(argument, to_memory(argument, array).tobytes())
    assert back.shape == shape
    assert back.flags.c_contiguous
    assert (back == array).all()
