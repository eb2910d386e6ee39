"""JAX: jit, compiled ahead of time for the shapes; each call waits for its result."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.peer import Peer, Prepared, Task
from benchmarks.peers.references import EPSILON


class Jax(Peer):
    """Its threads are as many as the processors that the process may use when it is imported."""

    modules = ("jax",)
    distribution = "jax"

    def __init__(self) -> None:
        self.jax: Any = import_module("jax")
        self.jax.devices()

    def prepare(self, task: Task, threads: int) -> Prepared:
        given = [self.jax.numpy.asarray(a) for a in task.inputs.values()]
        compiled = self.jax.jit(functions(self.jax)[task.benchmark.kernel]).lower(*given).compile()
        kept: list[Any] = [None]

        def call() -> None:
            kept[0] = None
            kept[0] = compiled(*given)
            kept[0].block_until_ready()

        return Prepared(call, lambda: np.asarray(kept[0]))


def functions(jax: Any) -> dict[str, Callable[..., Any]]:
    """Return the kernels of the suite as a user of JAX writes them."""
    np_, nn, lax = jax.numpy, jax.nn, jax.lax

    def rsqrt_of_mean_square(x: Any, epsilon: float) -> Any:
        return lax.rsqrt((x * x).mean(-1, keepdims=True) + epsilon)

    def layernorm(x: Any, g: Any, b: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * rsqrt_of_mean_square(centred, EPSILON["layernorm"]) * g + b

    def batchnorm(x: Any, g: Any, b: Any, mean: Any, var: Any) -> Any:
        scale = g * lax.rsqrt(var + EPSILON["batchnorm"])
        return x * scale[:, None, None] + (b - mean * scale)[:, None, None]

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = np_.einsum("bid,bjd->bij", q, k) / math.sqrt(q.shape[-1])
        return nn.softmax(scores, -1) @ v

    def conv(x: Any, w: Any, groups: int = 1) -> Any:
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"), feature_group_count=groups
        )

    return {
        "add": np_.add,
        "mul": np_.multiply,
        "relu": lambda x: np_.maximum(x, 0),
        "gelu": lambda x: nn.gelu(x, approximate=True),
        "sigmoid": nn.sigmoid,
        "swish": nn.silu,
        "bias_relu": lambda x, b: np_.maximum(x + b, 0),
        "swiglu": lambda a, b: nn.silu(a) * b,
        "softmax": lambda x: nn.softmax(x, -1),
        "layernorm": layernorm,
        "rmsnorm": lambda x, g: x * rsqrt_of_mean_square(x, EPSILON["rmsnorm"]) * g,
        "batchnorm": batchnorm,
        "mean_last": lambda x: x.mean(-1),
        "mean_first": lambda x: x.mean(0),
        "max_last": lambda x: x.max(-1),
        "transpose": lambda x: x.T,
        "matmul": np_.matmul,
        "bmm": np_.matmul,
        "gemv": np_.matmul,
        "conv3x3": conv,
        "conv1x1": lambda x, w: conv(x, w[:, :, None, None]),
        "dwconv3x3": lambda x, w: conv(x, w[:, None], x.shape[1]),
        "maxpool2": lambda x: lax.reduce_window(x, -np_.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
        "ffn_swiglu": lambda x, w1, w3, w2: (nn.silu(x @ w1) * (x @ w3)) @ w2,
        "attention": attention,
    }
