"""The benchmark suite: which kernel of the library at which sizes, its work, its traffic, its inputs.

One record a benchmark. Work counts every + - * / max sqrt exp tanh as one operation and a fused
multiply-add as two; exp and tanh are counted apart as well, for they cost many. Traffic is what no program
can avoid: every f32 input read once, every f32 output written once.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

_TERM = re.compile(r"(\d*)([A-Z]*)")
_SIZE = re.compile(r"_([A-Z])([1-9]\d*)")
MOST_BYTES = 16 << 30
"""Of the arrays of a kernel at sizes that somebody names."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """Shapes and work of a kernel in terms of its sizes.

    Attributes:
        inputs, outputs: `name=extent,extent,...` each; an extent is a number, a size, or both, `2H`.
        flops, transcendental: sums of products such as `4BSSD+6BSS`.
    """

    group: str
    inputs: str
    outputs: str
    flops: str
    transcendental: str = "0"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One kernel at one set of sizes.

    Attributes:
        kernel: the file in the library, without its suffix.
        sizes: what `-D` has to say.
        inputs, outputs: shapes by buffer name, in the order of the kernel's header.
        flops, transcendental: operations, and how many of them are exp or tanh.
    """

    name: str
    kernel: str
    group: str
    sizes: Mapping[str, int]
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]
    flops: int
    transcendental: int

    @property
    def read_bytes(self) -> int:
        return 4 * sum(map(math.prod, self.inputs.values()))

    @property
    def write_bytes(self) -> int:
        return 4 * sum(map(math.prod, self.outputs.values()))

    def generate(self) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        """Return the inputs, normally distributed and the same in every run.

        A variance is kept above 1/2; a weight is divided by the root of its fan-in, so that what a layer
        yields is about as large as what it gets.
        """
        return {n: self._input(n, shape) for n, shape in self.inputs.items()}

    def _input(self, buffer: str, shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.float32]]:
        random = np.random.default_rng(zlib.crc32(f"{self.name}/{buffer}".encode()))
        values = random.standard_normal(shape, dtype=np.float32)
        if buffer == "var":
            return np.abs(values) + np.float32(0.5)
        if buffer.startswith("w") and len(shape) > 1:
            fan_in = shape[0] if self.kernel == "ffn_swiglu" else math.prod(shape[1:])
            return values * np.float32(1 / math.sqrt(fan_in))
        return values


_IMAGE = "x=N,C,H,W"
_QKV = "q=B,S,D k=B,S,D v=B,S,D"

KERNELS: dict[str, Kernel] = {
    "add": Kernel("elementwise", "x=M,N y=M,N", "z=M,N", "MN"),
    "mul": Kernel("elementwise", "x=M,N y=M,N", "z=M,N", "MN"),
    "relu": Kernel("elementwise", "x=M,N", "y=M,N", "MN"),
    "gelu": Kernel("elementwise", "x=M,N", "y=M,N", "9MN", "MN"),
    "sigmoid": Kernel("elementwise", "x=M,N", "y=M,N", "4MN", "MN"),
    "swish": Kernel("elementwise", "x=M,N", "y=M,N", "5MN", "MN"),
    "bias_relu": Kernel("elementwise", "x=M,N b=N", "y=M,N", "2MN"),
    "swiglu": Kernel("elementwise", "a=M,N b=M,N", "y=M,N", "6MN", "MN"),
    "softmax": Kernel("normalisation", "x=B,N", "y=B,N", "5BN", "BN"),
    "layernorm": Kernel("normalisation", "x=B,N g=N b=N", "y=B,N", "8BN"),
    "rmsnorm": Kernel("normalisation", "x=B,N g=N", "y=B,N", "4BN"),
    "batchnorm": Kernel("normalisation", f"{_IMAGE} g=C b=C mean=C var=C", "y=N,C,H,W", "2NCHW"),
    "mean_last": Kernel("reduction", "x=B,N", "y=B", "BN"),
    "mean_first": Kernel("reduction", "x=B,N", "y=N", "BN"),
    "max_last": Kernel("reduction", "x=B,N", "y=B", "BN"),
    "transpose": Kernel("layout", "x=M,N", "y=N,M", "0"),
    "matmul": Kernel("contraction", "a=M,K b=K,N", "c=M,N", "2MNK"),
    "bmm": Kernel("contraction", "a=B,M,K b=B,K,N", "c=B,M,N", "2BMNK"),
    "gemv": Kernel("contraction", "a=M,N x=N", "y=M", "2MN"),
    "conv3x3": Kernel("convolution", f"{_IMAGE} w=O,C,3,3", "y=N,O,H,W", "18NOHWC"),
    "conv1x1": Kernel("convolution", f"{_IMAGE} w=O,C", "y=N,O,H,W", "2NOHWC"),
    "dwconv3x3": Kernel("convolution", f"{_IMAGE} w=C,3,3", "y=N,C,H,W", "18NCHW"),
    "maxpool2": Kernel("convolution", "x=N,C,2H,2W", "y=N,C,H,W", "3NCHW"),
    "ffn_swiglu": Kernel("block", "x=B,D w1=D,H w3=D,H w2=H,D", "y=B,D", "6BDH+6BH", "BH"),
    "attention": Kernel("block", _QKV, "y=B,S,D", "4BSSD+6BSS", "BSS"),
}

_SIZES: dict[str, tuple[str, str]] = {
    "add_16": ("add", "M=1 N=16"),  # what a call costs
    "add_256x256": ("add", "M=256 N=256"),  # in the second-level cache
    "add_3072x4096": ("add", "M=3072 N=4096"),  # in main memory
    "mul_6x14336": ("mul", "M=6 N=14336"),
    "relu_4096x4096": ("relu", "M=4096 N=4096"),
    "gelu_512x3072": ("gelu", "M=512 N=3072"),
    "sigmoid_512x3072": ("sigmoid", "M=512 N=3072"),
    "swish_512x3072": ("swish", "M=512 N=3072"),
    "bias_relu_512x3072": ("bias_relu", "M=512 N=3072"),
    "swiglu_256x4096": ("swiglu", "M=256 N=4096"),
    "softmax_24576x512": ("softmax", "B=24576 N=512"),
    "softmax_4096x4096": ("softmax", "B=4096 N=4096"),
    "softmax_8x1000": ("softmax", "B=8 N=1000"),
    "layernorm_16384x1024": ("layernorm", "B=16384 N=1024"),
    "layernorm_512x768": ("layernorm", "B=512 N=768"),
    "layernorm_1x768": ("layernorm", "B=1 N=768"),
    "rmsnorm_512x4096": ("rmsnorm", "B=512 N=4096"),
    "batchnorm_8x64x300x300": ("batchnorm", "N=8 C=64 H=300 W=300"),
    "mean_last_8192x8192": ("mean_last", "B=8192 N=8192"),
    "mean_first_8192x8192": ("mean_first", "B=8192 N=8192"),
    "max_last_4096x4096": ("max_last", "B=4096 N=4096"),
    "transpose_4096x4096": ("transpose", "M=4096 N=4096"),
    "transpose_512x512": ("transpose", "M=512 N=512"),
    "matmul_768x1024x1024": ("matmul", "M=768 N=1024 K=1024"),
    "matmul_1024x1024x1024": ("matmul", "M=1024 N=1024 K=1024"),
    "matmul_256x256x256": ("matmul", "M=256 N=256 K=256"),
    "matmul_64x64x64": ("matmul", "M=64 N=64 K=64"),
    "bmm_192x256x128x256": ("bmm", "B=192 M=256 N=256 K=128"),
    "gemv_4096x4096": ("gemv", "M=4096 N=4096"),
    "conv3x3_8x3x224x224_16": ("conv3x3", "N=8 C=3 H=224 W=224 O=16"),
    "conv3x3_8x64x56x56_64": ("conv3x3", "N=8 C=64 H=56 W=56 O=64"),
    "conv1x1_8x64x56x56_256": ("conv1x1", "N=8 C=64 H=56 W=56 O=256"),
    "dwconv3x3_8x128x56x56": ("dwconv3x3", "N=8 C=128 H=56 W=56"),
    "maxpool2_8x64x112x112": ("maxpool2", "N=8 C=64 H=56 W=56"),
    "ffn_swiglu_64x256x1024": ("ffn_swiglu", "B=64 D=256 H=1024"),
    "attention_16x256x64": ("attention", "B=16 S=256 D=64"),
}


def benchmarks() -> tuple[Benchmark, ...]:
    """Return the suite in the order of its table."""
    return tuple(at_sizes(name, *given) for name, given in _SIZES.items())


def named(name: str) -> Benchmark:
    """Return a benchmark of the suite, or a kernel of it at other sizes: `matmul_M512_N512_K512`.

    Raises:
        ValueError: it is neither; says what a name is like.
    """
    if name in _SIZES:
        return at_sizes(name, *_SIZES[name])
    kernel = max((k for k in KERNELS if name.startswith(k)), key=len, default="")
    if not kernel:
        raise ValueError(f"the suite has no kernel that {name} begins with: {' '.join(KERNELS)}")
    spec = KERNELS[kernel]
    sizes = list(dict.fromkeys(re.findall("[A-Z]", spec.inputs + spec.outputs)))
    behind = name.removeprefix(kernel)
    given = _SIZE.findall(behind)
    if sorted(s for s, _ in given) != sorted(sizes) or _SIZE.sub("", behind):
        raise ValueError(
            f"{kernel} has the sizes {' '.join(sizes)}: {kernel}{''.join(f'_{s}64' for s in sizes)}"
        )
    made = at_sizes(name, kernel, " ".join(f"{s}={n}" for s, n in given))
    if made.read_bytes + made.write_bytes > MOST_BYTES:
        raise ValueError(f"{name} takes over {MOST_BYTES >> 30} GiB")
    return made


def at_sizes(name: str, kernel: str, given: str) -> Benchmark:
    """Return a kernel at sizes, written `M=4 N=8`."""
    sizes = {k: int(v) for k, _, v in (g.partition("=") for g in given.split())}
    spec = KERNELS[kernel]
    return Benchmark(
        name,
        kernel,
        spec.group,
        sizes,
        _shapes(spec.inputs, sizes),
        _shapes(spec.outputs, sizes),
        _count(spec.flops, sizes),
        _count(spec.transcendental, sizes),
    )


def _shapes(text: str, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    pairs = (b.partition("=") for b in text.split())
    return {name: tuple(_count(e, sizes) for e in extents.split(",")) for name, _, extents in pairs}


def _count(text: str, sizes: Mapping[str, int]) -> int:
    """Value of a sum of products, `4BSSD+6BSS`: a number, then sizes of one letter."""
    total = 0
    for term in text.split("+"):
        found = _TERM.fullmatch(term)
        assert found, term
        total += int(found[1] or 1) * math.prod(sizes[letter] for letter in found[2])
    return total
