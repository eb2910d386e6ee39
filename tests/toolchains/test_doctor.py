"""The doctor says what is missing on machines that lack something; it never raises."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from perfdojo.toolchains import doctor, places
from perfdojo.toolchains.cpu import Cpu, read_cpu
from perfdojo.toolchains.doctor import PACKAGES, Finding, examine
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.roofline import store_roofline
from perfdojo.toolchains.snitch.doctor import examine_snitch
from tests.toolchains.test_roofline import MADE

Examined = Callable[..., list[Finding]]


@pytest.fixture
def examined(host: Host, monkeypatch: pytest.MonkeyPatch) -> Examined:
    """`examine`, with folders of the test run."""
    folders = {"user_cache_dir": host.places.cache, "user_data_dir": host.places.data}
    for name, folder in folders.items():
        monkeypatch.setattr(platformdirs, name, lambda *_, folder=folder, **__: str(folder))
    return examine


def named(findings: list[Finding], name: str) -> list[tuple[str, str]]:
    return [(f.state, f.text) for f in findings if f.name == name]


def cpu_with(*features: str) -> Cpu:
    return replace(read_cpu(), features=frozenset(features))


def test_every_name_is_there_and_every_complaint_has_a_text(examined: Examined) -> None:
    findings = examined()
    names = {f.name for f in findings}
    assert names >= {
        "python",
        "packages",
        "cpu",
        "cache",
        "data",
        "gcc",
        "openmp",
        "snitch gcc",
        "snitch sim",
        "clock",
        "frequency",
        "limits",
    }
    assert all(f.text for f in findings)
    assert named(findings, "gcc")[0][0] == "ok"
    assert named(findings, "openmp") == [("ok", "-fopenmp builds")]


def test_a_cpu_without_avx512(examined: Examined) -> None:
    assert named(examined(cpu=cpu_with("avx2", "fma", "f16c")), "features") == [
        ("ok", "avx2, fma, f16c"),
        ("limited", "this CPU has no avx512f: target avx512 is checked by emulation, not timed"),
    ]


def test_a_cpu_with_everything(examined: Examined) -> None:
    found = named(examined(cpu=cpu_with("avx2", "fma", "f16c", "avx512f")), "features")
    assert found == [("ok", "avx2, fma, f16c, avx512f")]


def test_a_cpu_with_nothing(examined: Examined) -> None:
    states = [state for state, _ in named(examined(cpu=cpu_with()), "features")]
    assert states == ["limited", "limited"]


def test_no_gcc(examined: Examined, no_path: None) -> None:
    findings = examined()
    gcc = next(f for f in findings if f.name == "gcc")
    assert gcc == Finding(
        "gcc",
        "missing",
        "gcc is not installed or not in PATH",
        "on Debian and Ubuntu: apt-get install gcc",
    )
    assert named(findings, "limits") == [("limited", "measuring them needs gcc")]


def test_no_write_access(examined: Examined, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "private_temporary", lambda: host.places.cache.parent)
    findings = examined(try_write=lambda _: "Permission denied")
    for name in ("cache", "data"):
        ((state, text),) = named(findings, name)
        assert state == "limited"
        assert "cannot be written to (Permission denied); using " in text
    assert named(findings, "gcc")[0][0] == "ok"


def test_no_write_access_anywhere(examined: Examined, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(places, "private_temporary", nowhere)
    findings = examined(try_write=lambda _: "No space left on device")
    assert named(findings, "folders") == [
        ("missing", "no folder can be written to, not even a temporary one (No space left on device)")
    ]
    assert named(findings, "limits") == [("limited", "measuring them needs gcc")]


def test_a_missing_package(examined: Examined, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("numpy", "no-such-package-as-this"))
    found = [f for f in examined() if f.name == "packages"]
    assert found[0].text.startswith("numpy ")
    assert found[1].state == "missing"
    assert found[1].fix == "python -m pip install no-such-package-as-this"


def test_clock_and_governor(examined: Examined, tmp_path: Path) -> None:
    clock, governor = tmp_path / "clock", tmp_path / "governor"
    clock.write_text("hpet\n")
    governor.write_text("powersave\n")
    findings = examined(clock=clock, governor=governor)
    assert named(findings, "clock") == [("limited", "hpet is slow to read: short times are less exact")]
    assert named(findings, "frequency") == [
        ("limited", "governor powersave changes it while a kernel is timed")
    ]
    clock.write_text("tsc\n")
    governor.write_text("performance\n")
    findings = examined(clock=clock, governor=governor)
    assert named(findings, "clock") == [("ok", "tsc")]
    assert named(findings, "frequency") == [("ok", "governor performance")]


def test_limits_that_are_kept_are_shown(examined: Examined, host: Host) -> None:
    cpu = replace(host.cpu, model="a kept one")
    assert named(examined(cpu=cpu), "limits") == [("limited", "not measured yet")]
    store_roofline(MADE, cpu, host.places)
    ((state, text),) = named(examined(cpu=cpu, measure=True), "limits")
    assert state == "ok"
    assert text.startswith(
        "1 thread: f32 64, f64 32, i32 50, i8 50 Gop/s, L1 100 GB/s, memory 10 GB/s; 4 threads"
    )
    store_roofline(replace(MADE, load=3.0), cpu, host.places)
    ((state, text),) = named(examined(cpu=cpu), "limits")
    assert state == "limited"
    assert text.endswith("measured while others were running (load 3.0)")


def test_the_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    names = tuple(d.split(">")[0].split("=")[0].split("<")[0].strip() for d in project["dependencies"])
    assert sorted(names) == sorted(PACKAGES)


def test_snitch_without_its_compiler_and_without_a_simulator(host: Host, tmp_path: Path) -> None:
    empty = replace(host.places, cache=tmp_path)
    compiler, simulator = examine_snitch(host.compiler, host.cpu, empty, "no-such-gcc")
    assert compiler[1] == "limited"
    assert compiler[2].startswith("no-such-gcc is not installed or not in PATH: kernels for snitch are")
    assert "gcc-riscv64-unknown-elf" in compiler[3]
    assert simulator == ("snitch sim", "ok", "the simulator is made on first use, in some seconds", "")
    _, simulator = examine_snitch(None, host.cpu, None)
    assert simulator[1] == "limited"
