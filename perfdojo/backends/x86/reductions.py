"""All lanes into one, pairwise: the lower half of a vector with its upper half, until one lane is left."""

from __future__ import annotations

from perfdojo.backends.vectors.isa import carried
from perfdojo.backends.vectors.table import C_SCALARS, NUMBERS, Table
from perfdojo.backends.x86.registers import Register
from perfdojo.compiler.dtypes import DType

_UPPER = {
    "__m512": "_mm512_extractf32x8_ps",
    "__m512d": "_mm512_extractf64x4_pd",
    "__m512i": "_mm512_extracti64x4_epi64",
}
_UPPER |= {
    "__m256": "_mm256_extractf128_ps",
    "__m256d": "_mm256_extractf128_pd",
    "__m256i": "_mm256_extracti128_si256",
}
_LOWER = {
    "__m512": "_mm512_castps512_ps256",
    "__m512d": "_mm512_castpd512_pd256",
    "__m512i": "_mm512_castsi512_si256",
}
_LOWER |= {
    "__m256": "_mm256_castps256_ps128",
    "__m256d": "_mm256_castpd256_pd128",
    "__m256i": "_mm256_castsi256_si128",
}
_FIRST = {"__m128": "_mm_cvtss_f32({})", "__m128d": "_mm_cvtsd_f64({})"}


def halves(c_type: str, x: str) -> tuple[str, str]:
    """Return the expressions of the lower and the upper half of a register wider than 128 bits."""
    return f"{_LOWER[c_type]}({x})", f"{_UPPER[c_type]}({x}, 1)"


def add_reductions(table: Table) -> None:
    """Add reduce_add, reduce_mul, reduce_max and reduce_min; needs these operations on narrower registers."""
    for dtype, n, _ in table.shapes(NUMBERS):
        for op in ("add", "mul", "max", "min"):
            setup, result = _steps(table, op, dtype, n)
            table.add(f"reduce_{op}", dtype, n, result, "v", "s", setup)


def _steps(table: Table, op: str, dtype: DType, n: int) -> tuple[list[str], str]:
    """Return the statements that leave the result in lane 0, and the expression that takes it from there."""
    setup: list[str] = []
    value, lanes, bits = "{0}", n, carried(dtype).bits
    while bits * lanes > 128:
        lower, upper = halves(Register(dtype, lanes).c_type, value)
        lanes //= 2
        value = f"x{lanes}"
        setup.append(
            f"const {table.vector(dtype, lanes)} {value} = " + table.use(op, dtype, lanes, lower, upper)
        )
    c_type, whole = table.vector(dtype, lanes), 128 // bits
    while lanes > 1:
        lanes //= 2
        setup.append(
            f"const {c_type} x{lanes} = "
            + table.use(op, dtype, whole, value, _moved_down(c_type, lanes * bits, value))
        )
        value = f"x{lanes}"
    if c_type in _FIRST:
        return setup, _FIRST[c_type].format(value)
    first = f"_mm_cvtsi128_si{max(32, bits)}({value})"
    return setup, first if bits >= 32 else f"({C_SCALARS[dtype.name]}){first}"


def _moved_down(c_type: str, bits: int, x: str) -> str:
    """Return the register with what lies `bits` higher."""
    if c_type == "__m128d":
        return f"_mm_unpackhi_pd({x}, {x})"
    if c_type == "__m128":
        return f"_mm_movehl_ps({x}, {x})" if bits == 64 else f"_mm_movehdup_ps({x})"
    return f"_mm_srli_si128({x}, {bits // 8})"
