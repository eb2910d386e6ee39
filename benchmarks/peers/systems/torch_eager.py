"""PyTorch, operator by operator, with `out=` where its public functions have it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.peers.peer import Peer, Prepared, Task, returned
from benchmarks.peers.references import EPSILON


class Eager(Peer):
    """Its products go to MKL, which takes 256-bit code on AMD processors, its convolutions to oneDNN."""

    modules = ("torch",)

    def __init__(self) -> None:
        self.torch: Any = import_module("torch")
        self.torch.set_grad_enabled(False)

    def version(self) -> str:
        return f"{self.torch.__version__}, {self.torch.backends.cpu.get_cpu_capability()}"

    def prepare(self, task: Task, threads: int) -> Prepared:
        self.torch.set_num_threads(threads)
        given = [self.torch.from_numpy(a) for a in task.inputs.values()]
        into = self._into(task.benchmark.kernel, given, self.torch.from_numpy(task.output))
        if into:
            return Prepared(into, lambda: task.output)
        call, kept = returned(functions(self.torch)[task.benchmark.kernel], *given)
        return Prepared(call, lambda: kept[0].numpy())  # type: ignore[attr-defined]

    def _into(self, kernel: str, given: list[Any], out: Any) -> Callable[[], object] | None:
        """Return a call that writes to `out`, None where PyTorch has no such function."""
        t = self.torch
        if kernel in ("add", "mul", "sigmoid", "softmax"):
            rest = (-1,) if kernel == "softmax" else ()
            return lambda: getattr(t, kernel)(*given, *rest, out=out)
        if kernel in ("matmul", "bmm", "gemv"):
            product = {"matmul": t.mm, "bmm": t.bmm, "gemv": t.mv}[kernel]
            return lambda: product(*given, out=out)
        if kernel in ("mean_last", "mean_first", "max_last"):
            axis = 0 if kernel == "mean_first" else -1
            reduce = t.amax if kernel == "max_last" else t.mean
            return lambda: reduce(given[0], axis, out=out)
        if kernel == "transpose":
            return lambda: out.copy_(given[0].t())
        return None


def functions(torch: Any) -> dict[str, Callable[..., Any]]:
    """Return the kernels of the suite as a user of PyTorch writes them."""
    f = torch.nn.functional
    return {
        "add": torch.add,
        "mul": torch.mul,
        "relu": f.relu,
        "gelu": lambda x: f.gelu(x, approximate="tanh"),
        "sigmoid": torch.sigmoid,
        "swish": f.silu,
        "bias_relu": lambda x, b: f.relu(x + b),
        "swiglu": lambda a, b: f.silu(a) * b,
        "softmax": lambda x: f.softmax(x, -1),
        "layernorm": lambda x, g, b: f.layer_norm(x, x.shape[-1:], g, b, EPSILON["layernorm"]),
        "rmsnorm": lambda x, g: f.rms_norm(x, x.shape[-1:], g, EPSILON["rmsnorm"]),
        "batchnorm": lambda x, g, b, mean, var: f.batch_norm(
            x, mean, var, g, b, training=False, eps=EPSILON["batchnorm"]
        ),
        "mean_last": lambda x: x.mean(-1),
        "mean_first": lambda x: x.mean(0),
        "max_last": lambda x: x.amax(-1),
        "transpose": lambda x: x.t().contiguous(),
        "matmul": torch.mm,
        "bmm": torch.bmm,
        "gemv": torch.mv,
        "conv3x3": lambda x, w: f.conv2d(x, w, padding=1),
        "conv1x1": lambda x, w: f.conv2d(x, w[:, :, None, None]),
        "dwconv3x3": lambda x, w: f.conv2d(x, w[:, None], padding=1, groups=x.shape[1]),
        "maxpool2": lambda x: f.max_pool2d(x, 2),
        "ffn_swiglu": lambda x, w1, w3, w2: (f.silu(x @ w1) * (x @ w3)) @ w2,
        "attention": lambda q, k, v: f.scaled_dot_product_attention(q[None], k[None], v[None])[0],
    }
