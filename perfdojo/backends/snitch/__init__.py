"""Snitch: a RISC-V core whose FPU is fed by three data movers (SSR) and repeats loops by itself (FREP)."""

from __future__ import annotations

from perfdojo.backends.emission import EmitOptions
from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel, Target

FLAGS = (
    "-misa-spec=2.2",
    "-march=rv32imafd",
    "-mabi=ilp32d",
    "-mno-fdiv",
    "-ffreestanding",
    "-fno-tree-loop-distribute-patterns",
)
"""Flags beside the common ones: no divider, no C library, and no calls of it instead of loops.

CSR instructions belong to the base set of version 2.2; named in -march, gcc 12 finds no support library."""

_PACKED = frozenset(
    (
        *("add", "sub", "mul", "fma", "neg", "abs", "minnum", "maxnum", "min", "max"),
        *("load", "store", "splat", "reduce_add"),
    )
)
"""Operations of the packed extension: its minimum and maximum are those of numbers, NaNs are looked for."""
_LANES = {"f32": 2, "f16": 4}
"""Lanes of a packed register: 64 bits."""


def _supports(op: str, dtype: DType, lanes: int) -> bool:
    return lanes == 1 or (op in _PACKED and _LANES.get(dtype.name) == lanes)


TARGET = Target(
    name="snitch",
    title="Snitch cluster, RV32IMAFD with SSR and FREP",
    vector_bits=64,
    registers=29,
    masked_memory=False,
    supports=_supports,
    marks=frozenset(("core", "dma", "frep", "stream", "unroll", "vector")),
    spaces=frozenset(("stack", "tcdm")),
    machine="snitch",
    min_lanes=2,
    half_lanes=True,
    accumulates=True,
    stack_buffer_bytes=1 << 10,
    stack_bytes=3 << 10,  # of the 4 KiB that there are: functions of arrays take some, too
    cores=8,
)


def with_isa(target: Target, isa: str) -> Target:
    """Return the target with other extensions; PerfDojoError where there is no such one."""
    from perfdojo.backends.snitch.isa import with_isa as changed

    return changed(target, isa)


def emit(program: Program, target: Target, fp: FpLevel, options: EmitOptions) -> EmittedSource:
    """Return the C and assembly source of a bound, verified and scheduled program."""
    from perfdojo.backends.snitch.emission import emitted

    return emitted(program, target, fp, options)
