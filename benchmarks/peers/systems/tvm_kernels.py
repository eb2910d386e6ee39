"""The kernels of the suite as tensor expressions of TVM."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from benchmarks.peers.references import EPSILON, GELU_CUBE, GELU_SCALE
from benchmarks.suite import Benchmark


def primitive_function(b: Benchmark) -> Any:
    """Return a kernel as one primitive function called `main`, inputs first, the output last."""
    te = import_module("tvm.te")
    given = [te.placeholder(shape, name=n, dtype="float32") for n, shape in b.inputs.items()]
    (shape,) = b.outputs.values()
    out = Kernels(b, shape).written(given)
    return te.create_prim_func([*given, out]).with_attr("global_symbol", "main")


class Kernels:
    """One method a kernel; `shape` is that of the output."""

    def __init__(self, b: Benchmark, shape: tuple[int, ...]) -> None:
        self.b, self.shape, self.sizes = b, shape, b.sizes
        self.te: Any = import_module("tvm.te")
        self.topi: Any = import_module("tvm.topi")
        self.tir: Any = import_module("tvm.tirx")

    def written(self, given: list[Any]) -> Any:
        return getattr(self, f"_{self.b.kernel}")(*given)

    def _f(self, value: float) -> Any:
        return self.tir.const(value, "float32")

    def _each(self, value: Any, *arrays: Any) -> Any:
        """A function of the elements of arrays of the output's shape."""
        return self.te.compute(self.shape, lambda *i: value(*(a[i] for a in arrays)), name="out")

    def _axes(self, *extents: int) -> list[Any]:
        return [self.te.reduce_axis((0, n), name=f"r{k}") for k, n in enumerate(extents)]

    def _sigmoid_of(self, x: Any) -> Any:
        return self._f(1) / (self._f(1) + self.tir.exp(-x))

    # ---------------------------------------------------------------- elementwise

    def _add(self, x: Any, y: Any) -> Any:
        return self._each(lambda a, b: a + b, x, y)

    def _mul(self, x: Any, y: Any) -> Any:
        return self._each(lambda a, b: a * b, x, y)

    def _relu(self, x: Any) -> Any:
        return self._each(lambda a: self.tir.max(a, self._f(0)), x)

    def _gelu(self, x: Any) -> Any:
        f = self._f

        def value(a: Any) -> Any:
            inner = f(GELU_SCALE) * (a + f(GELU_CUBE) * a * a * a)
            return f(0.5) * a * (f(1) + self.tir.tanh(inner))

        return self._each(value, x)

    def _sigmoid(self, x: Any) -> Any:
        return self._each(self._sigmoid_of, x)

    def _swish(self, x: Any) -> Any:
        return self._each(lambda a: a * self._sigmoid_of(a), x)

    def _swiglu(self, x: Any, y: Any) -> Any:
        return self._each(lambda a, b: a * self._sigmoid_of(a) * b, x, y)

    def _bias_relu(self, x: Any, b: Any) -> Any:
        return self.te.compute(self.shape, lambda i, j: self.tir.max(x[i, j] + b[j], self._f(0)), name="out")

    # ---------------------------------------------------------------- rows

    def _softmax(self, x: Any) -> Any:
        return self.topi.nn.softmax(x, axis=-1)

    def _layernorm(self, x: Any, g: Any, b: Any) -> Any:
        return self.topi.nn.layer_norm(x, g, b, axis=[1], epsilon=EPSILON["layernorm"])

    def _rmsnorm(self, x: Any, g: Any) -> Any:
        return self.topi.nn.rms_norm(x, g, axis=[1], epsilon=EPSILON["rmsnorm"])

    def _batchnorm(self, x: Any, g: Any, b: Any, mean: Any, var: Any) -> Any:
        def value(n: Any, c: Any, h: Any, w: Any) -> Any:
            scale = g[c] / self.tir.sqrt(var[c] + self._f(EPSILON["batchnorm"]))
            return (x[n, c, h, w] - mean[c]) * scale + b[c]

        return self.te.compute(self.shape, value, name="out")

    def _mean(self, count: int, at: Any) -> Any:
        (r,) = self._axes(count)
        total = self.te.compute(self.shape, lambda i: self.te.sum(at(i, r), axis=r), name="total")
        return self.te.compute(self.shape, lambda i: total[i] * self._f(1 / count), name="out")

    def _mean_last(self, x: Any) -> Any:
        return self._mean(self.sizes["N"], lambda i, r: x[i, r])

    def _mean_first(self, x: Any) -> Any:
        return self._mean(self.sizes["B"], lambda i, r: x[r, i])

    def _max_last(self, x: Any) -> Any:
        (r,) = self._axes(self.sizes["N"])
        return self.te.compute(self.shape, lambda i: self.te.max(x[i, r], axis=r), name="out")

    def _transpose(self, x: Any) -> Any:
        return self.te.compute(self.shape, lambda i, j: x[j, i], name="out")

    # ---------------------------------------------------------------- products

    def _product(self, shape: tuple[int, ...], over: int, term: Any, name: str) -> Any:
        """Sum of products over one axis; `term(*indices, r)`."""
        (r,) = self._axes(over)
        return self.te.compute(shape, lambda *i: self.te.sum(term(*i, r), axis=r), name=name)

    def _matmul(self, a: Any, b: Any) -> Any:
        return self._product(self.shape, self.sizes["K"], lambda i, j, r: a[i, r] * b[r, j], "out")

    def _bmm(self, a: Any, b: Any) -> Any:
        return self._product(self.shape, self.sizes["K"], lambda n, i, j, r: a[n, i, r] * b[n, r, j], "out")

    def _gemv(self, a: Any, x: Any) -> Any:
        return self._product(self.shape, self.sizes["N"], lambda i, r: a[i, r] * x[r], "out")

    def _conv1x1(self, x: Any, w: Any) -> Any:
        return self._product(
            self.shape, self.sizes["C"], lambda n, o, h, v, r: w[o, r] * x[n, r, h, v], "out"
        )

    def _conv3x3(self, x: Any, w: Any) -> Any:
        return self.topi.nn.conv2d_nchw(x, w, 1, 1, 1)

    def _dwconv3x3(self, x: Any, w: Any) -> Any:
        padded = self.topi.nn.pad(x, [0, 0, 1, 1], name="padded")
        r, s = self._axes(3, 3)
        return self.te.compute(
            self.shape,
            lambda n, c, i, j: self.te.sum(padded[n, c, i + r, j + s] * w[c, r, s], axis=[r, s]),
            name="out",
        )

    def _maxpool2(self, x: Any) -> Any:
        r, s = self._axes(2, 2)
        return self.te.compute(
            self.shape,
            lambda n, c, i, j: self.te.max(x[n, c, 2 * i + r, 2 * j + s], axis=[r, s]),
            name="out",
        )

    def _ffn_swiglu(self, x: Any, w1: Any, w3: Any, w2: Any) -> Any:
        rows, d, hidden = (self.sizes[n] for n in "BDH")
        up = [
            self._product((rows, hidden), d, lambda i, j, r, w=w: x[i, r] * w[r, j], name)
            for w, name in ((w1, "a"), (w3, "b"))
        ]
        gated = self.te.compute(
            (rows, hidden),
            lambda i, j: up[0][i, j] * self._sigmoid_of(up[0][i, j]) * up[1][i, j],
            name="gated",
        )
        return self._product(self.shape, hidden, lambda i, j, r: gated[i, r] * w2[r, j], "out")

    def _attention(self, q: Any, k: Any, v: Any) -> Any:
        b, s, d = (self.sizes[n] for n in "BSD")
        scores = self._product((b, s, s), d, lambda n, i, j, r: q[n, i, r] * k[n, j, r], "scores")
        scale = self._f(1 / math.sqrt(d))
        scaled = self.te.compute((b, s, s), lambda n, i, j: scores[n, i, j] * scale, name="scaled")
        weights = self.topi.nn.softmax(scaled, axis=-1)
        return self._product(self.shape, s, lambda n, i, j, r: weights[n, i, r] * v[n, r, j], "out")
