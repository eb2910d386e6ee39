"""`//` and `%` by a positive constant without a division."""

from __future__ import annotations

from perfdojo.backends.neon.registers import HALF, WHOLE, Register
from perfdojo.backends.vectors.instruction import Instruction
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.dtypes import I16, I32, I64, DType


def division(table: Table, op: str, divisor: int, dtype: DType, n: int) -> Instruction | None:
    """Return the record of `floordiv:<divisor>` or `mod:<divisor>`; None when a loop does it as fast.

    Raises:
        ValueError: the divisor is not positive.
    """
    if divisor <= 0:
        raise ValueError(f"{op} by {divisor}")
    own, whole = Register(dtype, n), table.vector(dtype, n)
    quotient = _quotient(divisor, dtype, n)
    if op == "mod" and divisor & (divisor - 1) == 0:
        low = own.fill(f"vand<q>_<t>({{0}}, vdup<q>_n_<t>({divisor - 1}))")
        return Instruction(f"mod:{divisor}", dtype.name, n, low, (whole,), whole)
    if quotient is None:
        return None
    setup, format = quotient
    if op == "mod":
        setup = [*setup, f"const {whole} quotient = {format}"]
        product = table.use("mul", dtype, n, "quotient", own.fill(f"vdup<q>_n_<t>({divisor})"))
        format = table.use("sub", dtype, n, "{0}", product)
    why = f"by {divisor}: the product with a scaled reciprocal" if len(setup) > 1 else ""
    return Instruction(f"{op}:{divisor}", dtype.name, n, format, (whole,), whole, tuple(setup), why)


def _quotient(divisor: int, dtype: DType, n: int) -> tuple[list[str], str] | None:
    """Return statements and the expression of the quotient rounded down.

    With t = x or, below zero, -1 - x, which fits into b-1 bits: floor(t / d) = t * m >> (b - 1 + l) where
    l = ceil(log2 d) and m = floor(2^(b - 1 + l) / d) + 1 < 2^b. Below zero the quotient is -1 - floor(t / d).
    Source: T. Granlund, P. Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
    """
    own = Register(dtype, n)
    if divisor == 1:
        return [], "{0}"
    if dtype not in (I16, I32, I64):
        return None
    if divisor & (divisor - 1) == 0:
        shift = divisor.bit_length() - 1
        return ([], own.fill(f"vshr<q>_n_<t>({{0}}, {shift})")) if shift < dtype.bits else None
    if dtype == I64 or divisor > dtype.largest:
        return None
    b, log = dtype.bits, (divisor - 1).bit_length()
    factor = 2 ** (b - 1 + log) // divisor + 1
    count = b - 1 + log
    lines = [
        own.fill(f"const {own.c_type} sign = vshr<q>_n_<t>({{0}}, {b - 1})"),
        own.fill(f"const uint{b}x{own.bits // b}_t t = vreinterpret<q>_<u>_<t>(veor<q>_<t>({{0}}, sign))"),
        f"const uint{b}x{HALF // b}_t m = vdup_n_u{b}({factor}u)",
    ]

    def scaled(part: str) -> str:
        return f"vmovn_u{2 * b}(vshrq_n_u{2 * b}(vmull_u{b}({part}, m), {count}))"

    if own.bits == WHOLE:
        result = f"vcombine_u{b}({scaled(f'vget_low_u{b}(t)')}, {scaled(f'vget_high_u{b}(t)')})"
    else:
        result = scaled("t")
    return lines, own.fill(f"veor<q>_<t>(vreinterpret<q>_<t>_<u>({result}), sign)")
