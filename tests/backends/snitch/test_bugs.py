"""Each bug that was found, as the smallest kernel that shows it: simulator and interpreter agree in bits.

Lines `#! MOVE` are the moves that show it. Other programs run as they are marked or, with `#! plan`, planned.
`#@ LEVEL` is the floating-point level, at which nothing is lost in these programs; else it is strict.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.interpret import first_difference, interpret, random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FP_LEVELS, FpLevel
from perfdojo.compiler.schedule import Scheduled, prepare
from perfdojo.compiler.text.parse import read
from perfdojo.compiler.verify import verify
from perfdojo.toolchains.results import Failure, MissingTool
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.toolchains.snitch.run import Built, run
from tests.fuzz.snitch.batches import built
from tests.transforms.states import applied, setting

BUGS = sorted((Path(__file__).parent / "bugs").glob("*.ir"))


def _program(path: Path) -> tuple[Program, EmittedSource]:
    program = bind(read(path.name, path.read_bytes()))
    verify(program)
    lines = path.read_text("utf-8").splitlines()
    moves = [line.removeprefix("#!").strip() for line in lines if line.startswith("#!")]
    levels = [line.removeprefix("#@").strip() for line in lines if line.startswith("#@")]
    fp: FpLevel = next((level for level in FP_LEVELS if level in levels), "strict")
    if moves == ["plan"]:
        return program, emit(program, "snitch", fp=fp)
    moved = applied(prepare(program), *moves, at=setting("snitch", fp))
    return program, emit(program, "snitch", fp=fp, scheduled=Scheduled(moved, ""))


@pytest.fixture(scope="module")
def kernels() -> dict[Path, tuple[Program, Built | Failure]]:
    try:
        tools = find_tools()
    except MissingTool as missing:
        pytest.skip(str(missing))
    found = {path: _program(path) for path in BUGS}
    made = built([source for _, source in found.values()], tools)
    return {path: (program, one) for (path, (program, _)), one in zip(found.items(), made, strict=True)}


@pytest.mark.parametrize("path", BUGS, ids=lambda p: p.stem)
def test_bug_stays_mended(path: Path, kernels: dict[Path, tuple[Program, Built | Failure]]) -> None:
    program, made = kernels[path]
    assert not isinstance(made, Failure), made.text
    for kind in ("normal", "special"):
        inputs = random_inputs(program, 1, kind)
        ran = run(made, inputs)
        assert ran.outcome == "ok", ran.text
        assert first_difference(ran.outputs, interpret(program, inputs)) == ""
