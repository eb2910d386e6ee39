"""The simulator's parts, compiled once for a test run."""

from __future__ import annotations

import shutil

import pytest

from tests.toolchains.snitch.fp_simulator import Simulator, build


@pytest.fixture(scope="session")
def fp(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    return Simulator(build(tmp_path_factory.mktemp("fp")))
