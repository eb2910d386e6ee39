"""The simulator against the RTL: results are the same, cycles agree as closely as its documentation says."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfdojo.toolchains.snitch.gcc import Tools
from tests.toolchains.snitch.rtl.programs import Measured, Seen, assemble, measured, off, run

LONG = 3_000
"""Cycles of a region from which on a program is left to the long test."""
WRITES_MEMORY = ("d_2d_chk", "d_2d_out", "d_2d_out2", "d_queue_out")
"""Bursts of writes by the DMA: their pace in the RTL runs is a property of that test bench's memory."""

Runs = dict[Measured, Seen]


def run_all(programs: tuple[Measured, ...], tools: Tools, out: Path) -> Runs:
    binutils = str(tools.compiler.path).removesuffix("gcc")
    return {p: run(p, assemble(p, out, binutils), tools) for p in programs}


def short(program: Measured) -> bool:
    return max(program.cycles) < LONG and program.name not in WRITES_MEMORY


@pytest.fixture(scope="module")
def single(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    programs = tuple(p for p in measured("single") if short(p))
    return run_all(programs, tools, tmp_path_factory.mktemp("single"))


@pytest.fixture(scope="module")
def cluster(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    programs = tuple(p for p in measured("cluster") if short(p))
    return run_all(programs, tools, tmp_path_factory.mktemp("cluster"))


def check_results(runs: Runs) -> None:
    for program, seen in runs.items():
        assert (seen.simulation.text, seen.simulation.exit_code) == ("", 0), program.name
        assert (seen.different, seen.words) == (0, program.words), program.name
        assert seen.instructions == program.instructions, program.name


def check_single_cycles(runs: Runs) -> None:
    exact = sum(off(p, s) == 0 for p, s in runs.items())
    near = sum(off(p, s) <= max(2, 0.01 * p.warm[0]) for p, s in runs.items())
    assert exact >= 0.98 * len(runs)
    assert near == len(runs)


def check_cold_cycles(runs: Runs) -> None:
    """Instruction caches and prefetch: the first repetition, too."""
    assert sum(p.cycles[0] == s.cycles[0] for p, s in runs.items()) >= 0.98 * len(runs)


def check_cluster_cycles(runs: Runs) -> None:
    near = sum(off(p, s) <= max(8, 0.03 * p.warm[0]) for p, s in runs.items())
    assert near == len(runs)


def test_one_core_computes_what_the_rtl_does(single: Runs) -> None:
    assert len(single) > 200
    check_results(single)


def test_one_core_takes_the_cycles_of_the_rtl(single: Runs) -> None:
    check_single_cycles(single)
    check_cold_cycles(single)


def test_the_cluster_computes_what_the_rtl_does(cluster: Runs) -> None:
    assert len(cluster) > 100
    check_results(cluster)


def test_the_cluster_takes_the_cycles_of_the_rtl(cluster: Runs) -> None:
    check_cluster_cycles(cluster)
    assert sum(off(p, s) == 0 for p, s in cluster.items()) >= 0.9 * len(cluster)


@pytest.mark.parametrize("name", ["k_gemm_8_ssrfrep_u8_wr", "k_dot_64_ssrfrep_stag4", "m_frep_nest2"])
def test_counting_by_instruction_takes_no_shortcut_and_changes_nothing(
    name: str, single: Runs, tools: Tools, tmp_path: Path
) -> None:
    program = next(p for p in single if p.name == name)
    elf = assemble(program, tmp_path, str(tools.compiler.path).removesuffix("gcc"))
    counted = run(program, elf, tools, statistics=True).simulation
    plain = single[program].simulation
    assert (counted.cycles, counted.harts, counted.memory) == (plain.cycles, plain.harts, plain.memory)
    assert sum(line.count for line in counted.lines) == counted.harts[0].instructions
    assert sum(line.cycles for line in counted.lines) == counted.cycles


@pytest.mark.parametrize("name", ["d_1d_mm", "db_axpy", "k_axpy_cyc_8c", "tc_r3_shared_8c"])
def test_harts_that_wait_for_memory_count_as_if_they_were_stepped(
    name: str, cluster: Runs, tools: Tools, tmp_path: Path
) -> None:
    program = next(p for p in cluster if p.name == name)
    elf = assemble(program, tmp_path, str(tools.compiler.path).removesuffix("gcc"))
    stepped = run(program, elf, tools, statistics=True).simulation
    plain = cluster[program].simulation
    assert (stepped.cycles, stepped.harts, stepped.memory) == (plain.cycles, plain.harts, plain.memory)


@pytest.mark.slow
def test_long_programs(tools: Tools, tmp_path: Path) -> None:
    single = run_all(tuple(p for p in measured("single") if not short(p)), tools, tmp_path)
    check_results(single)
    check_single_cycles(single)
    long_ones = tuple(p for p in measured("cluster") if not short(p))
    cluster = run_all(long_ones, tools, tmp_path)
    check_results(cluster)
    check_cluster_cycles({p: s for p, s in cluster.items() if p.name not in WRITES_MEMORY})
