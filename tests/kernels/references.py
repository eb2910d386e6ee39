"""NumPy references of the library: what each kernel computes, written without our code.

A reference takes the buffers and sizes that it names as arguments, floats as float64 (longdouble for f64
kernels) and integers as int64, and returns the outputs in the order of the kernel's header: one array, or
a tuple of them. `call` passes the arguments by name; `literal` rounds a constant to the type that it has in
the kernel.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np

Array = Any
Literal = Callable[[float], Any]


def call(
    function: Callable[..., Any], inputs: Mapping[str, Array], sizes: Mapping[str, int], literal: Literal
) -> tuple[Array, ...]:
    """Return the outputs of a reference, in the order of its kernel's header."""
    named = {**sizes, **inputs, "literal": literal}
    found = function(**{n: named[n] for n in inspect.signature(function).parameters})
    return found if isinstance(found, tuple) else (found,)


# ---------------------------------------------------------------- elementwise


def erf(x: Array) -> Array:
    """The error function, to the last digits of the type of `x`."""
    if x.dtype == np.float64:
        return np.vectorize(math.erf, otypes=[np.float64])(x)
    with mpmath.workdps(25):
        exact = [np.longdouble(mpmath.nstr(mpmath.erf(mpmath.mpf(str(v))), 22)) for v in x.flat]
    return np.array(exact).reshape(x.shape)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def gelu(x: Array, literal: Literal) -> Array:
    return x / 2 * (1 + np.tanh(literal(0.7978845608028654) * (x + literal(0.044715) * x**3)))


def to_i8(x: Array) -> Array:
    """Round to nearest, ties to even, and clamp."""
    return np.clip(np.rint(x), -128, 127).astype(np.int8)


# ---------------------------------------------------------------- rows


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x: Array) -> Array:
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def normalised(x: Array, epsilon: Any) -> Array:
    """Mean 0 and variance 1 over the last axis."""
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)


def layernorm(x: Array, g: Array, b: Array, literal: Literal) -> Array:
    return normalised(x, literal(1e-5)) * g + b


def rmsnorm(x: Array, g: Array, literal: Literal) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + literal(1e-6)) * g


def batchnorm(x: Array, g: Array, b: Array, mean: Array, var: Array, literal: Literal) -> Array:
    g, b, mean, var = (v[:, None] for v in (g, b, mean, var))
    return (x - mean) / np.sqrt(var + literal(1e-5)) * g + b


def groupnorm(x: Array, g: Array, b: Array, G: int, literal: Literal) -> Array:
    grouped = normalised(x.reshape(x.shape[0], G, -1), literal(1e-5)).reshape(x.shape)
    return grouped * g[:, None] + b[:, None]


def cross_entropy(x: Array, t: Array) -> Array:
    return -log_softmax(x)[np.arange(len(t)), t].mean()


# ---------------------------------------------------------------- convolution and pooling


def windows(x: Array, extent: int, stride: int, padding: int, dilation: int, fill: float) -> Array:
    """All windows over the dimensions behind the first two; shape (N, C, places..., taps...)."""
    d = x.ndim - 2
    for axis in range(2, 2 + 2 * d, 2):
        n = x.shape[axis]
        places = (n + 2 * padding - dilation * (extent - 1) - 1) // stride + 1
        at = np.arange(places)[:, None] * stride + np.arange(extent) * dilation - padding
        inside = ((at >= 0) & (at < n)).reshape(at.shape + (1,) * (x.ndim - axis - 1))
        x = np.where(inside, np.take(x, at.clip(0, n - 1), axis), fill)
    return x.transpose(0, 1, *range(2, 2 + 2 * d, 2), *range(3, 3 + 2 * d, 2))


def conv(x: Array, w: Array, G: int, S: int, P: int, D: int) -> Array:
    """Cross-correlation of x (N, G*C, ...) with w (G*O, C, R, ...)."""
    d = x.ndim - 2
    seen = windows(x, w.shape[-1], S, P, D, 0)
    seen = seen.reshape(len(x), G, -1, *seen.shape[2:])
    filters = w.reshape(G, -1, *w.shape[1:])
    places, taps = "xyz"[:d], "rst"[:d]
    out = np.einsum(f"ngc{places}{taps},goc{taps}->ngo{places}", seen, filters)
    return out.reshape(len(x), -1, *out.shape[3:])


def depthwise(x: Array, w: Array, S: int, P: int) -> Array:
    return np.einsum("ncxyrs,crs->ncxy", windows(x, w.shape[-1], S, P, 1, 0), w)


def square(x: Array) -> Array:
    """The 2 x 2 squares of (N, C, 2H, 2W) along a last axis."""
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).swapaxes(3, 4).reshape(n, c, h // 2, w // 2, 4)


# ---------------------------------------------------------------- blocks and training


def attention(q: Array, k: Array, v: Array, causal: bool) -> Array:
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(q.shape[-1]))
    if causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


def rope(x: Array, c: Array, s: Array) -> Array:
    z = (x[..., : x.shape[-1] // 2] + 1j * x[..., x.shape[-1] // 2 :]) * (c + 1j * s)[:, None, :]
    return np.concatenate([z.real, z.imag], -1)


def adam(
    g: Array, lr: Array, t: Array, p: Array, m: Array, v: Array, literal: Literal
) -> tuple[Array, Array, Array]:
    """Algorithm 1 as printed: bias-corrected moments, epsilon beside their root."""
    wide = np.longdouble
    m = literal(0.9) * m + literal(0.1) * g
    v = literal(0.999) * v + literal(0.001) * g * g
    corrected, root = m / (1 - wide(0.9) ** t), np.sqrt(v / (1 - wide(0.999) ** t))
    return p - lr * corrected / (root + wide(1e-8)), m, v


# ---------------------------------------------------------------- grids


def laplace(x: Array) -> Array:
    """Sum of the neighbours in all directions minus the centre as often; the border is cut off."""
    inner = (slice(1, -1),) * x.ndim
    total = np.zeros_like(x[inner])
    for axis in range(x.ndim):
        for shift in (slice(None, -2), slice(2, None)):
            total = total + x[(*inner[:axis], shift, *inner[axis + 1 :])] - x[inner]
    return total


def stencil(x: Array, a: Array) -> Array:
    return x[(slice(1, -1),) * x.ndim] + a * laplace(x)


def fft_stage(xr: Array, xi: Array, wr: Array, wi: Array) -> tuple[Array, Array]:
    top, bottom = np.split(xr + 1j * xi, 2, -1)
    turned = bottom * (wr + 1j * wi)
    y = np.concatenate([top + turned, top - turned], -1)
    return y.real, y.imag


def haar(x: Array, literal: Literal) -> tuple[Array, Array]:
    even, odd = x[:, ::2], x[:, 1::2]
    return (even + odd) * literal(0.7071067811865476), (even - odd) * literal(0.7071067811865476)


def resize_bilinear(x: Array, OH: int, OW: int) -> Array:
    """Linear interpolation between samples at half-integer coordinates, constant beyond the outermost."""

    def along(values: Array, size: int) -> Array:
        n = values.shape[-1]
        at = ((2 * np.arange(size) + 1) * n - size).clip(0, 2 * size * (n - 1))  # in units of 1 / (2 size)
        low = at // (2 * size)
        high = np.minimum(low + 1, n - 1)
        share = (at % (2 * size)).astype(x.dtype) / (2 * size)
        return (1 - share) * values[..., low] + share * values[..., high]

    return along(along(x, OW).swapaxes(-1, -2), OH).swapaxes(-1, -2)


def resize_nearest(x: Array, OH: int, OW: int) -> Array:
    rows, columns = (np.arange(o) * n // o for o, n in ((OH, x.shape[1]), (OW, x.shape[2])))
    return x[:, rows][:, :, columns]


# ---------------------------------------------------------------- the table

REFERENCES: dict[str, Callable[..., Any]] = {
    "adam": adam,
    "add": lambda x, y: x + y,
    "add_bf16": lambda x, y: x + y,
    "add_broadcast": lambda x, y: x + y,
    "add_f16": lambda x, y: x + y,
    "argmax": lambda x: x.argmax(-1),
    "attention": lambda q, k, v: attention(q, k, v, causal=False),
    "avgpool2": lambda x: square(x).mean(-1),
    "avgpool2d": lambda x, R, S, P: windows(x, R, S, P, 1, 0).mean((-1, -2)),
    "axpy": lambda a, x, y: a * x + y,
    "batchnorm": batchnorm,
    "bias_relu": lambda x, b: relu(x + b),
    "bmm": lambda a, b: a @ b,
    "causal_attention": lambda q, k, v: attention(q, k, v, causal=True),
    "concat": lambda x, y: np.concatenate([x, y], -1),
    "conv1d": conv,
    "conv1x1": lambda x, w: w @ x,
    "conv2d": conv,
    "conv3d": conv,
    "conv3x3": lambda x, w: conv(x, w, G=1, S=1, P=1, D=1),
    "cross_entropy": cross_entropy,
    "cumsum": lambda x: x.cumsum(-1),
    "dot": lambda x, y: (x * y).sum(),
    "dot_f64": lambda x, y: (x * y).sum(),
    "dwconv2d": depthwise,
    "dwconv3x3": lambda x, w: depthwise(x, w, S=1, P=1),
    "embedding": lambda table, idx: table[idx],
    "ffn_swiglu": lambda x, w1, w3, w2: (silu(x @ w1) * (x @ w3)) @ w2,
    "fft_stage": fft_stage,
    "fill": lambda v, M, N: np.full((M, N), v),
    "gelu": gelu,
    "gelu_erf": lambda x, literal: x / 2 * (1 + erf(x * literal(0.7071067811865476))),
    "gelu_f16": gelu,
    "gemm_f64": lambda alpha, beta, a, b, c: alpha * (a @ b) + beta * c,
    "gemv": lambda a, x: a @ x,
    "groupnorm": groupnorm,
    "haar": haar,
    "layernorm": layernorm,
    "log_softmax": log_softmax,
    "matmul": lambda a, b: a @ b,
    "matmul_bf16": lambda a, b: a @ b,
    "matmul_bias_gelu": lambda a, b, bias, literal: gelu(a @ b + bias, literal),
    "matmul_bias_relu": lambda a, b, bias: relu(a @ b + bias),
    "matmul_f16": lambda a, b: a @ b,
    "matmul_i8": lambda a, b, scale: to_i8((a @ b) * scale),
    "matmul_nt": lambda a, b: a @ b.T,
    "matmul_tn": lambda a, b: a.T @ b,
    "matmul_tt": lambda a, b: a.T @ b.T,
    "max_all": lambda x: x.max(),
    "max_first": lambda x: x.max(0),
    "max_last": lambda x: x.max(-1),
    "maxpool2": lambda x: square(x).max(-1),
    "maxpool2d": lambda x, R, S, P: windows(x, R, S, P, 1, -np.inf).max((-1, -2)),
    "mean_all": lambda x: x.mean(),
    "mean_first": lambda x: x.mean(0),
    "mean_last": lambda x: x.mean(-1),
    "mul": lambda x, y: x * y,
    "online_softmax": softmax,
    "outer": lambda x, y: x[:, None] * y,
    "quantize_i8": lambda x, scale: to_i8(x / scale),
    "relu": relu,
    "resize_bilinear": resize_bilinear,
    "resize_nearest": resize_nearest,
    "rmsnorm": rmsnorm,
    "rmsnorm_bf16": rmsnorm,
    "rope": rope,
    "sigmoid": sigmoid,
    "silu": silu,
    "silu_bf16": silu,
    "softmax": softmax,
    "softmax_f16": softmax,
    "stencil5": stencil,
    "stencil7": stencil,
    "sum_all": lambda x: x.sum(),
    "sum_first": lambda x: x.sum(0),
    "sum_last": lambda x: x.sum(-1),
    "swiglu": lambda a, b: silu(a) * b,
    "swish": silu,
    "transpose": lambda x: x.T,
    "var_all": lambda x: x.var(),
    "var_first": lambda x: x.var(0),
    "var_last": lambda x: x.var(-1),
}
