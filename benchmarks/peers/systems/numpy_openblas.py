"""NumPy as its users write a kernel: operations on whole arrays with `out`, OpenBLAS for products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.buffers import Array
from benchmarks.peers.peer import Peer, Prepared, Task
from benchmarks.peers.references import EPSILON, GELU_CUBE, GELU_SCALE, REFERENCES

F = np.float32


class NumPy(Peer):
    """Its arrays have no memory between operations but `out`; what has no `out` is allocated each time."""

    modules = ("numpy",)

    def version(self) -> str:
        config = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{np.__version__}, {config['name']} {config['version']}"

    def prepare(self, task: Task, threads: int) -> Prepared:
        given = list(task.inputs.values())
        kernel = KERNELS.get(task.benchmark.kernel)
        if kernel:
            return Prepared(lambda: kernel(task.output, *given), lambda: task.output)
        plain = REFERENCES[task.benchmark.kernel]
        return Prepared(lambda: np.copyto(task.output, plain(*given)), lambda: task.output)


def _exp_of_negative_plus_one(out: Array, x: Array) -> None:
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, F(1), out=out)


def _sigmoid(out: Array, x: Array) -> None:
    _exp_of_negative_plus_one(out, x)
    np.reciprocal(out, out=out)


def _swish(out: Array, x: Array) -> None:
    _exp_of_negative_plus_one(out, x)
    np.divide(x, out, out=out)


def _swiglu(out: Array, a: Array, b: Array) -> None:
    _swish(out, a)
    np.multiply(out, b, out=out)


def _gelu(out: Array, x: Array) -> None:
    np.multiply(x, x, out=out)
    np.multiply(out, F(GELU_CUBE * GELU_SCALE), out=out)
    np.add(out, F(GELU_SCALE), out=out)
    np.multiply(out, x, out=out)
    np.tanh(out, out=out)
    np.add(out, F(1), out=out)
    np.multiply(out, x, out=out)
    np.multiply(out, F(0.5), out=out)


def _bias_relu(out: Array, x: Array, b: Array) -> None:
    np.add(x, b, out=out)
    np.maximum(out, F(0), out=out)


def _softmax(out: Array, x: Array) -> None:
    np.subtract(x, x.max(-1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.multiply(out, 1 / out.sum(-1, keepdims=True), out=out)


def _mean_square(x: Array) -> Array:
    squares: Array = np.einsum("ij,ij->i", x, x)[:, None]
    return squares * F(1 / x.shape[1])


def _layernorm(out: Array, x: Array, g: Array, b: Array) -> None:
    np.subtract(x, x.mean(-1, keepdims=True), out=out)
    np.multiply(out, 1 / np.sqrt(_mean_square(out) + F(EPSILON["layernorm"])), out=out)
    np.multiply(out, g, out=out)
    np.add(out, b, out=out)


def _rmsnorm(out: Array, x: Array, g: Array) -> None:
    np.multiply(x, 1 / np.sqrt(_mean_square(x) + F(EPSILON["rmsnorm"])), out=out)
    np.multiply(out, g, out=out)


def _batchnorm(out: Array, x: Array, g: Array, b: Array, mean: Array, variance: Array) -> None:
    scale = g / np.sqrt(variance + F(EPSILON["batchnorm"]))
    np.multiply(x, scale[:, None, None], out=out)
    np.add(out, (b - mean * scale)[:, None, None], out=out)


def _maxpool(out: Array, x: Array) -> None:
    np.maximum(x[:, :, ::2, ::2], x[:, :, ::2, 1::2], out=out)
    np.maximum(out, x[:, :, 1::2, ::2], out=out)
    np.maximum(out, x[:, :, 1::2, 1::2], out=out)


def _pointwise(out: Array, x: Array, w: Array) -> None:
    n, c, h, width = x.shape
    np.matmul(w, x.reshape(n, c, h * width), out=out.reshape(n, -1, h * width))


def _ffn(out: Array, x: Array, w1: Array, w3: Array, w2: Array) -> None:
    hidden = x @ w1
    gated = np.empty_like(hidden)
    _swiglu(gated, hidden, x @ w3)
    np.matmul(gated, w2, out=out)


def _attention(out: Array, q: Array, k: Array, v: Array) -> None:
    scores = q @ k.swapaxes(-1, -2)
    scores *= F(1 / np.sqrt(q.shape[-1]))
    _softmax(scores, scores)
    np.matmul(scores, v, out=out)


KERNELS: dict[str, Callable[..., object]] = {
    "add": lambda out, x, y: np.add(x, y, out=out),
    "mul": lambda out, x, y: np.multiply(x, y, out=out),
    "relu": lambda out, x: np.maximum(x, F(0), out=out),
    "gelu": _gelu,
    "sigmoid": _sigmoid,
    "swish": _swish,
    "bias_relu": _bias_relu,
    "swiglu": _swiglu,
    "softmax": _softmax,
    "layernorm": _layernorm,
    "rmsnorm": _rmsnorm,
    "batchnorm": _batchnorm,
    "mean_last": lambda out, x: np.mean(x, axis=-1, out=out),
    "mean_first": lambda out, x: np.mean(x, axis=0, out=out),
    "max_last": lambda out, x: np.max(x, axis=-1, out=out),
    "transpose": lambda out, x: np.copyto(out, x.T),
    "matmul": lambda out, a, b: np.matmul(a, b, out=out),
    "bmm": lambda out, a, b: np.matmul(a, b, out=out),
    "gemv": lambda out, a, x: np.matmul(a, x, out=out),
    "conv1x1": _pointwise,
    "maxpool2": _maxpool,
    "ffn_swiglu": _ffn,
    "attention": _attention,
}
