"""IEEE 754 by rational arithmetic, written apart from the simulator: what its arithmetic is compared with."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from tests.toolchains.snitch.fp_formats import (
    DZ,
    NV,
    NX,
    OF,
    RDN,
    RNE,
    RTZ,
    RUP,
    UF,
    Format,
    Number,
    Result,
    decode,
    power,
)


def floor_log2(size: Fraction) -> int:
    e = size.numerator.bit_length() - size.denominator.bit_length()
    return e if power(e) <= size else e - 1


def to_integer(numerator: int, denominator: int, mode: int) -> tuple[int, bool]:
    """Round a quotient to an integer; True where it was one."""
    down, rest = divmod(numerator, denominator)
    if rest == 0 or mode == RDN:
        return down, rest == 0
    if mode == RUP:
        return down + 1, False
    if mode == RTZ:
        return down + (numerator < 0), False
    if 2 * rest != denominator:
        return down + (2 * rest > denominator), False
    return down + (down & 1 if mode == RNE else numerator > 0), False


def in_units(x: Fraction, e: int, mode: int) -> tuple[int, bool]:
    """Round the size of x to whole units of 2^e, as the mode rounds x; True where it was whole."""
    n, d = x.numerator, x.denominator
    whole, exact = to_integer(n << -e, d, mode) if e < 0 else to_integer(n, d << e, mode)
    return abs(whole), exact


def signed_zero(f: Format, negative: bool) -> int:
    return negative << (f.width - 1)


def round_value(f: Format, x: Fraction, mode: int) -> Result:
    """Round a number that is not zero."""
    sign = signed_zero(f, x < 0)
    hidden = 1 << f.fraction_bits
    e, lowest = floor_log2(abs(x)), 1 - f.bias
    units, exact = in_units(x, max(e, lowest) - f.fraction_bits, mode)
    # Tiny: below the smallest normal number even when rounded as if it were normal.
    tiny = e < lowest and (e < lowest - 1 or in_units(x, e - f.fraction_bits, mode)[0] < 2 * hidden)
    flags = 0 if exact else NX | UF if tiny else NX
    if units < hidden:
        return Result(sign | units, flags)
    e = max(e, lowest)
    if units == 2 * hidden:
        units, e = hidden, e + 1
    if e > f.bias:
        to_largest = mode == RTZ or (mode == RDN and x > 0) or (mode == RUP and x < 0)
        return Result(sign | (f.infinity - to_largest), OF | NX)
    return Result(sign | e + f.bias << f.fraction_bits | units - hidden, flags)


def some_nan(f: Format, *numbers: Number) -> Result | None:
    """The result where an operand is a NaN."""
    if not any(n.is_nan for n in numbers):
        return None
    return Result(f.nan, NV if any(n.kind == "signaling" for n in numbers) else 0)


def total(f: Format, terms: list[Number], mode: int) -> Result:
    """The sum of numbers that are not NaNs, rounded once."""
    infinite = {n.negative for n in terms if n.kind == "inf"}
    if len(infinite) == 2:
        return Result(f.nan, NV)
    if infinite:
        return Result(f.infinity | signed_zero(f, infinite.pop()))
    value = sum((n.value for n in terms), Fraction(0))
    if value:
        return round_value(f, value, mode)
    signs = {n.negative for n in terms}
    same = len(signs) == 1 and all(n.is_zero for n in terms)
    return Result(signed_zero(f, signs.pop() if same else mode == RDN))


def times(a: Number, b: Number) -> Number | None:
    """The exact product of two numbers that are not NaNs; None for infinity times zero."""
    negative = a.negative != b.negative
    if "inf" in (a.kind, b.kind):
        return None if a.is_zero or b.is_zero else Number("inf", negative, Fraction(0))
    return Number("finite", negative, a.value * b.value)


def opposite(a: Number) -> Number:
    return Number(a.kind, not a.negative, -a.value)


def add(f: Format, a: int, b: int, mode: int) -> Result:
    x, y = decode(f, a), decode(f, b)
    return some_nan(f, x, y) or total(f, [x, y], mode)


def dot(to: Format, pairs: list[tuple[Number, Number]], addend: Number, mode: int) -> Result:
    """The sum of the products and the addend: one pair for a fused multiply-add."""
    operands = [n for pair in pairs for n in pair]
    for x, y in pairs:
        if not (x.is_nan or y.is_nan) and times(x, y) is None:
            return Result(to.nan, NV)
    nan = some_nan(to, *operands, addend)
    if nan:
        return nan
    products = [p for p in (times(x, y) for x, y in pairs) if p]
    return total(to, [*products, addend], mode)


def fma(f: Format, a: int, b: int, c: int, mode: int) -> Result:
    return dot(f, [(decode(f, a), decode(f, b))], decode(f, c), mode)


def mul(f: Format, a: int, b: int, mode: int) -> Result:
    x, y = decode(f, a), decode(f, b)
    nan = some_nan(f, x, y)
    if nan:
        return nan
    product = times(x, y)
    return total(f, [product], mode) if product else Result(f.nan, NV)


def div(f: Format, a: int, b: int, mode: int) -> Result:
    x, y = decode(f, a), decode(f, b)
    negative = x.negative != y.negative
    nan = some_nan(f, x, y)
    if nan:
        return nan
    if (x.kind == y.kind == "inf") or (x.is_zero and y.is_zero):
        return Result(f.nan, NV)
    if x.kind == "inf":
        return Result(f.infinity | signed_zero(f, negative))
    if y.kind == "inf" or x.is_zero:
        return Result(signed_zero(f, negative))
    if y.is_zero:
        return Result(f.infinity | signed_zero(f, negative), DZ)
    return round_value(f, x.value / y.value, mode)


def sqrt(f: Format, a: int, mode: int) -> Result:
    x = decode(f, a)
    nan = some_nan(f, x)
    if nan:
        return nan
    if x.is_zero:
        return Result(a)
    if x.negative:
        return Result(f.nan, NV)
    if x.kind == "inf":
        return Result(a)
    # 2^1400: more than 60 bits below the last place of any root; half a unit more stands for an inexact rest.
    scaled = x.value * power(2 * 1400)
    root = isqrt(int(scaled))
    exact = root * root == scaled
    return round_value(f, (root if exact else root + Fraction(1, 2)) * power(-1400), mode)


def convert(to: Format, f: Format, a: int, mode: int) -> Result:
    x = decode(f, a)
    return some_nan(to, x) or total(to, [x], mode)


def to_int(f: Format, a: int, mode: int, low: int, high: int) -> Result:
    x = decode(f, a)
    if x.is_nan:
        return Result(high, NV)
    if x.kind == "inf":
        return Result(low if x.negative else high, NV)
    value, exact = to_integer(x.value.numerator, x.value.denominator, mode)
    if not low <= value <= high:
        return Result(low if value < low else high, NV)
    return Result(value, 0 if exact else NX)


def from_int(f: Format, value: int, mode: int) -> Result:
    return round_value(f, Fraction(value), mode) if value else Result(0)


def extreme(f: Format, a: int, b: int, largest: bool) -> Result:
    """Minimum and maximum: a single NaN loses; -0 is below +0."""
    x, y = decode(f, a), decode(f, b)
    flags = NV if "signaling" in (x.kind, y.kind) else 0
    if x.is_nan or y.is_nan:
        return Result(f.nan if x.is_nan and y.is_nan else b if x.is_nan else a, flags)

    def order(n: Number) -> tuple[int, Fraction, bool]:
        rank = 0 if n.kind == "finite" else -1 if n.negative else 1
        return rank, n.value, not n.negative

    first, second = (b, a) if order(y) < order(x) else (a, b)
    return Result(second if largest else first, flags)


def compare(f: Format, a: int, b: int, how: str) -> Result:
    """`how` is eq, lt or le."""
    x, y = decode(f, a), decode(f, b)
    if x.is_nan or y.is_nan:
        quiet = how == "eq" and "signaling" not in (x.kind, y.kind)
        return Result(0, 0 if quiet else NV)
    far = f.largest * 2
    u, v = (n.value if n.kind == "finite" else -far if n.negative else far for n in (x, y))
    return Result(int(u == v if how == "eq" else u < v if how == "lt" else u <= v))


def classify(f: Format, a: int) -> int:
    x = decode(f, a)
    if x.is_nan:
        return 1 << (9 if x.kind == "quiet" else 8)
    if x.kind == "inf":
        place = 3
    elif x.is_zero:
        place = 0
    else:
        place = 1 if abs(x.value) < f.smallest_normal else 2
    return 1 << (3 - place if x.negative else 4 + place)
