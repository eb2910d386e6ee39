"""f32 tanh and sigmoid of arrays on the cluster: bits of the scalar function, in passes without a wait."""

from __future__ import annotations

import ctypes
import platform
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perfdojo.backends.helpers import helper_text
from perfdojo.backends.snitch.passes import laid_out, parsed
from perfdojo.backends.snitch.quotient_steps import FUNCTIONS
from perfdojo.backends.snitch.quotients import GUESS
from perfdojo.compiler.interpret import functions
from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import Tools, find_tools
from perfdojo.toolchains.snitch.measure import measure
from perfdojo.toolchains.snitch.run import run
from tests.backends.snitch.native import GCC, compile_c
from tests.backends.snitch.operands import SPECIAL_F32, same
from tests.backends.snitch.test_exp_array import kernel

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
PASSES = [(name, k) for name in FUNCTIONS for k in range(3)]


def text_of(name: str, number: int) -> str:
    return FUNCTIONS[name].passes[number]


@pytest.fixture(scope="module")
def tools() -> Tools:
    try:
        return find_tools()
    except MissingTool as error:
        pytest.skip(str(error))


# A call is cut into blocks of at most 64, three of which are at work; below 24 elements it is a loop.
@pytest.mark.parametrize(
    ("count", "first", "memory"),
    [(20, 0, ""), (24, 0, ""), (76, 0, ""), (135, 0, ""), (201, 1, ""), (328, 0, ""), (64, 0, "main")],
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_have_the_bits_of_the_interpreter(
    name: str, count: int, first: int, memory: Any, tools: Tools
) -> None:
    rng = np.random.default_rng(count)
    limits = np.abs([np.float32(FUNCTIONS[name].constants[limit]) for limit in ("high", "low")])
    near = [np.nextafter(limits, np.float32(toward)) for toward in (0, 999)]
    ends = np.concatenate((limits, *near, np.array([10, 29.6, 87.4, 103.9, 3e38, 1e-40], np.float32)))
    special = np.concatenate((SPECIAL_F32, -SPECIAL_F32, ends, -ends))
    x = (limits[1] / 3 * rng.normal(size=count)).astype(np.float32)
    x = np.where(rng.random(count) < 0.3, rng.choice(special, count), x).astype(np.float32)
    call = f"snitch_{name}_f32_array(x + {first}, z + {first}, {count - first});"
    alone = f"snitch_{name}_f32_array(x, z, {first});"
    ran = run(kernel(count, f"{call} {alone}", tools, memory), {"x": x})
    assert ran.outcome == "ok", ran.text
    assert same(ran.outputs["z"], getattr(functions, name)(x)).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_fpu_computes_in_nine_cycles_of_ten(name: str, tools: Tools) -> None:
    x = np.random.default_rng(4).normal(size=1024).astype(np.float32)
    found = measure(kernel(1024, f"snitch_{name}_f32_array(x, z, 1024);", tools), {"x": x})
    assert found.outcome == "ok"
    assert found.utilisation is not None
    assert found.utilisation > 0.88


@pytest.mark.parametrize(("name", "number"), PASSES)
def test_no_step_waits_for_another_one(name: str, number: int) -> None:
    steps = parsed(text_of(name, number))
    made = laid_out(steps, 14)
    at = {s: k + len(steps) * stage for k, (s, stage) in enumerate(zip(made.steps, made.stages, strict=True))}
    assert at.keys() == set(steps)
    for before, after in combinations(steps, 2):
        if before.dest and before.dest in after.values:
            # two instructions a step, latency 2 or 4
            assert at[after] - at[before] >= (1 if before.op in ("min", "max") else 2), (before, after)


@pytest.mark.parametrize(("name", "number"), PASSES)
def test_values_do_not_meet_those_of_other_iterations(name: str, number: int) -> None:
    """Run some iterations on registers that hold (iteration, value): each step finds what it wants."""
    steps = parsed(text_of(name, number))
    made = laid_out(steps, 14)
    iterations = made.depth + 3
    holds: dict[int, tuple[int, str]] = {}
    taken: dict[str, list[int]] = {"<0": [], "<1": [], ">": []}
    for turn, (s, stage) in product(
        range(iterations + made.depth), zip(made.steps, made.stages, strict=True)
    ):
        iteration = turn - stage
        if not 0 <= iteration < iterations:
            continue
        for v in s.values:
            assert holds[made.registers[v]] == (iteration, v)
        if s.dest:
            holds[made.registers[s.dest]] = iteration, s.dest
        for stream in {a for a in s.args if a[0] == "<"} | (set() if s.dest else {">"}):
            taken[stream].append(iteration)
    assert all(order == sorted(order) for order in taken.values())
    assert made.registers.keys() == {s.dest for s in steps if s.dest}


HEAD = """#include <math.h>
#include <stdint.h>
#include <string.h>
#include <stdbool.h>
static inline float value(uint32_t b) { float f; memcpy(&f, &b, 4); return f; }
static inline uint32_t bits(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }
"""


def in_c(
    text: str, stem: str, streams: tuple[list[str], list[str]], constants: dict[str, float]
) -> tuple[str, ...]:
    """Return the steps of a text as C for one element, and what they write; streams are lists of elements."""
    lines, results = [], []

    def word(a: str) -> str:
        if a[0] == "$":
            return f"{constants[a[1:]].hex()}f"
        return streams[int(a[1])].pop(0) if a[0] == "<" else f"{stem}_{a}"

    for k, s in enumerate(parsed(text)):
        # an instruction takes one element, even where it names the stream twice
        shared = {a: word(a) for a in dict.fromkeys(s.args)}
        a, b = (shared[x] for x in s.args)
        dest = f"{stem}_{s.dest or k}"
        value = {
            "add": f"{a} + {b}",
            "sub": f"{a} - {b}",
            "mul": f"{a} * {b}",
            "min": f"fminf({a}, {b})",
            "max": f"fmaxf({a}, {b})",
            "mac": f"fmaf({a}, {b}, {dest})",
            "mre": f"fmaf(-{a}, {b}, {dest})",
        }[s.op]
        # gcc 12 takes a product with -1 into the next multiply-add, with another sign of zero
        lines.append(f'{"" if s.tied else "float "}{dest} = {value}; __asm__("" : "+x"({dest}));')
        if not s.dest:
            results.append(dest)
    assert streams == ([], [])
    return "\n    ".join(lines), *results


@pytest.mark.slow
@pytest.mark.skipif(GCC is None or platform.machine() != "x86_64", reason="needs gcc for x86")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_quotients_are_those_of_the_scalar_function(name: str, tmp_path: Path) -> None:
    q = FUNCTIONS[name]
    constants = q.constants
    uses = [[sum(f"<{m}" in s.args for s in parsed(text)) for m in (0, 1)] for text in q.passes]
    first, t, r = in_c(q.first, "first", (["x"] * uses[0][0], []), constants)
    second, d, n = in_c(q.second, "second", ([r] * uses[1][0], ["s"] * uses[1][1]), constants)
    third, y = in_c(q.third, "third", ([d] * uses[2][0], ["g", n]), constants)
    # beyond both ends the first pass, as the function, sees an end
    end = max(abs(q.constants[limit]) for limit in ("high", "low"))
    count = 2 * (int(np.float32(end).view(np.uint32)) + 2)
    code = f"""{HEAD}{helper_text([f"pd_{name}_f32"])}
int64_t wrong(void) {{
  int64_t found = 0;
  for (int64_t i = 0; i < {count}; i++) {{
    const uint32_t at = (uint32_t)(i >> 1) | (uint32_t)(i & 1) << 31;
    const float x = value(at);
    {first}
    const float s = value(bits({t}) << 23);
    {second}
    const float g = value({GUESS:#x}u - bits({d}));
    {third}
    found += bits({y}) != bits(pd_{name}_f32(x));
  }}
  return found;
}}
"""
    compile_c(code, tmp_path / "all.so", "-shared", "-fPIC")
    library = ctypes.CDLL(str(tmp_path / "all.so"))
    library.wrong.restype = ctypes.c_int64
    assert library.wrong() == 0
