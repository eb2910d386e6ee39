"""Cycles of division, roots and elementary functions on the simulated Snitch core, as the docs list them.

    python -m benchmarks.snitch_functions

A loop over 64 arguments in the TCDM, warm instruction cache, less the loop that copies them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from perfdojo.toolchains.snitch.measure import measure
from perfdojo.toolchains.snitch.run import Built, build

COUNT = 64
FORMS = {
    "division": "x[{0}] / y[{0}]",
    **{f: f"{f}(x[{{0}}])" for f in ("sqrt", "rsqrt", "round", "floor")},
    **{f: f"{f}(x[{{0}}])" for f in ("exp", "log", "tanh", "erf", "sigmoid", "sin", "cos")},
    "pow": "pow(x[{0}], y[{0}])",
}
TYPES: dict[str, Any] = {"f64": np.float64, "f32": np.float32}


def operands(dtype: str) -> dict[str, NDArray[Any]]:
    """Return arguments between 0.2 and 3.2."""
    rng = np.random.default_rng(1)
    return {name: (0.2 + 3 * rng.random(COUNT)).astype(TYPES[dtype]) for name in ("x", "y")}


def cycles(form: str, dtype: str, tools: Tools) -> float:
    """Return the cycles of one iteration."""
    head = f"kernel k\nin x: {dtype}[{COUNT}]\nin y: {dtype}[{COUNT}]\nout z: {dtype}[{COUNT}]\n"
    program = bind(parse(f"{head}{COUNT} z[{{0}}] = {form}\n", "k.ir"))
    built = build(emit(program, "snitch", fp="strict"), tools)
    assert isinstance(built, Built), built.text
    found = measure(built, operands(dtype))
    assert found.outcome == "ok", found.text
    return found.cycles / COUNT


def main() -> None:
    """Print one row for each function."""
    tools = find_tools()
    copies = {dtype: cycles("x[{0}]", dtype, tools) for dtype in TYPES}
    print("| | f64 cycles | f32 cycles |\n|---|---|---|")
    for name, form in FORMS.items():
        spent = [f"{cycles(form, dtype, tools) - copies[dtype]:.0f}" for dtype in TYPES]
        print(f"| {name} | {' | '.join(spent)} |")


if __name__ == "__main__":
    main()
