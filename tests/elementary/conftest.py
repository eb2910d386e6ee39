"""The compiled functions, once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from numpy.typing import NDArray

from tests.elementary.compiled import GCC, load


@pytest.fixture(scope="package")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[..., NDArray[Any]]]:
    """Return C functions on arrays by name and type, `exp_f32`."""
    if GCC is None:
        pytest.skip("gcc is missing")
    return load(tmp_path_factory.mktemp("functions"))
