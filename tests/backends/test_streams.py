"""Streamed stores and prefetches change nothing: any type, any alignment, threads, and reading back."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping

import numpy as np
import pytest

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.interpret import interpret, random_inputs
from perfdojo.compiler.numpy_types import NUMPY
from tests.backends.direct import checked, disagreements, emitted
from tests.native import Array, Case, build

TEXT = """\
kernel k_{type}
in  x: {type}[5, 67] prefetch(40)
out y: {type}[5, 67] nontemporal
out z: {type}[5, 72] nontemporal prefetch(3)
tmp t: {type}[5, 72] nontemporal

b:5 n:67@vector y[{{0}},{{1}}] = x[{{0}},{{1}}]
c:5 m:72@vector t[{{0}},{{1}}] = x[{{0}},min({{1}}, 66)]
d:5 k:72@vector z[{{0}},{{1}}] = t[4 - {{0}},{{1}}]
e:5 l:72@vector z[{{0}},{{1}}] = z[{{0}},{{1}}]
"""

OWN = """\
kernel own
in  x: f32[6, 4000]
out y: f32[6, 4000] nontemporal
tmp t: f32[4000] nontemporal
tmp s: f32[6, 4000] reuse(0) nontemporal

n:4000@vector t[{0}] = x[0,{0}] * 2
b:6@parallel m:4000@vector s[{0},{1}] = x[{0},{1}] + t[3999 - {1}]
| k:4000@vector y[{0},{1}] = s[{0},3999 - {1}]
"""

SUMS = """\
kernel sums
in  a: i32[8, 5]
in  b: i32[5, 80]
out c: i32[8, 80] nontemporal

m_o:2 m_i:4@unroll n:80@vector c_start: c[{0} * 4 + {1},{2}] = 0
| k:5 m_i_2:4@unroll n_2:80@vector c: c[{0} * 4 + {2},{3}] += a[{0} * 4 + {2},{1}] * b[{1},{3}]
"""


def cases(target: str) -> list[Case]:
    return [emitted(checked(TEXT.format(type=t)), target) for t in DTYPES]


@pytest.mark.parametrize("target", ["c", "avx2", "avx512"])
def test_results_do_not_change(target: str) -> None:
    made = cases(target)
    assert not disagreements(made, kinds=("normal",))
    streamed = [c for c in made if "pd_stream_" in c.emitted.files[0][1]]
    assert len(streamed) == (0 if target == "c" else len(DTYPES))
    fetch = "__builtin_prefetch(" if target == "c" else "_mm_prefetch("
    assert all(fetch in c.emitted.files[0][1] for c in made)


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_any_alignment_will_do(target: str) -> None:
    made = cases(target)
    library = build(made)
    assert isinstance(library, ctypes.CDLL)
    for c in made:
        inputs = random_inputs(c.program, 1, "normal")
        expected = interpret(c.program, inputs)
        for offset in range(0, 80, DTYPES[c.name.removeprefix("k_")].bytes):
            found = called_at(library, c, inputs, offset)
            assert all(found[n].tobytes() == expected[n].tobytes() for n in expected), (c.name, offset)


@pytest.mark.parametrize(("target", "lines"), [("avx2", 0), ("avx512", 20)])
def test_sums_are_streamed_where_a_vector_is_a_line(target: str, lines: int) -> None:
    case = emitted(checked(SUMS), target)
    code = case.emitted.files[0][1]
    assert len(re.findall(r"^ +pd_stream_line_i32x16\(", code, re.MULTILINE)) == lines
    assert not re.search(r"pd_stream_i32", code)
    library = build([case])
    assert isinstance(library, ctypes.CDLL)
    inputs = random_inputs(case.program, 1, "normal")
    expected = interpret(case.program, inputs)["c"].tobytes()
    assert all(called_at(library, case, inputs, at)["c"].tobytes() == expected for at in range(0, 80, 4))


def called_at(library: ctypes.CDLL, c: Case, inputs: Mapping[str, Array], offset: int) -> dict[str, Array]:
    """Return the arguments behind a call whose arguments lie `offset` bytes behind a line."""
    placed: dict[str, Array] = {}
    for a in c.emitted.arguments:
        dtype = NUMPY[a.dtype]
        memory = np.zeros(a.size_elems * dtype.itemsize + 256, np.uint8)
        start = -memory.ctypes.data % 64 + offset
        placed[a.name] = memory[start : start + a.size_elems * dtype.itemsize].view(dtype)
        if a.name in inputs:
            placed[a.name][...] = inputs[a.name].reshape(-1)
    pointers = [ctypes.c_void_p(v.ctypes.data) for v in placed.values()]
    assert getattr(library, c.emitted.symbol)(*pointers) == 0
    return placed


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_threads_see_what_others_streamed(target: str) -> None:
    case = emitted(checked(OWN), target, threads=3)
    lines = [line.strip() for line in case.emitted.files[0][1].splitlines()]
    start = lines.index("#pragma omp parallel num_threads(3)")
    assert lines[start - 1] == "_mm_sfence();"
    assert lines[start + 2] == "#pragma omp for nowait"
    assert lines.count("_mm_sfence();") == 3
    assert not disagreements([case], kinds=("normal",))
