"""Hand-written CUDA kernels as a backend would hand them over, with inputs and references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from perfdojo.compiler.emitted import Argument, ArgumentRole, EmittedSource

Arrays = dict[str, Any]


def argument(name: str, role: ArgumentRole, shape: tuple[int, ...], dtype: str = "f32") -> Argument:
    strides = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
    return Argument(name, role, dtype, shape, strides, prod(shape))


def source(name: str, arguments: tuple[Argument, ...], *flags: str) -> EmittedSource:
    """The kernel of `<name>.cu`; flags like -DSYNC= plant faults."""
    text = (Path(__file__).parent / f"{name}.cu").read_text()
    return EmittedSource(name, "cuda", name, arguments, ((f"{name}.cu", text),), flags=flags)


def normal(*shape: int) -> Any:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """A kernel that is right: its arguments, inputs, what it must give within a relative tolerance."""

    name: str
    arguments: tuple[Argument, ...]
    inputs: Arrays
    expected: Callable[[Arrays], Arrays]
    flags: tuple[str, ...] = ()
    within: float = 1e-5

    def emitted(self, *flags: str) -> EmittedSource:
        return source(self.name, self.arguments, *self.flags, *flags)

    def check(self, outputs: Any) -> None:
        for name, value in self.expected(self.inputs).items():
            np.testing.assert_allclose(outputs[name], value, rtol=self.within, atol=self.within)


def squares(n: int, dtype: str = "f32") -> tuple[Argument, ...]:
    both = (argument("a", "in", (n, n), dtype), argument("b", "in", (n, n), dtype))
    return (*both, argument("c", "out", (n, n)))


def matrices(n: int, dtype: Any = np.float32) -> Arrays:
    rng = np.random.default_rng(3)
    return {k: rng.standard_normal((n, n)).astype(dtype) for k in "ab"}


def multiply(x: Arrays) -> Arrays:
    return {"c": x["a"].astype(np.float64) @ x["b"].astype(np.float64)}


def softmax(x: Arrays) -> Arrays:
    e = np.exp(x["s"].astype(np.float64) - x["s"].max(1, keepdims=True))
    return {"d": e / e.sum(1, keepdims=True)}


def vectors(x: str, n: int, y: str, m: int, dtype: str = "f32") -> tuple[Argument, ...]:
    return argument(x, "in", (n,), dtype), argument(y, "out", (m,), dtype)


TF32 = ("-DTYPE=wmma::precision::tf32", "-DSTORED=float", "-DDEPTH=8")
BF16 = ("-DTYPE=__nv_bfloat16", "-DSTORED=__nv_bfloat16", "-DDEPTH=16")
NUMBERS = np.random.default_rng(1).integers(0, 16, 3000, dtype=np.int32)
GOT = [-1, 4e9, -5e9, -4, 250, 1, 7, 8.5, 9.25, 10.5, 11.5, 12.25, 13.5, 14.5, 15.5, 16.5, 17.25, -18, 19]

CASES = {
    "scale": Case(
        "scale", vectors("x", 1000, "y", 1000), {"x": normal(1000)}, lambda i: {"y": 2 * i["x"] + 1}
    ),
    "product": Case("product", squares(64), matrices(64), multiply, within=1e-4),
    "rows": Case(
        "rows", (argument("s", "in", (8, 100)), argument("d", "out", (8,))), {"s": normal(8, 100)},
        lambda i: {"d": i["s"].astype(np.float64).sum(1)},
    ),
    "total": Case(
        "total", vectors("s", 1000, "d", 1), {"s": normal(1000)},
        lambda i: {"d": [i["s"].astype(np.float64).sum()]}, within=1e-4,
    ),
    "softmax": Case(
        "softmax", (argument("s", "in", (6, 200)), argument("d", "out", (6, 200))), {"s": normal(6, 200)},
        softmax,
    ),
    "histogram": Case(
        "histogram", vectors("s", 3000, "d", 16, "i32"), {"s": NUMBERS},
        lambda i: {"d": np.bincount(i["s"], minlength=16)},
    ),
    "tiled": Case("tiled", squares(96), matrices(96), multiply, within=1e-4),
    "pipeline": Case("pipeline", squares(32), matrices(32), multiply, within=1e-4),
    "half": Case("tensor", squares(32, "f16"), matrices(32, np.float16), multiply),
    "bf16": Case("tensor", squares(32, "bf16"), matrices(32, ml_dtypes.bfloat16), multiply, BF16),
    "tf32": Case("tensor", squares(32), matrices(32), multiply, (*TF32, "-DROUND"), within=2e-2),
    "stages": Case(
        "stages", vectors("x", 301, "y", 300), {"x": normal(301)},
        lambda i: {"y": 3 * i["x"][:-1] + i["x"][1:]},
    ),
    "exchange": Case(
        "exchange", vectors("s", 128, "d", 128), {"s": normal(128)},
        lambda i: {"d": i["s"].reshape(-1, 2)[:, ::-1].reshape(-1)},
    ),
    "order": Case(
        "order", vectors("s", 64, "d", 64, "i32"), {"s": np.arange(64, dtype=np.int32)},
        lambda i: {"d": i["s"].reshape(2, 32).sum(1).repeat(32)},
    ),
    "misuse": Case("misuse", vectors("x", 64, "y", 64), {"x": normal(64)}, lambda i: {"y": i["x"]}),
    "bytes": Case(
        "bytes", vectors("s", 192, "d", 192, "i8"), {"s": np.arange(192).astype(np.int8)},
        lambda i: {"d": i["s"].reshape(3, 64)[:, ::-1].reshape(-1)},
    ),
    "parameters": Case(
        "parameters", (argument("y", "out", (19,), "f64"),), {}, lambda _: {"y": np.array(GOT)}
    ),
}  # fmt: skip
