"""Writes C functions that apply vector operations to whole buffers; makes their inputs."""

from __future__ import annotations

import numpy as np

from perfdojo.backends.helpers import helper_text
from perfdojo.backends.names import Names
from perfdojo.backends.scalar import ScalarPrinter
from perfdojo.backends.vectors.printer import IntrinsicsPrinter
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import BOOL, DType
from perfdojo.compiler.emitted import C_TYPES
from perfdojo.compiler.lowering.lir import INDEX, Load, Store, Value, Var, VType
from perfdojo.compiler.numpy_types import NUMPY
from tests.backends.vectors.cases import MODULES, Array, Case

COUNT = 2048
PRINTERS = {name: module.vector_printer for name, module in MODULES.items()}


class Writer:
    """Writes C functions that apply an operation to whole buffers."""

    def __init__(self, target: str, table: Table | None = None) -> None:
        self.vectors = PRINTERS[target]() if table is None else IntrinsicsPrinter(table)
        self.helpers: set[str] = set()
        self.functions: list[str] = []

    def add(self, name: str, case: Case, lanes: int) -> None:
        """Add the function of a case: operands a, b, c, result out."""
        i = Var("i", INDEX)
        operands = tuple(Load(x, i, VType(t, lanes)) for x, t in zip("abc", case.operands, strict=False))
        value = case.build(operands, VType(case.result, lanes))
        buffers = dict(zip("abc", case.operands, strict=False)) | {"out": case.result}
        self.loop(name, buffers, lanes, value)

    def loop(self, name: str, buffers: dict[str, DType], step: int, value: Value) -> None:
        """Add a function that stores `value` at each `step` elements of out; `i` is the element."""
        store = Store("out", Var("i", INDEX), value)
        self.function(name, buffers, store, f"for (int64_t i = 0; i < {COUNT}; i += {step}) ")

    def function(self, name: str, buffers: dict[str, DType], store: Store, loop: str = "") -> None:
        """Add a function that stores once, or in a loop."""
        printer = ScalarPrinter(Names(), buffers, self.vectors)
        text = printer.store(store)
        types = {x: C_TYPES[t.name] if x == "out" else f"const {C_TYPES[t.name]}" for x, t in buffers.items()}
        listed = ", ".join(f"{t} *{x}" for x, t in types.items())
        self.functions.append(f"void {name}({listed}) {{ {loop}{{ {text} }} }}")
        self.helpers |= printer.helpers

    def text(self) -> str:
        headers, vectors = self.vectors.prelude()
        includes = ("math.h", "stdbool.h", "stdint.h", *headers)
        lines = [f"#include <{h}>" for h in includes]
        return "\n".join([*lines, helper_text(self.helpers), vectors, *self.functions])


def inputs(dtype: DType, place: int) -> Array:
    """Return values in which every special one meets every other at different `place`s, and random ones."""
    generator = np.random.default_rng(place)
    numpy = NUMPY[dtype.name]
    if dtype == BOOL:
        return generator.integers(0, 2, COUNT).astype(np.bool_)
    raw = generator.integers(0, 256, COUNT * numpy.itemsize, dtype=np.uint8).view(numpy)
    if dtype.is_integer:
        low, high = int(dtype.smallest), int(dtype.largest)
        special = np.array([0, 1, low, high, low + 1, high - 1, 2, 100, high // 2, low // 2], numpy)
        special = np.concatenate([special, -special])
    else:
        top, least = float(dtype.largest), dtype.smallest_subnormal
        values = [0.0, 1, 1.5, 2.5, 127.6, 32768, 2.0**31, 2.0**63, np.inf]
        values += [top, least, 2.0**dtype.min_exponent]
        values += [65519.9, 1e-7, 3.3895314e38 * 1.0001] if dtype.bits > 16 else []
        with np.errstate(all="ignore"):
            special = np.array([*values, *(-v for v in values), np.nan], np.float64).astype(numpy)
            scale = 10.0 ** generator.integers(-5, 5, COUNT // 2)
            raw[: COUNT // 2] = (generator.standard_normal(COUNT // 2) * scale).astype(numpy)
    generator.shuffle(raw)
    k = np.arange(len(special) ** 2)
    assert len(k) <= COUNT * 3 // 4
    raw[: len(k)] = special[(k // len(special) if place % 2 else k) % len(special)]
    return raw


def same_bits(a: Array, b: Array) -> bool:
    """Tell whether two arrays agree bit for bit, any NaN being the same."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    raw = f"u{a.dtype.itemsize}"
    equal = np.ascontiguousarray(a).view(raw) == np.ascontiguousarray(b).view(raw)
    with np.errstate(invalid="ignore"):
        return bool(np.all(equal | ((a != a) & (b != b))))
