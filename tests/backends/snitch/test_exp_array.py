"""f32 exp of whole arrays on the cluster: the bits of the scalar function, in a quarter of its time."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perfdojo.backends.helpers import helper_text
from perfdojo.backends.snitch import FLAGS
from perfdojo.backends.snitch.runtime import runtime_files
from perfdojo.compiler.emitted import Argument, EmittedSource
from perfdojo.compiler.interpret import functions
from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from perfdojo.toolchains.snitch.measure import measure
from perfdojo.toolchains.snitch.run import Built, build, run
from tests.backends.snitch.native import RISCV_GCC
from tests.backends.snitch.operands import SPECIAL_F32, same

F32 = NDArray[np.float32]

pytestmark = [
    pytest.mark.skipif(shutil.which(RISCV_GCC) is None, reason=f"no {RISCV_GCC}"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
ROLES: tuple[tuple[str, Any], ...] = (("x", "in"), ("z", "out"))
ENDS = [88.72, 88.73, 89.0, 89.4, 89.5, 90.0, 100.0, 3e38, -87.5, -103.9, -104.0, -104.5, -3e38, 1e-40]


@pytest.fixture(scope="module")
def tools() -> Tools:
    try:
        return find_tools()
    except MissingTool as error:
        pytest.skip(str(error))


def kernel(count: int, body: str, tools: Tools, memory: Any = "") -> Built:
    """Build a kernel z = exp(x) of `count` elements with this body."""
    head = "int k(const float *restrict x, float *restrict z)"
    code = f"{head};\n{head}\n{{\n    {body}\n    return 0;\n}}\n"
    if "pd_exp_f32(" in body:
        code = helper_text(["pd_exp_f32"]) + code
    files = runtime_files(code)
    includes = '#include <stdbool.h>\n#include <stdint.h>\n#include "snitch_runtime.h"\n'
    x, z = (Argument(name, role, "f32", (count,), (1,), count) for name, role in ROLES)
    emitted = EmittedSource(
        "k",
        "snitch",
        "k",
        (x, z),
        (("k.c", includes + code), *files),
        flags=FLAGS,
        links=("-lgcc",),
        alignment=8,
        memory=memory,
    )
    built = build(emitted, tools)
    assert isinstance(built, Built), built
    return built


def arguments(count: int) -> F32:
    """Return ordinary arguments among special ones and the ends of the range."""
    rng = np.random.default_rng(3)
    special = np.concatenate((SPECIAL_F32, -SPECIAL_F32, np.array(ENDS, np.float32)))
    ordinary = (30 * rng.normal(size=count)).astype(np.float32)
    return np.where(rng.random(count) < 0.3, rng.choice(special, count), ordinary).astype(np.float32)


# A call is cut into blocks of at most 64; below 24 elements, or where a stream cannot go, it is a loop.
@pytest.mark.parametrize(
    ("count", "first", "memory"), [(20, 0, ""), (24, 0, ""), (135, 0, ""), (200, 1, ""), (64, 0, "main")]
)
def test_arrays_have_the_bits_of_the_interpreter(count: int, first: int, memory: str, tools: Tools) -> None:
    call = f"snitch_exp_f32_array(x + {first}, z + {first}, {count - first});"
    alone = f"snitch_exp_f32_array(x, z, {first});"
    x = arguments(count)
    ran = run(kernel(count, f"{call} {alone}", tools, memory), {"x": x})
    assert ran.outcome == "ok", ran.text
    assert same(ran.outputs["z"], functions.exp(x)).all()


def test_arrays_take_a_quarter_of_the_time(tools: Tools) -> None:
    x = np.random.default_rng(4).normal(size=256).astype(np.float32)
    loop = kernel(256, "for (int i = 0; i < 256; i++) z[i] = pd_exp_f32(x[i]);", tools)
    array = kernel(256, "snitch_exp_f32_array(x, z, 256);", tools)
    slow, fast = measure(loop, {"x": x}), measure(array, {"x": x})
    assert (slow.outcome, fast.outcome) == ("ok", "ok")
    assert 4 * fast.cycles < slow.cycles
