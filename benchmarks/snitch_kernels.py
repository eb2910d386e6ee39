"""Kernels of the published results on Snitch: texts by name, shape and element type."""

from __future__ import annotations

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify

ELEMENTWISE = """kernel {name}
size M = {0}
size N = {1}
{inputs}
out z: {dtype}[M, N]

M N z[{{0}},{{1}}] = {value}
"""
MATMUL = """kernel matmul
size M = {0}
size K = {1}
size N = {2}
in  a: {dtype}[M, K]
in  b: {dtype}[K, N]
out c: {dtype}[M, N]

M N K c[{{0}},{{1}}] += a[{{0}},{{2}}] * b[{{2}},{{1}}]
"""
MATMUL_TRANSB = """kernel matmul_transb
size M = {0}
size N = {1}
size K = {2}
in  a: {dtype}[M, K]
in  b: {dtype}[N, K]
out c: {dtype}[M, N]

M N K c[{{0}},{{1}}] += a[{{0}},{{2}}] * b[{{1}},{{2}}]
"""
WINDOW = """kernel {name}
size M = {0}
size N = {1}
in  x: {dtype}[M + {more}, N + {more}]
{inputs}
out z: {dtype}[M, N]

M N z[{{0}},{{1}}] = {start}
| | 3 3 z[{{0}},{{1}}] {value}
"""
DENSE = """kernel dense
size M = {0}
size N = {1}
size K = {1}
in  a: {dtype}[M, K]
in  b: {dtype}[K, N]
in  v: {dtype}[M, N]
out z: {dtype}[M, N]
tmp c: {dtype}[M, N]

M N K c[{{0}},{{1}}] += a[{{0}},{{2}}] * b[{{2}},{{1}}]
M N z[{{0}},{{1}}] = maxnum(c[{{0}},{{1}}] + v[{{0}},{{1}}], 0)
"""
DOT = """kernel dot
size N = {0}
in  x: {dtype}[N]
in  y: {dtype}[N]
out z: {dtype}[]

N z[] += x[{{0}}] * y[{{0}}]
"""
AXPY = """kernel axpy
size N = {0}
in  a: {dtype}[]
in  x: {dtype}[N]
in  y: {dtype}[N]
out z: {dtype}[N]

N z[{{0}}] = a[] * x[{{0}}] + y[{{0}}]
"""
SUM = """kernel sum
size N = {0}
in  x: {dtype}[N]
out z: {dtype}[]

N z[] += x[{{0}}]
"""
X, XY = "in  x: {dtype}[M, N]", "in  x: {dtype}[M, N]\nin  y: {dtype}[M, N]"
TEXTS = {
    "add": (ELEMENTWISE, {"inputs": XY, "value": "x[{0},{1}] + y[{0},{1}]"}),
    "relu": (ELEMENTWISE, {"inputs": X, "value": "maxnum(x[{0},{1}], 0)"}),
    "fill": (ELEMENTWISE, {"inputs": "in  x: {dtype}[]", "value": "x[]"}),
    "matmul": (MATMUL, {}),
    "matmul_transb": (MATMUL_TRANSB, {}),
    "conv2d_3x3": (
        WINDOW,
        {
            "more": "2",
            "inputs": "in  w: {dtype}[3, 3]",
            "start": "0",
            "value": "+= x[{0}+{2},{1}+{3}] * w[{2},{3}]",
        },
    ),
    "sumpool_3x3": (WINDOW, {"more": "3", "inputs": "", "start": "0", "value": "+= x[{0}+{2},{1}+{3}]"}),
    "maxpool_3x3": (
        WINDOW,
        {"more": "3", "inputs": "", "start": "-10000", "value": "maxnum= x[{0}+{2},{1}+{3}]"},
    ),
    "dense": (DENSE, {}),
    "dot": (DOT, {}),
    "axpy": (AXPY, {}),
    "sum": (SUM, {}),
}


def kernel(name: str, shape: tuple[int, ...], dtype: str) -> Program:
    """Return a bound, verified kernel of the published results."""
    template, words = TEXTS[name]
    filled = {key: word.replace("{dtype}", dtype) for key, word in words.items()}
    program = bind(parse(template.format(*shape, name=name, dtype=dtype, **filled), f"{name}.ir"))
    verify(program)
    return program
