"""The kernels of the suite as algorithms of Halide, without a schedule.

Dimension 0 is the innermost one: NumPy's [i, j] is Halide's (j, i).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchmarks.peers.references import EPSILON, GELU_CUBE, GELU_SCALE
from benchmarks.suite import Benchmark


class Algorithm:
    """What a kernel computes, in Halide's language; one method a kernel."""

    def __init__(self, halide: Any, b: Benchmark, images: list[Any]) -> None:
        self.hl, self.b, self.images = halide, b, images
        self.sizes = b.sizes
        self.x, self.y, self.z, self.w = (halide.Var(n) for n in "xyzw")

    def written(self) -> Any:
        """Return the function of the output."""
        simple = self._elementwise().get(self.b.kernel)
        if simple is None:
            return getattr(self, f"_{self.b.kernel}")(*self.images)
        out = self.hl.Func("out")
        out[self.x, self.y] = simple(*(image[self.x, self.y] for image in self.images))
        return out

    def _f(self, value: float) -> Any:
        return self.hl.f32(value)

    def _sigmoid(self, e: Any) -> Any:
        return self._f(1) / (self._f(1) + self.hl.exp(-e))

    def _elementwise(self) -> dict[str, Callable[..., Any]]:
        hl, f, sigmoid = self.hl, self._f, self._sigmoid
        return {
            "add": lambda x, y: x + y,
            "mul": lambda x, y: x * y,
            "relu": lambda x: hl.max(x, f(0)),
            "gelu": lambda x: f(0.5) * x * (f(1) + hl.tanh(f(GELU_SCALE) * (x + f(GELU_CUBE) * x * x * x))),
            "sigmoid": sigmoid,
            "swish": lambda x: x * sigmoid(x),
            "swiglu": lambda a, b: a * sigmoid(a) * b,
        }

    def _over(self, *extents: int) -> Any:
        return self.hl.RDom([(0, n) for n in extents])

    def _reduced(self, at: tuple[Any, ...], term: Any, largest: bool = False) -> Any:
        """Return a function of `at`: the sum of a term over its reduction domain, or the largest one."""
        made, index = self.hl.Func("reduced"), at if len(at) > 1 else at[0]
        made[index] = self._f(-3.4e38 if largest else 0)
        if largest:
            made[index] = self.hl.max(made[index], term)
        else:
            made[index] += term
        return made

    def _as_output(self, at: tuple[Any, ...], value: Any) -> Any:
        out = self.hl.Func("out")
        out[at if len(at) > 1 else at[0]] = value
        return out

    def _bias_relu(self, x: Any, b: Any) -> Any:
        at = (self.x, self.y)
        return self._as_output(at, self.hl.max(x[at] + b[self.x], self._f(0)))

    def _softmax(self, x: Any) -> Any:
        at, r = (self.x, self.y), self._over(self.sizes["N"])
        largest = self._reduced((self.y,), x[r.x, self.y], largest=True)
        e = self._as_output(at, self.hl.exp(x[at] - largest[self.y]))
        total = self._reduced((self.y,), e[r.x, self.y])
        return self._as_output(at, e[at] / total[self.y])

    def _inverse_root(self, squares: Any, epsilon: float) -> Any:
        mean = squares[self.y] * self._f(1 / self.sizes["N"])
        return self._as_output((self.y,), self._f(1) / self.hl.sqrt(mean + self._f(epsilon)))

    def _layernorm(self, x: Any, g: Any, b: Any) -> Any:
        at, r, y = (self.x, self.y), self._over(self.sizes["N"]), self.y
        mean = self._reduced((y,), x[r.x, y])[y] * self._f(1 / self.sizes["N"])
        squares = self._reduced((y,), (x[r.x, y] - mean) * (x[r.x, y] - mean))
        root = self._inverse_root(squares, EPSILON["layernorm"])
        return self._as_output(at, (x[at] - mean) * root[y] * g[self.x] + b[self.x])

    def _rmsnorm(self, x: Any, g: Any) -> Any:
        at, r, y = (self.x, self.y), self._over(self.sizes["N"]), self.y
        root = self._inverse_root(self._reduced((y,), x[r.x, y] * x[r.x, y]), EPSILON["rmsnorm"])
        return self._as_output(at, x[at] * root[y] * g[self.x])

    def _batchnorm(self, x: Any, g: Any, b: Any, mean: Any, var: Any) -> Any:
        at, c = (self.x, self.y, self.z, self.w), self.z
        scale = self._as_output((c,), g[c] / self.hl.sqrt(var[c] + self._f(EPSILON["batchnorm"])))
        shift = self._as_output((c,), b[c] - mean[c] * scale[c])
        return self._as_output(at, x[at] * scale[c] + shift[c])

    def _mean_last(self, x: Any) -> Any:
        total = self._reduced((self.x,), x[self._over(self.sizes["N"]).x, self.x])
        return self._as_output((self.x,), total[self.x] * self._f(1 / self.sizes["N"]))

    def _mean_first(self, x: Any) -> Any:
        total = self._reduced((self.x,), x[self.x, self._over(self.sizes["B"]).x])
        return self._as_output((self.x,), total[self.x] * self._f(1 / self.sizes["B"]))

    def _max_last(self, x: Any) -> Any:
        largest = self._reduced((self.x,), x[self._over(self.sizes["N"]).x, self.x], largest=True)
        return self._as_output((self.x,), largest[self.x])

    def _transpose(self, x: Any) -> Any:
        return self._as_output((self.x, self.y), x[self.y, self.x])

    def _product(self, a: Any, b: Any, columns: Any, rows: Any, over: int) -> Any:
        r = self._over(over)
        return self._reduced((columns, rows), a[r.x, rows] * b[columns, r.x])

    def _matmul(self, a: Any, b: Any) -> Any:
        at = (self.x, self.y)
        return self._as_output(at, self._product(a, b, *at, self.sizes["K"])[at])

    def _bmm(self, a: Any, b: Any) -> Any:
        at, r = (self.x, self.y, self.z), self._over(self.sizes["K"])
        total = self._reduced(at, a[r.x, self.y, self.z] * b[self.x, r.x, self.z])
        return self._as_output(at, total[at])

    def _gemv(self, a: Any, x: Any) -> Any:
        r = self._over(self.sizes["N"])
        return self._as_output((self.x,), self._reduced((self.x,), a[r.x, self.x] * x[r.x])[self.x])

    def _padded(self, x: Any) -> Any:
        ranges = [(0, self.sizes[n]) for n in "WHCN"]
        return self.hl.BoundaryConditions.constant_exterior(x, self._f(0), ranges)

    def _conv3x3(self, x: Any, w: Any) -> Any:
        at, r, seen = (self.x, self.y, self.z, self.w), self._over(3, 3, self.sizes["C"]), self._padded(x)
        term = seen[self.x + r.x - 1, self.y + r.y - 1, r.z, self.w] * w[r.x, r.y, r.z, self.z]
        return self._as_output(at, self._reduced(at, term)[at])

    def _dwconv3x3(self, x: Any, w: Any) -> Any:
        at, r, seen = (self.x, self.y, self.z, self.w), self._over(3, 3), self._padded(x)
        term = seen[self.x + r.x - 1, self.y + r.y - 1, self.z, self.w] * w[r.x, r.y, self.z]
        return self._as_output(at, self._reduced(at, term)[at])

    def _conv1x1(self, x: Any, w: Any) -> Any:
        at, r = (self.x, self.y, self.z, self.w), self._over(self.sizes["C"])
        return self._as_output(at, self._reduced(at, x[self.x, self.y, r.x, self.w] * w[r.x, self.z])[at])

    def _maxpool2(self, x: Any) -> Any:
        at, hl = (self.x, self.y, self.z, self.w), self.hl
        taps = [x[2 * self.x + s, 2 * self.y + r, self.z, self.w] for r in (0, 1) for s in (0, 1)]
        return self._as_output(at, hl.max(hl.max(taps[0], taps[1]), hl.max(taps[2], taps[3])))

    def _ffn_swiglu(self, x: Any, w1: Any, w3: Any, w2: Any) -> Any:
        at, d = (self.x, self.y), self.sizes["D"]
        a, b = self._product(x, w1, *at, d), self._product(x, w3, *at, d)
        gated = self._as_output(at, a[at] * self._sigmoid(a[at]) * b[at])
        return self._as_output(at, self._product(gated, w2, *at, self.sizes["H"])[at])

    def _attention(self, q: Any, k: Any, v: Any) -> Any:
        at, row = (self.x, self.y, self.z), (self.y, self.z)
        d, s = self._over(self.sizes["D"]), self._over(self.sizes["S"])
        scores = self._reduced(at, q[d.x, self.y, self.z] * k[d.x, self.x, self.z])
        largest = self._reduced(row, scores[s.x, self.y, self.z], largest=True)
        scale = self._f(1 / math.sqrt(self.sizes["D"]))
        e = self._as_output(at, self.hl.exp((scores[at] - largest[row]) * scale))
        total = self._reduced(row, e[s.x, self.y, self.z])
        mixed = self._reduced(at, e[s.x, self.y, self.z] * v[self.x, s.x, self.z])
        return self._as_output(at, mixed[at] / total[row])
