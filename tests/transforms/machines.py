"""Machines whose marks no backend has yet: a GPU."""

from __future__ import annotations

from perfdojo.compiler.ir import MARKS
from perfdojo.compiler.lowering.target import Target

GPU_MARKS = frozenset(m for m in MARKS if m.startswith(("grid", "block"))) | {"unroll", "warp"}
MACHINES = {
    t.name: t for t in (Target("gpu", "a GPU", 0, 255, True, lambda op, dtype, lanes: True, marks=GPU_MARKS),)
}
