"""What the kernels of the suite compute, in float64 with NumPy: every element, in seconds at full size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.suite import Benchmark

Array = Any

EPSILON = {"layernorm": 1e-5, "rmsnorm": 1e-6, "batchnorm": 1e-5}
GELU_SCALE, GELU_CUBE = 0.7978845608028654, 0.044715
"""sqrt(2 / pi) and the factor of the cube in the form of GELU with tanh."""

TOLERANCE = 1e-4
"""Of an error, in parts of the largest value of the reference: fast paths reorder sums, none loses more."""

WRONG = "wrong result"


def reference(b: Benchmark, inputs: dict[str, Array]) -> Array:
    """Return the output as float32, computed in float64."""
    wide = [values.astype(np.float64) for values in inputs.values()]
    (shape,) = b.outputs.values()
    found: Array = REFERENCES[b.kernel](*wide)
    return np.ascontiguousarray(found, np.float32).reshape(shape)


def error(found: Array, expected: Array) -> float:
    """Return the largest error over the largest value of the reference; inf where a value is not finite."""
    found = np.asarray(found).reshape(-1)
    expected = expected.reshape(-1)
    if found.size != expected.size or not np.isfinite(found).all():
        return float("inf")
    worst, largest = (float(np.abs(v).max()) for v in (found - expected, expected))
    return worst / largest if largest else worst


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    e /= e.sum(-1, keepdims=True)
    return e


def _gelu(x: Array) -> Array:
    return x / 2 * (1 + np.tanh(GELU_SCALE * (x + GELU_CUBE * x**3)))


def _layernorm(x: Array, g: Array, b: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred / np.sqrt(variance + EPSILON["layernorm"]) * g + b


def _rmsnorm(x: Array, g: Array) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON["rmsnorm"]) * g


def _batchnorm(x: Array, *by_channel: Array) -> Array:
    g, b, mean, variance = (v[:, None, None] for v in by_channel)
    return (x - mean) / np.sqrt(variance + EPSILON["batchnorm"]) * g + b


def _around(x: Array) -> list[Array]:
    """The image moved by each tap of a 3 x 3 filter, zeros coming in, row by row of the filter."""
    h, w = x.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return [padded[:, :, r : r + h, s : s + w] for r in range(3) for s in range(3)]


def _pointwise(x: Array, w: Array) -> Array:
    n, c, height, width = x.shape
    return (w @ x.reshape(n, c, -1)).reshape(n, -1, height, width)


def _conv3x3(x: Array, w: Array) -> Array:
    taps = w.reshape(*w.shape[:2], 9)
    return sum_of(_pointwise(seen, taps[:, :, t]) for t, seen in enumerate(_around(x)))


def _depthwise(x: Array, w: Array) -> Array:
    taps = w.reshape(-1, 9)
    return sum_of(seen * taps[:, t, None, None] for t, seen in enumerate(_around(x)))


def sum_of(terms: Any) -> Array:
    """Return the sum of arrays, one at a time in memory."""
    total: Array = 0 + next(terms)
    for term in terms:
        total += term
    return total


def _maxpool(x: Array) -> Array:
    rows = np.maximum(x[:, :, ::2], x[:, :, 1::2])
    return np.maximum(rows[..., ::2], rows[..., 1::2])


def _swiglu(a: Array, b: Array) -> Array:
    return a * _sigmoid(a) * b


def _attention(q: Array, k: Array, v: Array) -> Array:
    return _softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


REFERENCES: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "mul": np.multiply,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": _gelu,
    "sigmoid": _sigmoid,
    "swish": lambda x: x * _sigmoid(x),
    "bias_relu": lambda x, b: np.maximum(x + b, 0),
    "swiglu": _swiglu,
    "softmax": _softmax,
    "layernorm": _layernorm,
    "rmsnorm": _rmsnorm,
    "batchnorm": _batchnorm,
    "mean_last": lambda x: x.mean(-1),
    "mean_first": lambda x: x.mean(0),
    "max_last": lambda x: x.max(-1),
    "transpose": lambda x: x.T,
    "matmul": np.matmul,
    "bmm": np.matmul,
    "gemv": np.matmul,
    "conv3x3": _conv3x3,
    "conv1x1": _pointwise,
    "dwconv3x3": _depthwise,
    "maxpool2": _maxpool,
    "ffn_swiglu": lambda x, w1, w3, w2: _swiglu(x @ w1, x @ w3) @ w2,
    "attention": _attention,
}
