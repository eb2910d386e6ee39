"""The interpreter at its plainest: one element at a time, one Python function a rule. Slow on purpose.

It exists to test the fast one bit by bit, so it shares with it the definitions of fma and of the
elementary functions, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from perfdojo.compiler.dtypes import I64, DType
from perfdojo.compiler.interpret import functions
from perfdojo.compiler.interpret.algebra import Array
from perfdojo.compiler.interpret.fma import fma
from perfdojo.compiler.ir import Cast, Expr, Iter, Literal, Load, Node, Op, Program, Scope, Statement
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.compiler.ops import REDUCTIONS
from perfdojo.compiler.walk import const_int, dtype_of, iterators

Element = Any
"""A NumPy float for floats, an int for integers, a bool."""


def interpret_naively(program: Program, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Do what `interpret` does, element by element; inputs are not checked."""
    machine = _Machine(program, inputs)
    with np.errstate(all="ignore"):
        machine.run(program.body)
    return {b.name: machine.memory[b.name] for b in program.arguments if b.role != "in"}


class _Machine:
    def __init__(self, program: Program, inputs: Mapping[str, Array]) -> None:
        self.program, self.now = program, dict[str, int]()
        self.shape = {b.name: tuple(const_int(n) for n in b.shape) for b in program.buffers}
        self.memory = {b.name: np.zeros(self.shape[b.name], NUMPY[b.dtype.name]) for b in program.buffers}
        for name, array in inputs.items():
            self.memory[name][...] = array
        self.before: dict[int, list[tuple[Statement, tuple[Scope, ...]]]] = {}
        self._find_starts(program.body, (), {b.name for b in program.buffers if b.role in ("tmp", "out")})

    def _find_starts(self, body: tuple[Node, ...], around: tuple[Scope, ...], unwritten: set[str]) -> None:
        """Note before which node (by identity) each implicit start happens, and the scopes that it covers."""
        for node in body:
            if isinstance(node, Scope):
                self._find_starts(node.body, (*around, node), unwritten)
                continue
            if node.target.buffer in unwritten and node.op != "=":
                used = set[str]().union(*(iterators(i) for i in node.target.indices))
                absent = [k for k, scope in enumerate(around) if scope.name not in used]
                place: Node = around[absent[0]] if absent else node
                covered = around[absent[0] :] if absent else ()
                self.before.setdefault(id(place), []).append((node, covered))
            unwritten.discard(node.target.buffer)

    # ------------------------------------------------------------ statements

    def run(self, body: tuple[Node, ...]) -> None:
        for node in body:
            for statement, covered in self.before.get(id(node), []):
                self.start(statement, covered)
            if isinstance(node, Statement):
                self.execute(node)
                continue
            for i in range(const_int(node.extent)):
                self.now[node.name] = i
                self.run(node.body)

    def start(self, statement: Statement, covered: tuple[Scope, ...]) -> None:
        if covered:
            for i in range(const_int(covered[0].extent)):
                self.now[covered[0].name] = i
                self.start(statement, covered[1:])
            return
        name, dtype = statement.target.buffer, self.program.buffer(statement.target.buffer).dtype
        place = self.place(statement.target)
        if all(0 <= i < n for i, n in zip(place, self.shape[name], strict=True)):
            worst = (-math.inf, math.inf) if dtype.is_float else (int(dtype.smallest), int(dtype.largest))
            neutral = {"+=": 0, "*=": 1, "max=": worst[0], "min=": worst[1]}.get(statement.op, math.nan)
            self.memory[name][self.stored(name, place)] = neutral

    def execute(self, s: Statement) -> None:
        if s.guard is not None and not self.value(s.guard):
            return
        name, dtype = s.target.buffer, self.program.buffer(s.target.buffer).dtype
        value = self.value(s.value)
        if s.op != "=":
            value = _operate(REDUCTIONS[s.op], dtype, self.value(s.target), value)
        self.memory[name][self.stored(name, self.place(s.target))] = value

    # ------------------------------------------------------------ expressions

    def place(self, load: Load) -> tuple[int, ...]:
        return tuple(self.value(i) for i in load.indices)

    def stored(self, name: str, place: tuple[int, ...]) -> tuple[int, ...]:
        for i, n in zip(place, self.shape[name], strict=True):
            assert 0 <= i < n, f"{name}{list(place)} is outside of {self.shape[name]}"
        reuse = self.program.buffer(name).reuse
        return tuple(0 if d in reuse else i for d, i in enumerate(place))

    def value(self, e: Expr) -> Element:
        if isinstance(e, Literal):
            return _convert(I64 if isinstance(e.value, int) else e.dtype, e.dtype, e.value)
        if isinstance(e, Iter):
            return self.now[e.scope]
        if isinstance(e, Load):
            element = self.memory[e.buffer][self.stored(e.buffer, self.place(e))]
            return element if self.program.buffer(e.buffer).dtype.is_float else element.item()
        if isinstance(e, Cast):
            return _convert(dtype_of(e.arg, self.program), e.dtype, self.value(e.arg))
        assert isinstance(e, Op), e
        if e.op == "select":
            return self.value(e.args[1] if self.value(e.args[0]) else e.args[2])
        if e.op == "and":
            return self.value(e.args[0]) and self.value(e.args[1])
        if e.op == "or":
            return self.value(e.args[0]) or self.value(e.args[1])
        return _operate(e.op, dtype_of(e.args[0], self.program), *(self.value(a) for a in e.args))


def _operate(op: str, dtype: DType, a: Element, b: Element = None, c: Element = None) -> Element:
    if op in _COMPARE:
        return bool(_COMPARE[op](a, b))
    if op == "not":
        return not a
    if op in ("min", "max"):
        if a != a or b != b:
            return a if a != a else b
        return b if (a < b if op == "max" else b < a) else a
    if op in ("minnum", "maxnum"):
        if a != a or b != b:
            return b if a != a else a
        if a == b:
            return b if math.copysign(1, a) == (1 if op == "minnum" else -1) else a
        return min(a, b) if op == "minnum" else max(a, b)
    if dtype.is_integer:
        return _wrap(int(_INTEGER[op](a, b)), dtype)
    if op in _FLOAT:
        return NUMPY[dtype.name].type(_FLOAT[op](a, b))
    return _call(op, NUMPY[dtype.name], *(x.tobytes() for x in (a, b, c) if x is not None))


@lru_cache(maxsize=1 << 16)
def _call(op: str, dtype: np.dtype[Any], *operands: bytes) -> Element:
    """Call a function of arrays; by bits, since 0 and -0 are one key and NaN is none."""
    args = [np.frombuffer(x, dtype) for x in operands]
    return (fma if op == "fma" else getattr(functions, op))(*args)[0]


def _wrap(value: int, dtype: DType) -> int:
    return (value - int(dtype.smallest)) % (1 << dtype.bits) + int(dtype.smallest)


def _convert(source: DType, target: DType, x: Element) -> Element:
    if target.kind == "bool":
        return bool(x != 0)
    if target.is_integer:
        if not source.is_float:
            return _wrap(int(x), target)
        low, high, x = int(target.smallest), int(target.largest), float(x)
        return 0 if x != x else low if x < low else high if x > high else int(x)
    kind = NUMPY[target.name].type
    if not source.is_float:
        x = np.int64(x)
    return kind(_odd_f32(x) if target.name == "bf16" else x)


def _odd_f32(x: Element) -> Element:
    """Return an f32 neighbour of `x`, the odd one unless exact: rounding it again to bf16 is harmless."""
    near = np.float32(x)
    if np.isnan(near) or np.isinf(near):
        return near
    exact, got = (int(x), int(near)) if isinstance(x, np.int64) else (float(x), float(near))
    if got == exact or near.view(np.int32) % 2:
        return near
    return np.nextafter(near, np.float32(-math.inf if exact < got else math.inf))


_COMPARE: dict[str, Any] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
_INTEGER: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "neg": lambda a, _: -a,
    "abs": lambda a, _: abs(a),
}
_FLOAT: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a, _: -a,
    "abs": lambda a, _: abs(a),
    "floor": lambda a, _: np.floor(a),
    "ceil": lambda a, _: np.ceil(a),
    "round": lambda a, _: np.rint(a),
}
