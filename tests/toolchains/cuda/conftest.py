"""A host that compiles C++, or no test here."""

from __future__ import annotations

import pytest

from perfdojo.toolchains.cuda.nvcc import find_nvcc
from perfdojo.toolchains.gcc import Compiler, accepts_cxx
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import MissingTool


@pytest.fixture(scope="session")
def cxx_host(host: Host) -> Host:
    if not accepts_cxx(host.compiler):
        pytest.skip("needs g++")
    return host


@pytest.fixture(scope="session")
def nvcc() -> Compiler:
    try:
        return find_nvcc()
    except MissingTool as error:
        pytest.skip(str(error))
