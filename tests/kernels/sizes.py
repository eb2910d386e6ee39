"""Which sizes of each kernel a user may vary, under which constraints, and the odd values that are tested.

Any size that is not computed from others may vary. It is tested at 1 (all sizes at once), at a prime (all at
once, in the table below) and at 1000 (each by itself, the others at their primes), so that a test executes
at most about 2 * 10^6 statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Vary:
    """The sizes of one kernel.

    Attributes:
        prime: every size that may vary, at a small prime.
        large: for a size at 1000, the values of others that keep it legal and small. It may lower the size
            itself where 1000 would take too long.
        constraint: what a user has to observe beyond "at least 1"; "" is nothing.
    """

    prime: Mapping[str, int]
    large: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    constraint: str = ""


def odd_sizes(kernel: str) -> Iterator[dict[str, int]]:
    """Yield the size sets to test: all 1, all prime, then each size at 1000."""
    vary = SIZES[kernel]
    yield dict.fromkeys(vary.prime, 1)
    yield dict(vary.prime)
    for size in vary.prime:
        yield {**vary.prime, size: 1000, **vary.large.get(size, {})}


def _same(kernels: str, **prime: int) -> dict[str, Vary]:
    return {k: Vary(prime) for k in kernels.split()}


_IMAGE = {"N": 2, "C": 3, "H": 5, "W": 7}
_FITS = "the window fits: H + 2 P and W + 2 P are at least R"
_WINDOW = Vary(
    {**_IMAGE, "R": 3, "S": 2, "P": 2},
    {"R": {"N": 1, "C": 1, "P": 499, "S": 13}, "P": {"S": 1009}},
    _FITS,
)
_DILATED = "the dilated filter fits: every extent + 2 P is at least D (R - 1) + 1"

SIZES: dict[str, Vary] = {
    **_same("add add_bf16 add_f16 bias_relu fill gelu gelu_erf gelu_f16 mul outer quantize_i8", M=7, N=37),
    **_same("relu sigmoid silu silu_bf16 swiglu swish transpose", M=7, N=37),
    **_same("log_softmax layernorm online_softmax rmsnorm rmsnorm_bf16 softmax softmax_f16", B=7, N=37),
    **_same("argmax cumsum max_all max_first max_last mean_all mean_first mean_last", B=7, N=37),
    **_same("sum_all sum_first sum_last var_all var_first var_last", B=7, N=37),
    **_same("matmul matmul_nt matmul_tn matmul_tt matmul_bf16 matmul_bias_gelu", M=7, N=37, K=5),
    **_same("matmul_bias_relu matmul_f16 matmul_i8 gemm_f64", M=7, N=37, K=5),
    **_same("adam axpy dot dot_f64", N=37),
    **_same("add_broadcast", B=3, M=5, N=37),
    **_same("batchnorm", **_IMAGE),
    **_same("bmm", B=3, M=5, N=19, K=7),
    **_same("concat", B=7, M=19, N=37),
    **_same("conv1x1 conv3x3", **_IMAGE, O=2),
    **_same("cross_entropy", B=7, C=37),
    **_same("dwconv3x3 avgpool2 maxpool2", **_IMAGE),
    **_same("embedding", V=13, E=37, N=7),
    **_same("ffn_swiglu", B=5, D=17, H=37),
    **_same("fft_stage", G=7, L=37),
    **_same("gemv", M=7, N=37),
    **_same("groupnorm", N=2, G=3, C=2, H=5, W=7),
    **_same("haar", B=7, N=37),
    **_same("resize_bilinear resize_nearest", C=3, H=7, W=11, OH=13, OW=37),
    **_same("rope", T=7, H=3, P=19),
    **_same("stencil5", H=7, W=37),
    **_same("stencil7", D=5, H=7, W=37),
    "attention": Vary({"B": 2, "S": 13, "D": 5}, {"S": {"B": 1, "D": 1}}),
    "causal_attention": Vary({"B": 2, "S": 13, "D": 5}, {"S": {"B": 1, "D": 1}}),
    "avgpool2d": _WINDOW,
    "dwconv2d": _WINDOW,
    "maxpool2d": _WINDOW,
    "conv1d": Vary(
        {"N": 2, "G": 3, "C": 2, "O": 5, "L": 13, "R": 3, "S": 2, "P": 2, "D": 3},
        {"R": {"P": 1499}, "D": {"P": 997}},
        _DILATED,
    ),
    "conv2d": Vary(
        {"N": 2, "G": 2, "C": 2, "O": 3, "H": 7, "W": 5, "R": 3, "S": 2, "P": 2, "D": 2},
        {
            "R": {"N": 1, "G": 1, "C": 1, "O": 1, "S": 1009, "P": 997},
            "P": {"S": 1009},
            "D": {"S": 1009, "P": 998},
        },
        _DILATED,
    ),
    "conv3d": Vary(
        {"N": 2, "G": 2, "C": 2, "O": 2, "T": 3, "H": 5, "W": 3, "R": 2, "S": 3, "P": 2, "D": 2},
        {
            "R": {"R": 47, "N": 1, "G": 1, "C": 1, "O": 1, "S": 1009, "P": 47},
            "P": {"S": 1009},
            "D": {"S": 1009, "P": 499},
        },
        f"{_DILATED}; a filter has R^3 elements, so R ends at 47 here",
    ),
}
