"""`//` and `%` by a positive constant without a division."""

from __future__ import annotations

from perfdojo.backends.vectors.instruction import Instruction
from perfdojo.backends.vectors.table import Table
from perfdojo.backends.x86.registers import Register
from perfdojo.compiler.dtypes import I16, I32, I64, DType


def division(table: Table, op: str, divisor: int, dtype: DType, n: int) -> Instruction | None:
    """Return the record of `floordiv:<divisor>` or `mod:<divisor>`; None when a loop does it as fast.

    Raises:
        ValueError: the divisor is not positive.
    """
    if divisor <= 0:
        raise ValueError(f"{op} by {divisor}")
    quotient = _quotient(table, divisor, dtype, n)
    whole = table.vector(dtype, n)
    if op == "mod" and divisor & (divisor - 1) == 0:
        low = Register(dtype, n).fill(f"<p>_and_<si>({{0}}, {_set1(dtype, n)}({divisor - 1}))")
        return Instruction(f"mod:{divisor}", dtype.name, n, low, (whole,), whole)
    if quotient is None:
        return None
    setup, format = quotient
    if op == "mod":
        setup = [*setup, f"const {whole} quotient = {format}"]
        product = table.use(
            "mul", dtype, n, "quotient", Register(dtype, n).fill(f"{_set1(dtype, n)}({divisor})")
        )
        format = table.use("sub", dtype, n, "{0}", product)
    why = f"by {divisor}: the product with a scaled reciprocal" if len(setup) > 1 else ""
    return Instruction(f"{op}:{divisor}", dtype.name, n, format, (whole,), whole, tuple(setup), why)


def _set1(dtype: DType, n: int) -> str:
    register = Register(dtype, n)
    return register.fill("<p>_set1_<t>") + ("x" if dtype == I64 and register.bits < 512 else "")


def _quotient(table: Table, divisor: int, dtype: DType, n: int) -> tuple[list[str], str] | None:
    """Return statements and the expression of the quotient rounded down.

    With t = x or, below zero, -1 - x, which fits into b-1 bits: floor(t / d) = t * m >> (b - 1 + l) where
    l = ceil(log2 d) and m = floor(2^(b - 1 + l) / d) + 1 < 2^b. Below zero the quotient is -1 - floor(t / d).
    Source: T. Granlund, P. Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
    """
    register = Register(dtype, n)
    if divisor & (divisor - 1) == 0:
        shifts = dtype in (I16, I32) or (dtype == I64 and table.isa.opmask)
        shift = register.fill(f"<p>_srai_<t>({{0}}, {divisor.bit_length() - 1})")
        return ([], "{0}" if divisor == 1 else shift) if shifts or divisor == 1 else None
    if dtype not in (I16, I32) or divisor > dtype.largest:
        return None
    bits, log = dtype.bits, (divisor - 1).bit_length()
    factor = 2 ** (bits - 1 + log) // divisor + 1
    signed = factor - 2**bits if factor >= 2 ** (bits - 1) else factor
    c_type = table.vector(dtype, n)
    lines = [
        f"const {c_type} sign = <p>_srai_<t>({{0}}, {bits - 1})",
        f"const {c_type} t = <p>_xor_<si>({{0}}, sign)",
    ]
    if dtype == I16:
        high = f"<p>_mulhi_epu16(t, <p>_set1_epi16({signed}))"
        result = f"<p>_srli_epi16({high}, {log - 1})" if log > 1 else high
    else:
        count = bits - 1 + log
        lines += [
            f"const {c_type} m = <p>_set1_epi32({signed})",
            f"const {c_type} even = <p>_srli_epi64(<p>_mul_epu32(t, m), {count})",
            f"const {c_type} odd = <p>_srli_epi64(<p>_mul_epu32(<p>_srli_epi64(t, 32), m), {count})",
        ]
        result = "<p>_or_<si>(even, <p>_slli_epi64(odd, 32))"
    return [register.fill(text) for text in lines], register.fill(f"<p>_xor_<si>({result}, sign)")
