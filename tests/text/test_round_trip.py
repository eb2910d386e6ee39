"""Text and tree are one to one."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perfdojo.compiler import ir
from perfdojo.compiler.bind import bind
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.text import names
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.walk import scopes, statements
from tests.random_programs.coverage import coverage
from tests.random_programs.generate import generate

SOFTMAX = """\
kernel softmax
size B = 64
size N = 512
in  s: f32[B, N]
out d: f32[B, N]
tmp m: f32[B]
tmp x: f32[B, N]
tmp e: f32[B, N]
tmp a: f32[B]
tmp i: f32[B]

B N m[{0}] max= s[{0},{1}]
| N x[{0},{1}] = s[{0},{1}] - m[{0}]
| | e[{0},{1}] = exp(x[{0},{1}])
| | a[{0}] += e[{0},{1}]
B i[{0}] = 1.0 / a[{0}]
| N d[{0},{1}] = e[{0},{1}] * i[{0}]
"""

MATMUL = """\
kernel matmul
size M = 3
size N = 4
size K = 5
in  A: f32[M, K]
in  B: f32[K, N]
out C: f32[M, N]

M N K C[{0},{1}] += A[{0},{2}] * B[{2},{1}]
"""


@pytest.mark.parametrize("text", [SOFTMAX, MATMUL], ids=["softmax", "matmul"])
def test_the_seed_notation_is_canonical(text: str) -> None:
    assert render(parse(text)) == str(parse(text)) == text


@pytest.mark.parametrize("value", ["0", "-(-0)", "-(-1)", "-(-0) - x[{0}]"])
def test_signs_of_whole_literals_stay(value: str) -> None:
    text = f"kernel k\nin  x: i32[3]\nout y: i32[3]\n\n3 y[{{0}}] = {value}\n"
    program = bind(parse(text))
    assert render(program) == text
    assert bind(parse(render(program))) == program


STREAMED = """\
kernel streamed
in  x: f32[8] prefetch(64)
out y: f32[8] nontemporal prefetch(3)
tmp t: f32[8] reuse(0) nontemporal

8 t[{0}] = x[{0}]
| y[{0}] = t[{0}]
"""


def test_nontemporal_and_prefetch_are_kept() -> None:
    program = parse(STREAMED)
    assert render(program) == STREAMED
    assert [(b.nontemporal, b.prefetch) for b in program.buffers] == [(False, 64), (True, 3), (True, 0)]
    assert bind(program).buffers == program.buffers


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 32), st.booleans())
@example(7203666, False)  # a select of integers under a condition with floats
def test_parse_inverts_render(seed: int, bound: bool) -> None:
    program = generate(seed)
    program = bind(program) if bound else program
    assert parse(render(program)) == program


def test_the_generator_covers_the_language() -> None:
    rows: Counter[str] = Counter()
    for seed in range(150):
        rows += coverage(generate(seed))
    wanted = {f"op {o}" for o in OPS} | {
        f"type {t}" for t in ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"]
    }
    wanted |= {f"sign {s}" for s in ("=", "+=", "*=", "max=", "min=", "maxnum=", "minnum=")} | {
        "guard",
        "gather",
        "quasi-affine index",
    }
    wanted |= {f"attribute {a}" for a in ("space", "order", "pad", "reuse", "values")}
    wanted |= {"attribute nontemporal", "attribute prefetch", "conversion", "rank 0"}
    wanted |= {"mark parallel", "mark vector", "mark unroll", "role inout", "statement outside scopes"}
    assert wanted <= rows.keys()


def test_comments_blank_lines_and_line_ends_mean_nothing() -> None:
    spaced = "# first\r\n\r\n" + MATMUL.replace("\n", "  # note\r\n")
    assert parse(spaced) == parse(MATMUL)
    assert parse(MATMUL.rstrip("\n")) == parse(MATMUL)


def test_scopes_and_statements_get_names_by_rule() -> None:
    program = parse(SOFTMAX)
    assert [s.name for s in scopes(program)] == ["b", "n", "n_2", "b_2", "n_3"]
    assert [s.name for _, s in statements(program)] == ["m", "x", "e", "a", "i", "d"]


def test_given_names_displace_names_by_rule() -> None:
    text = "kernel k\nsize N = 4\nout y: f32[N]\n\nN y[{0}] = 1.0\nn:N again: y[{0}] = 2.0\n"
    program = parse(text)
    assert [s.name for s in scopes(program)] == ["n_2", "n"]
    assert parse(render(program)) == program


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([None, "a", "b", "a_2", "b_3"])), max_size=8)
)
def test_names_left_out_are_found_again(items: list[tuple[str, str | None]]) -> None:
    bases = [b for b, _ in items]
    given_, seen = [], set()
    for _, g in items:
        given_.append(None if g in seen else g)
        seen.add(g)
    full = names.assign(bases, given_)
    assert len(set(full)) == len(full)
    assert names.assign(bases, names.leave_out(bases, full)) == full


def test_iterators_may_be_named() -> None:
    by_name = MATMUL.replace("{0}", "{m}").replace("{1}", "{n}").replace("{2}", "{k}")
    assert parse(by_name) == parse(MATMUL)


def test_literals_take_the_type_of_their_context() -> None:
    program = parse("kernel k\nsize N = 4\nin x: f16[N]\nout y: f16[N]\n\nN y[{0}] = x[{0}] * 2 + N\n")
    (_, statement) = next(iter(statements(program)))
    assert isinstance(statement.value, ir.Op)
    assert isinstance(statement.value.args[1], ir.SizeRef)
    assert statement.value.args[1].dtype.name == "f16"
