"""The simulator's shortcuts: a program takes the cycles and stalls that it takes when every step is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from perfdojo.toolchains.snitch.gcc import Tools
from tests.toolchains.snitch.rtl.test_faults import LIMITED, simulated

READ = """
    li t0, {last}
    scfgwi t0, SSR_BOUND0, 0
    scfgwi zero, SSR_STRIDE0, 0
    ssr_enable
    ssr_read 0, 1, a0
    li t1, 6
    li t2, 4
"""
PROGRAMS = {
    "inner loop in the middle": READ.format(last=7 * (1 + 5 + 1) - 1)
    + """
    frep_o t1, 4
    fadd.d fa0, ft0, fa1
    frep_o t2, 2
    fmadd.d fa2, ft0, fa1, fa2
    fmul.d fa3, fa4, fa5
    fadd.d fa5, fa3, ft0
""",
    "inner loop at the end": READ.format(last=7 * (1 + 5) - 1)
    + """
    frep_o t1, 2
    fadd.d fa0, ft0, fa1
    frep_o t2, 1
    fmadd.d fa2, ft0, fa1, fa2
    lw t3, 0(a0)
    addi t3, t3, 1
""",
    "inner loop at the start": READ.format(last=7 * (5 * 2 + 1) - 1)
    + """
    frep_o t1, 3
    frep_o t2, 2
    fadd.d fa0, ft0, fa1
    fadd.d fa2, ft0, fa2
    fmul.d fa3, fa0, ft0
""",
    "staggered inner loop": """
    li t1, 6
    li t2, 4
    frep_o t1, 3
    fadd.d fa0, fa0, fa1
    frep_o t2, 1, 3, 0b0101
    fadd.d fa2, fa1, fa2
    fmul.d fa1, fa0, fa1
""",
    "loads and stores of both kinds, main memory and TCDM": """
    li a2, 0x80100000
    .rept 6
    fsd fa0, 0(a2)
    fld fa1, 8(a2)
    lw t3, 16(a2)
    sw t3, 24(a2)
    fadd.d fa0, fa0, fa1
    fld fa2, 0(a0)
    fsd fa2, 32(a2)
    fld fa3, 40(a2)
    lw t4, 4(a0)
    fsd fa3, 48(a2)
    lw t3, 8(a2)
    mul t4, t3, t4
    .endr
""",
    "copies by the core and by its FP subsystem": """
    li a2, 0x80100000
    .rept 12
    fld fa1, 0(a2)
    lw t3, 8(a2)
    fsd fa1, 0(a0)
    fld fa2, 16(a2)
    sw t3, 8(a0)
    sw t3, 24(a2)
    fsd fa2, 32(a2)
    .endr
    fence
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_cycles_and_stalls_are_those_of_every_step(name: str, tools: Tools, tmp_path: Path) -> None:
    plain = simulated(PROGRAMS[name], tools, tmp_path)
    stepped = simulated(PROGRAMS[name], tools, tmp_path, replace(LIMITED, statistics=True))
    assert plain.fault is None
    assert (plain.cycles, plain.exit_code, plain.harts) == (stepped.cycles, stepped.exit_code, stepped.harts)
