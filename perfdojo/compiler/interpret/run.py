"""Runs a bound program in its declared types: the meaning that every backend is tested against."""

from __future__ import annotations

from collections.abc import Mapping

from perfdojo.compiler.interpret.algebra import Array
from perfdojo.compiler.interpret.engine import execute
from perfdojo.compiler.interpret.exact import Exact
from perfdojo.compiler.interpret.inputs import check_inputs
from perfdojo.compiler.interpret.plan import plan
from perfdojo.compiler.ir import Program


def interpret(program: Program, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Execute a bound, verified program and return its out and inout buffers.

    Args:
        inputs: an array for each in and inout buffer, of its shape and NumPy type (bf16: ml_dtypes.bfloat16);
            left as they are.

    Raises:
        PerfDojoError: inputs that do not fit, or an index outside of its buffer in a program not verified.
    """
    check_inputs(program, inputs)
    storages = execute(plan(program), Exact(), inputs)
    return {
        b.name: storages[b.name].whole(storages[b.name].planes[0]).copy()
        for b in program.arguments
        if b.role != "in"
    }
