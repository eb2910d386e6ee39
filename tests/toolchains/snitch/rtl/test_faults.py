"""What a program must not do ends its run as a fault that names the instruction and says why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from perfdojo.toolchains.process import Limits
from perfdojo.toolchains.snitch.elf import read_elf
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.simulation import Simulation
from perfdojo.toolchains.snitch.simulator import Job, simulate
from tests.toolchains.snitch.rtl.programs import ASSEMBLER, FOLDER, LINKER

LIMITED = Job(max_cycles=100_000)
BEFORE = """
.include "common.inc"
.text
setup: ret
body:
    la a0, arr
    li t1, 7
    li t2, 3
    scfgwi t1, SSR_BOUND0, 31
    li t0, 8
    scfgwi t0, SSR_STRIDE0, 31
"""
AFTER = """
    fmv.x.w t6, fa0
    mv t6, t6
    ssr_disable
    csrr s1, mcycle
    csrr s3, minstret
    ret
.section .tcdm, "aw"
.balign 256
arr: .zero 256
.set chk_out, 0
.set chk_exp, 0
.set chk_n, 0
"""
FAULTS = {
    "lw a1, 2(a0)": "load of 4 bytes at 0x10000002 is not aligned",
    "fsd fa0, 4(a0)": "store of 8 bytes at 0x10000004 is not aligned",
    "lw a1, 0(zero)": "load at 0x00000000, where there is no memory",
    "jr zero": "jumps to 0x00000000, where there is no memory",
    "ssr_enable\n ssr_read 0, 1, a0\n frep_o t1, 2\n fadd.d fa0, ft0, fa1\n fadd.d fa0, ft0, fa1": (
        "reads stream ft0 beyond its last element (the job has 8)"
    ),
    "ssr_enable\n ssr_write 0, 1, a0\n fadd.d fa0, ft0, fa1": "reads ft0, whose mover has a write job",
    "ssr_enable\n fadd.d ft2, fa0, fa1": "an FP result goes to ft2, whose mover has no write job",
    "scfgri a1, 0, 0": "scfgri is never answered by this core: use scfgr",
    "scfgwi t1, 0, 5": "stream configuration word 0 of mover 5 does not exist",
    "frep_o t1, 2\n fadd.d fa0, fa1, fa2\n feq.d a1, fa0, fa1\n fadd.d fa0, fa1, fa2": (
        "stands inside a frep body, which cannot hold this instruction"
    ),
    "frep_o t1, 1\n frep_o t2, 1\n fadd.d fa0, fa1, fa2": (
        "inner and outer frep hold the same instructions: the hardware loses passes"
    ),
    "frep_o t1, 33\n fadd.d fa0, fa1, fa2": "frep body of 33 instructions: the buffer holds 32",
    "frep_o t1, 3\n frep_o t1, 2\n frep_o t1, 1\n fadd.d fa0, fa1, fa2": (
        "third nested frep: the sequencer has two loops"
    ),
    ".rept 48\n fadd.d fa0, fa0, fa1\n .endr\n frep_o t1, 1\n fadd.d fa0, fa0, fa1": (
        "frep arrives while the 32-entry buffer is full: the hardware would repeat older instructions"
    ),
    "csrwi frm, 5\n fadd.d fa0, fa1, fa2": "reserved rounding mode 5",
    "csrw mtvec, zero\n .word 0": "no instruction of the core has this word",
    "csrw mtvec, zero\n fdiv.d fa0, fa1, fa2": "the core has no divide and square root unit",
    "csrw mtvec, zero\n .word 0x0073000b": "frep.i is illegal in this version of the core",
    "1: j 1b": "no hart can go on: 0 of 1 wait at the barrier, the others loop in place",
}


def simulated(text: str, tools: Tools, folder: Path, job: Job = LIMITED) -> Simulation:
    """Assemble the text into the frame of the measured programs and run it."""
    binutils, source = str(tools.compiler.path).removesuffix("gcc"), FOLDER / "single"
    made, elf = folder / "program.o", folder / "program.elf"
    program = BEFORE + text + AFTER
    command = [f"{binutils}as", *ASSEMBLER, "-I", ".", "-o", str(made), "-"]
    subprocess.run(command, input=program, text=True, check=True, cwd=source)
    subprocess.run([f"{binutils}ld", *LINKER, "-o", str(elf), str(made)], check=True, cwd=source)
    return simulate(read_elf(elf), job, tools, Limits())


@pytest.mark.parametrize("text", FAULTS, ids=lambda text: text.replace("\n", ";")[:40])
def test_fault(text: str, tools: Tools, tmp_path: Path) -> None:
    simulation = simulated(text, tools, tmp_path)
    assert simulation.text == FAULTS[text]
    assert simulation.fault is not None
    assert simulation.fault.cycle < 20_000


def test_a_program_that_handles_traps_goes_on_there(tools: Tools, tmp_path: Path) -> None:
    simulation = simulated("fdiv.d fa0, fa1, fa2", tools, tmp_path)
    assert simulation.exit_code == 0x102
    assert simulation.trap_reason == "the core has no divide and square root unit"


def test_an_endless_loop_ends_at_the_cycle_limit(tools: Tools, tmp_path: Path) -> None:
    simulation = simulated("1: addi t1, t1, 1\n j 1b", tools, tmp_path)
    assert simulation.outcome == "timeout"
    assert simulation.cycles == 100_000
