"""Error bounds of the elementary functions in ULP of the exact result, for each float type.

f32: measured over all 2^32 arguments by `tests/elementary/test_exhaustive.py`, rounded up to two
digits behind the point; pow, which has two arguments, from the errors of its steps (docs/functions.md).
f16 and bf16: half an ULP for the rounding, and what is left of the f32 error.
f64: what the x86_64 column of the glibc manual, "Known Maximum Errors in Math Functions", states (1; tanh 2).
Those are distances from the correctly rounded result, hence half an ULP more here. sigmoid and rsqrt from
their steps. Snitch's own functions have smaller errors.
"""

from __future__ import annotations

_F32 = {
    "exp": 1.44,
    "log": 1.38,
    "tanh": 2.50,
    "erf": 2.31,
    "sigmoid": 2.41,
    "sin": 0.51,
    "cos": 0.51,
    "pow": 0.51,
    "sqrt": 0.5,
    "rsqrt": 1.5,
}

_F64 = {
    "exp": 1.5,
    "log": 1.5,
    "tanh": 2.5,
    "erf": 1.5,
    "sin": 1.5,
    "cos": 1.5,
    "pow": 1.5,
    "sqrt": 0.5,
    "rsqrt": 1.5,
    "sigmoid": 4.5,
}


def _narrow(name: str, mantissa: int) -> float:
    """Bound of a type of `mantissa` bits; there sqrt is correctly rounded and rsqrt rounded twice, too."""
    return _F32[name] if name in ("sqrt", "rsqrt") else 0.5 + _F32[name] * 2.0 ** (mantissa - 24)


ULP: dict[str, dict[str, float]] = {
    name: {"f64": _F64[name], "f32": _F32[name], "f16": _narrow(name, 11), "bf16": _narrow(name, 8)}
    for name in _F32
}
"""Bound of function (`ops.OPS`) and type at the levels strict, contract and reassoc."""

ULP_FAST: dict[str, dict[str, float]] = ULP
"""The same at `fast`, which so far uses the same functions."""
