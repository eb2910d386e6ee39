"""Other extensions than those of the default cluster: the code uses what there is, and means the same."""

from __future__ import annotations

import re
import shutil

import pytest

from perfdojo.backends import emit, get_target
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.interpret import compare, random_inputs, reference
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.gcc import find_tools
from perfdojo.toolchains.snitch.run import build, run
from tests.backends.direct import checked
from tests.backends.snitch.test_plain import GCC

KERNEL = """kernel k
in x: f32[8, 16]
in y: f64[64]
out z: f32[8, 16]
out s: f64[8]
out d: f64[64]

8 16 z[{0},{1}] = x[{0},{1}] + x[{0},{1}]
8 8 s[{0}] += y[{0}*8 + {1}]
64 d[{0}] = sqrt(abs(y[{0}])) / (1 + y[{0}] * y[{0}])
"""
PACKED, LOOP, MOVER = r"\bvf\w+_s\b", r"\bfrep_o t", r"\bscfgwi t"
DIVISION = r"\bsnitch_div\(|\b__divdf3\b"
"""By the runtime, or by the operator that gcc has a function for."""


def text(isa: str) -> str:
    made = emit(checked(KERNEL), f"snitch:{isa}")
    return "\n".join(t for name, t in made.files if name.endswith((".c", ".S")))


@pytest.mark.parametrize(
    ("isa", "used", "unused"),
    [
        ("no-div", (PACKED, LOOP, MOVER, DIVISION), ()),
        ("div", (PACKED, LOOP, MOVER), (DIVISION,)),
        ("no-simd", (LOOP, MOVER), (PACKED,)),
        ("no-ssr", (), (PACKED, LOOP, MOVER)),
        ("no-frep", (PACKED, MOVER), (LOOP,)),
        ("div,no-ssr", (), (DIVISION, PACKED, LOOP, MOVER)),
    ],
)
def test_the_code_follows(isa: str, used: tuple[str, ...], unused: tuple[str, ...]) -> None:
    shown = text(isa)
    assert [u for u in used if not re.search(u, shown)] == []
    assert [u for u in unused if re.search(u, shown)] == []


@pytest.mark.skipif(not shutil.which(GCC), reason="needs gcc-riscv64-unknown-elf")
@pytest.mark.parametrize("isa", ["div", "no-simd,no-frep", "no-ssr"])
def test_it_means_the_same(isa: str) -> None:
    program = checked(KERNEL)
    built = build(emit(program, f"snitch:{isa}"), find_tools())
    assert not isinstance(built, Failure), built
    inputs = random_inputs(program, 0, "normal")
    done = run(built, inputs)
    assert done.outcome == "ok", done.text
    assert compare(done.outputs, reference(program, inputs, "reassoc")).passed


def test_an_unknown_extension_is_told() -> None:
    with pytest.raises(PerfDojoError, match="no extension 'simt' of Snitch") as told:
        get_target("snitch:no-simt")
    assert "simd" in told.value.hint
    with pytest.raises(PerfDojoError, match="target avx2 has no extensions"):
        get_target("avx2:div")


@pytest.mark.parametrize(
    ("isa", "first"), [("div,no-div", "div"), ("no-ssr,div,ssr", "no-ssr"), ("div,div", "div")]
)
def test_an_extension_is_named_once(isa: str, first: str) -> None:
    last = isa.rpartition(",")[2]
    with pytest.raises(PerfDojoError, match=f"'{first}' and '{last}' both tell of extension"):
        get_target(f"snitch:{isa}")
