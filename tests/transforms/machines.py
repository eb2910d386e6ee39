"""Machines whose marks no backend has yet: a GPU, and a Snitch cluster without division."""

from __future__ import annotations

from perfdojo.compiler.dtypes import DType
from perfdojo.compiler.ir import MARKS
from perfdojo.compiler.lowering.target import Target


def _fpu(op: str, dtype: DType, lanes: int) -> bool:
    return dtype.is_float and op not in ("div", "sqrt")


GPU_MARKS = frozenset(m for m in MARKS if m.startswith(("grid", "block"))) | {"unroll"}
SNITCH_MARKS = frozenset(("unroll", "core", "stream", "frep"))
MACHINES = {
    t.name: t
    for t in (
        Target("gpu", "a GPU", 0, 255, True, lambda op, dtype, lanes: True, marks=GPU_MARKS),
        Target("snitch", "a cluster", 0, 32, False, _fpu, marks=SNITCH_MARKS),
    )
}
