"""Which recipe is for which kernel: its parameters there, and sizes with primes and ones."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.session import Session

SOFTMAX_IN_PASSES = """kernel softmax_in_passes
size B = 8
size N = 64
in s: f32[B, N]
out d: f32[B, N]
tmp m: f32[B]
tmp x: f32[B, N]
tmp e: f32[B, N]
tmp a: f32[B]
tmp i: f32[B]

B N m[{0}] max= s[{0},{1}]
B N x[{0},{1}] = s[{0},{1}] - m[{0}]
B N e[{0},{1}] = exp(x[{0},{1}])
B N a[{0}] += e[{0},{1}]
B i[{0}] = 1 / a[{0}]
B N d[{0},{1}] = e[{0},{1}] * i[{0}]
"""

CHAIN = """kernel chain
size M = 5
size N = 40
in x: f32[M, N]
in b: f32[N]
out y: f32[M, N]
tmp t: f32[M, N]
tmp e: f32[M, N]

M N t[{0},{1}] = x[{0},{1}] + b[{1}]
M N e[{0},{1}] = exp(t[{0},{1}])
M N y[{0},{1}] = e[{0},{1}] * t[{0},{1}]
"""

Sizes = dict[str, int]


@dataclass(frozen=True)
class Case:
    """A recipe on a kernel; the end state at the first sizes is a golden file."""

    recipe: str
    kernel: str
    sizes: tuple[Sizes, ...]
    parameters: dict[str, object] = field(default_factory=dict)
    target: str = "avx2"

    def __str__(self) -> str:
        name = "softmax_in_passes" if self.kernel == SOFTMAX_IN_PASSES else self.kernel
        return f"{self.recipe}-{'chain' if name == CHAIN else name}"

    def session(self, sizes: Sizes, target: str = "", fp: FpLevel = "reassoc") -> Session:
        """Return a session in which the recipe has run, once for all tests: it is to be read only."""
        key = repr((self, sizes, target or self.target, fp))
        if key not in _SESSIONS:
            session = Session(self.kernel, target or self.target, fp, sizes)
            session.run(self.recipe, **self.parameters)
            _SESSIONS[key] = session
        return _SESSIONS[key]


_SESSIONS: dict[str, Session] = {}


def _mnk(*sizes: tuple[int, int, int]) -> tuple[Sizes, ...]:
    return tuple({"M": m, "N": n, "K": k} for m, n, k in sizes)


def _two(one: str, two: str, *sizes: tuple[int, int]) -> tuple[Sizes, ...]:
    return tuple({one: a, two: b} for a, b in sizes)


def _conv(*sizes: tuple[int, int, int, int]) -> tuple[Sizes, ...]:
    return tuple({"C": c, "O": o, "H": h, "W": w} for c, o, h, w in sizes)


ODD_PRODUCTS = ((13, 37, 11), (1, 1, 1), (1, 19, 5), (17, 1, 7), (7, 5, 1))
ODD_ROWS = ((5, 131), (1, 1), (3, 2), (1, 257))

CASES = (
    Case("matmul", "matmul", _mnk((26, 48, 32), *ODD_PRODUCTS, (31, 23, 29)), {"kc": 16, "mc": 12}),
    Case("matmul", "matmul_nt", _mnk((24, 32, 16), *ODD_PRODUCTS)),
    Case("matmul", "gemm_f64", _mnk((13, 21, 10), (1, 1, 1)), {"kc": 4, "mc": 8}),
    Case("tile_and_vectorize", "matmul", _mnk((14, 40, 8), *ODD_PRODUCTS)),
    Case("tile_and_vectorize", "matmul_tn", _mnk((12, 16, 8), (11, 13, 7)), {"mr": 4, "nr": 8}),
    Case("direct_convolution", "conv3x3", _conv((2, 8, 4, 28), (3, 5, 7, 13), (1, 1, 1, 1), (2, 7, 3, 1))),
    Case("direct_convolution", "conv2d", _conv((2, 6, 5, 16), (1, 3, 5, 7))),
    Case("stencil", "stencil5", _two("H", "W", (8, 24), (7, 37), (1, 1), (1, 23), (5, 1))),
    Case("stencil", "stencil5", _two("H", "W", (8, 40), (7, 37)), {"rows": 3, "columns": 16}),
    Case("reduce", "sum_last", _two("B", "N", (3, 128), *ODD_ROWS)),
    Case("reduce", "max_last", _two("B", "N", (3, 64), *ODD_ROWS), {"accumulators": 4}),
    Case("reduce", "dot", ({"N": 200}, {"N": 1}, {"N": 127}, {"N": 129})),
    Case("two_pass_softmax", "softmax", _two("B", "N", (2, 128), *ODD_ROWS)),
    Case("two_pass_softmax", SOFTMAX_IN_PASSES, _two("B", "N", (2, 128), *ODD_ROWS)),
    Case("two_pass_softmax", "online_softmax", _two("B", "N", (2, 32), (1, 1))),
    Case("layernorm", "layernorm", _two("B", "N", (2, 128), *ODD_ROWS)),
    Case("layernorm", "rmsnorm", _two("B", "N", (2, 140), *ODD_ROWS), {"accumulators": 0}),
    Case(
        "attention",
        "attention",
        ({"B": 2, "S": 16, "D": 4}, {"B": 1, "S": 7, "D": 5}, {"B": 1, "S": 1, "D": 1}),
    ),
    Case("attention", "causal_attention", ({"B": 1, "S": 16, "D": 4}, {"B": 1, "S": 7, "D": 5})),
    Case("fuse_elementwise", CHAIN, _two("M", "N", (3, 16), (1, 1), (2, 7))),
    Case("tile", "matmul", _mnk((16, 32, 8), (13, 37, 11)), {"scopes": ("m", "n"), "sizes": (8, 16)}),
    *(
        Case("streams", kernel, sizes, target="snitch")
        for kernel, sizes in (
            ("gemm_f64", _mnk((16, 16, 8), (13, 21, 10), (1, 1, 1), (3, 3, 40), (9, 17, 5))),
            ("dot_f64", ({"N": 128}, {"N": 1}, {"N": 11})),
            ("matmul_nt", _mnk((8, 12, 16), *ODD_PRODUCTS)),
            ("sum_last", _two("B", "N", (3, 128), *ODD_ROWS)),
            ("relu", _two("M", "N", (3, 16), (1, 1), (2, 7))),
            ("softmax", _two("B", "N", (4, 16), (5, 32), *ODD_ROWS)),
            ("layernorm", _two("B", "N", (4, 32), *ODD_ROWS)),
            ("gelu", _two("M", "N", (2, 32), (3, 29), (1, 1))),
            ("swish", _two("M", "N", (2, 32), (3, 29), (1, 1))),
            ("maxpool2", ({"N": 1, "C": 2, "H": 3, "W": 16}, {"N": 2, "C": 1, "H": 1, "W": 3})),
            ("matmul", _mnk((5, 16, 16), *ODD_PRODUCTS)),
        )
    ),
    *(
        Case(recipe, kernel, sizes, target="snitch")
        for recipe, kernel, sizes in (
            ("cores", "gemm_f64", _mnk((16, 16, 8), (13, 21, 10), (1, 1, 1), (3, 3, 40))),
            ("cores", "dot_f64", ({"N": 128}, {"N": 1}, {"N": 11})),
            ("cores", "relu", _two("M", "N", (3, 32), (1, 1), (9, 7))),
            ("tcdm_tiles", "gemm_f64", _mnk((16, 16, 8), (13, 21, 10), (1, 1, 1))),
            ("tcdm_tiles", "relu", _two("M", "N", (32, 8), (1, 1), (21, 7))),
        )
    ),
    *(
        Case("gpu", kernel, sizes, target="cuda")
        for kernel, sizes in (
            ("matmul", _mnk((16, 20, 8), (13, 21, 10), (1, 1, 1))),
            ("softmax", _two("B", "N", (40, 16), (5, 32), (1, 1))),
            ("relu", _two("M", "N", (3, 16), (40, 20), (1, 1))),
        )
    ),
    Case("pack", "matmul", _mnk((4, 16, 8), (3, 5, 7)), {"buffer": "b", "at": "m", "fastest": "k"}),
)
