"""The simulator's parts, compiled once for a test run; the compiler for Snitch and the simulator itself.

The simulator stays in the user's cache, as building it takes a while.
"""

from __future__ import annotations

import shutil

import pytest

from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from tests.toolchains.snitch.fp_simulator import Simulator, build


@pytest.fixture(scope="session")
def fp(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    return Simulator(build(tmp_path_factory.mktemp("fp")))


@pytest.fixture(scope="session")
def tools() -> Tools:
    try:
        return find_tools()
    except MissingTool as error:
        pytest.skip(str(error))
