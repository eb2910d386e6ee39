"""A host whose cache and data lie in a folder of the test run."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import Built, build, find_host, run
from perfdojo.toolchains.places import Places
from perfdojo.toolchains.results import MissingTool, RunResult
from tests.toolchains.kernels import ramp


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    folder = tmp_path_factory.mktemp("places")
    for name in ("cache", "data"):
        (folder / name).mkdir()
    try:
        return find_host(places=Places(folder / "cache", folder / "data"))
    except MissingTool as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def ran(host: Host) -> Callable[..., RunResult]:
    """Return `ran(emitted, inputs, timeout_s)`: build without complaint, run."""

    def build_and_run(
        emitted: EmittedSource, inputs: dict[str, Any] | None = None, timeout_s: float = 20.0
    ) -> RunResult:
        built = build(emitted, host)
        assert isinstance(built, Built), built
        return run(built, ramp() if inputs is None else inputs, timeout_s=timeout_s)

    return build_and_run


@pytest.fixture
def no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program can be found."""
    monkeypatch.setitem(os.environ, "PATH", "")
