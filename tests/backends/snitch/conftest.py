"""Snitch's runtime, compiled for this machine once for a test run."""

from __future__ import annotations

import pytest

from tests.backends.snitch.native import GCC, Native


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Native:
    if GCC is None:
        pytest.skip("needs gcc")
    return Native(tmp_path_factory.mktemp("runtime"))
