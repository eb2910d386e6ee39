"""Every operation, conversion and kind of place in C: the bits of the interpreter."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.dtypes import BOOL, DTYPES
from perfdojo.compiler.ir import Node, Program, Scope
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.ops import CALLS, OPS, OpInfo
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import scopes
from tests.backends.direct import checked, disagreements, emitted
from tests.random_programs.generate import generate

NUMBERS = [d for d in DTYPES.values() if d != BOOL]


def _applied(info: OpInfo, names: str) -> str:
    a = [f"{n}[{{0}}]" for n in names[: info.arity]]
    if info.name in CALLS:
        return f"{info.name}({', '.join(a)})"
    if info.name == "select":
        return f"a[{{0}}] < b[{{0}}] ? {a[1]} : {a[2]}"
    sign = info.symbol
    return f"{sign} {a[0]}" if info.arity == 1 else f"{a[0]} {sign} {a[1]}"


def _operations() -> Iterator[tuple[str, str]]:
    """Yield a name and the text of a kernel for every operation and every type that has it."""
    for info, dtype in product(OPS.values(), DTYPES.values()):
        fits = {"number": dtype != BOOL, "float": dtype.is_float, "integer": dtype.is_integer}
        fits |= {"select": dtype != BOOL, "logic": dtype == BOOL}
        fits["compare"] = dtype != BOOL or info.name in ("eq", "ne")
        if not fits[info.rule]:
            continue
        result = BOOL if info.rule in ("compare", "logic") else dtype
        ins = "".join(f"in  {n}: {dtype}[65]\n" for n in "abc")
        name = f"op_{info.name}_{dtype}"
        yield name, f"kernel {name}\n{ins}out y: {result}[65]\n\n65 y[{{0}}] = {_applied(info, 'abc')}\n"


def test_every_operation_in_every_type() -> None:
    cases = [emitted(checked(text)) for _, text in _operations()]
    assert len(cases) > 150
    assert not disagreements(cases, kinds=("normal", "special", "denormal", "huge"))


def test_every_conversion() -> None:
    cases = []
    for a, b in product(DTYPES.values(), DTYPES.values()):
        text = f"kernel from_{a}_to_{b}\nin  x: {a}[257]\nout y: {b}[257]\n\n257 y[{{0}}] = {b}(x[{{0}}])\n"
        cases.append(emitted(checked(text)))
    assert not disagreements(cases, kinds=("normal", "special", "denormal", "huge"))


@pytest.mark.parametrize("sign", ["+=", "*=", "max=", "min=", "maxnum=", "minnum="])
def test_every_reduction(sign: str) -> None:
    cases = [
        emitted(
            checked(
                f"kernel r_{d}\nin  x: {d}[7, 19]\nout y: {d}[7]\n\n7 19 y[{{0}}] {sign} x[{{0}},{{1}}]\n"
            )
        )
        for d in NUMBERS
        if d.is_float or not sign.endswith("num=")
    ]
    assert not disagreements(cases)


HOSTILE = """
kernel {0}
size return = 9
in  {1}: f32[return]
out {2}: f32[return]
tmp {3}: f32[return]

{4}:return {3}[{{0}}] = {1}[{{0}}] * 2
{5}:return {2}[{{0}}] = {3}[8 - {{0}}]
"""


def test_names_that_mean_something_in_c() -> None:
    names = [
        ("main", "int", "float", "double", "for", "while"),
        ("malloc", "memory", "free", "i", "i_", "x"),
        ("y", "y_", "y_2", "x", "const", "exp"),
        ("k", "NULL", "static", "pd_load_f16", "omp_x", "_X"),
    ]
    cases = [emitted(checked(HOSTILE.format(*n))) for n in names]
    assert not [d for c in cases for d in disagreements([replace(c, name=c.emitted.symbol)])]


SIZES = (4, 5, 7, 8, 9, 13, 16, 17, 19, 33, 40, 75)


def _marked(program: Program, name: str, mark: str) -> Program:
    def go(body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(
            replace(n, mark=mark if n.name == name else n.mark, body=go(n.body))
            if isinstance(n, Scope)
            else n
            for n in body
        )

    return replace(program, body=go(program.body))


def _accepted(program: Program) -> bool:
    try:
        verify(program)
    except PerfDojoError:
        return False
    return True


def random_marks(seed: int) -> Program:
    """Return a random program at random sizes with as many random marks as `verify` accepts."""
    rng = random.Random(seed)
    written = replace(generate(seed), name=f"k{seed}")
    program = bind(written)
    for _ in range(4):
        try:
            larger = bind(written, {s.name: rng.choice(SIZES) for s in written.sizes})
        except PerfDojoError:
            continue
        if _accepted(larger):
            program = larger
            break
    names = [s.name for s in scopes(program)]
    for name in rng.sample(names, len(names)):
        marked = _marked(program, name, rng.choice(("vector", "vector", "unroll", "parallel")))
        program = marked if _accepted(marked) else program
    return program


@pytest.mark.parametrize(
    ("target", "fp", "threads", "seeds"),
    [
        ("c", "strict", 2, range(0, 20)),
        ("avx2", "strict", 1, range(20, 40)),
        ("avx2", "reassoc", 2, range(40, 60)),
        ("avx512", "strict", 1, range(60, 72)),
        ("avx512", "fast", 1, range(72, 84)),
    ],
)
def test_random_marks_change_nothing(target: str, fp: FpLevel, threads: int, seeds: range) -> None:
    cases = [emitted(random_marks(s), target, fp, threads) for s in seeds]
    assert not disagreements(cases, fp)
