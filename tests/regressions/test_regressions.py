"""Each bug that was found, as the smallest kernel that shows it: targets and interpreter agree in bits.

Lines `#! MOVE` are the moves that show it; the program behind each is proved and reads back from its text.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perfdojo.backends import host_targets
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import prepare
from perfdojo.compiler.text.parse import read
from perfdojo.compiler.verify import verify
from tests.native import Case, Library, build, can_run, case, disagreement
from tests.transforms.states import applied, setting

TARGETS = (*host_targets(), *(t for t in ("neon", "rvv") if t not in host_targets() and can_run(t)))
BUGS = sorted(Path(__file__).parent.glob("*.ir"))


def _extreme(program: Program) -> dict[str, Any]:
    """Inputs whose integers are the ends of their types and what is near zero, in turn."""
    found = random_inputs(program, 0, "special")
    for name, array in found.items():
        if array.dtype.kind in "iu" and program.buffer(name).values is None:
            ends = np.iinfo(array.dtype)
            found[name] = np.resize(
                np.array([ends.min, ends.max, 0, 1, ends.max - 1, 2], array.dtype), array.shape
            )
    return found


@cache
def _built(target: str) -> tuple[Library, dict[Path, Case]]:
    """All bugs in one library."""
    cases = {}
    for path in BUGS:
        program = bind(read(path.name, path.read_bytes()))
        verify(program)
        lines = path.read_text("utf-8").splitlines()
        moves = [line.removeprefix("#!").strip() for line in lines if line.startswith("#!")]
        moved = applied(prepare(program), *moves, at=setting("avx512", "strict")) if moves else None
        cases[path] = case(path.stem, program, target, "strict", moved)
    return build(list(cases.values())), cases


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", BUGS, ids=lambda p: p.stem)
def test_bug_stays_mended(path: Path, target: str) -> None:
    library, cases = _built(target)
    made = cases[path]
    for inputs in (_extreme(made.program), random_inputs(made.program, 1, "normal")):
        assert disagreement(library, made, inputs, "strict") == ""
