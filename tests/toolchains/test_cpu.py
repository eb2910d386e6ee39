"""The processor is read from what the system says; what it does not say is left empty."""

from __future__ import annotations

from pathlib import Path

from perfdojo.toolchains.cpu import Cache, read_cpu

X86 = """processor\t: 0
model name\t: A CPU @ 3.00GHz
flags\t\t: fpu sse4_1 avx2 fma avx512f avx512_vnni

processor\t: 1
model name\t: A CPU @ 3.00GHz
flags\t\t: none
"""
ARM = "processor\t: 0\nFeatures\t: fp asimd sve\nCPU part\t: 0xd40\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_model_and_features_of_the_first_processor(tmp_path: Path) -> None:
    write(tmp_path / "cpuinfo", X86)
    cpu = read_cpu(tmp_path / "cpuinfo", tmp_path)
    assert cpu.model == "A CPU @ 3.00GHz"
    assert cpu.has("avx2")
    assert cpu.has("avx512vnni")
    assert cpu.has("sse4.1")
    assert cpu.missing(("avx512f", "avx512_fp16", "f16c")) == ("avx512_fp16", "f16c")


def test_features_of_an_arm_processor(tmp_path: Path) -> None:
    write(tmp_path / "cpuinfo", ARM)
    assert read_cpu(tmp_path / "cpuinfo", tmp_path).has("asimd")


def test_features_of_a_risc_v_processor(tmp_path: Path) -> None:
    write(tmp_path / "cpuinfo", "processor\t: 0\nisa\t\t: rv64imafdcv_zicsr_zifencei\n")
    cpu = read_cpu(tmp_path / "cpuinfo", tmp_path)
    assert cpu.has("v")
    assert cpu.has("zicsr")
    assert not cpu.has("rv64")


def test_caches_are_read_and_instruction_caches_left_out(tmp_path: Path) -> None:
    for index, (level, kind, size, shared) in enumerate(
        [("1", "Data", "32K", "0"), ("1", "Instruction", "64K", "0"), ("3", "Unified", "32M", "0-3,8")]
    ):
        folder = tmp_path / "cpu0" / "cache" / f"index{index}"
        write(folder / "level", level)
        write(folder / "type", kind)
        write(folder / "size", size)
        write(folder / "shared_cpu_list", shared)
    cpu = read_cpu(tmp_path / "cpuinfo", tmp_path)
    assert cpu.caches == (Cache(1, 32 << 10, 1), Cache(3, 32 << 20, 5))
    assert cpu.last_cache_bytes == (32 << 20) + (32 << 10)


def test_nothing_to_read_is_no_error(tmp_path: Path) -> None:
    cpu = read_cpu(tmp_path / "none", tmp_path / "none")
    assert cpu.model
    assert cpu.features == frozenset()
    assert cpu.processors
    assert cpu.caches == ()


def test_fingerprints_differ_by_features(tmp_path: Path) -> None:
    write(tmp_path / "a", X86)
    write(tmp_path / "b", X86.replace("avx512f", ""))
    a, b = (read_cpu(tmp_path / name, tmp_path) for name in "ab")
    assert a.fingerprint != b.fingerprint
