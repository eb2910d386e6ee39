"""The systems are found by name; models and environments are as they should be, without the systems."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.peers.environments import folder, interpreter, packages, variables, with_libraries
from benchmarks.peers.peer import Peer
from benchmarks.peers.registry import SYSTEMS, System, find, load
from benchmarks.peers.systems.onnx_runtime import WEIGHTS, graph
from benchmarks.suite import KERNELS
from tests.benchmarks.small import small

HERE = Path(sys.executable)


def test_names_and_titles_are_unique() -> None:
    assert len({s.name for s in SYSTEMS}) == len({s.title for s in SYSTEMS}) == len(SYSTEMS)
    with pytest.raises(KeyError):
        find("nothing")


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_a_system_loads_without_its_packages_and_says_what_is_missing(system: System) -> None:
    peer = load(system)
    assert issubclass(peer, Peer)
    assert bool(interpreter(system)[0]) != bool(interpreter(system)[1])
    assert system.environment in {"own", *packages()}


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_step_of_a_model_takes_what_is_there(kernel: str) -> None:
    b = small(kernel)
    steps, constants = graph(b)
    known = {*b.inputs, *constants}
    for _, inputs, out, _ in steps:
        assert set(inputs.split()) <= known
        known.add(out)
    assert steps[-1][2] == "out"
    assert set(WEIGHTS.get(kernel, ())) < set(b.inputs)


def test_variables_that_mislead_openblas_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OPENBLAS_L2_SIZE", "1")
    found = variables(find("numpy"), HERE, 1, (1,))
    assert not {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_PLACES"} & found.keys()
    assert found["OPENBLAS_NUM_THREADS"] == found["OMP_NUM_THREADS"] == "1"
    assert found["PERFDOJO_PEERS"] == str(folder())


def test_threads_are_put_on_processors() -> None:
    found = variables(find("torch"), HERE, 2, (2, 3))
    assert found["OMP_PLACES"] == "{2},{3}"
    assert found["MKL_NUM_THREADS"] == "2"


def test_libraries_of_an_environment_come_first(tmp_path: Path) -> None:
    assert with_libraries({"LD_LIBRARY_PATH": "/a"}, tmp_path) == {"LD_LIBRARY_PATH": f"{tmp_path}:/a"}
    assert with_libraries({}, tmp_path) == {"LD_LIBRARY_PATH": str(tmp_path)}
    assert "LD_LIBRARY_PATH" in variables(find("mkl"), HERE, 1, (0,))


def test_an_environment_asks_for_nothing_that_only_this_project_has() -> None:
    assert not [p for wanted in packages().values() for p in wanted if p.startswith("perfdojo")]
    assert "matplotlib>=3.8" in packages()["bench"]  # of the extra `plot`
