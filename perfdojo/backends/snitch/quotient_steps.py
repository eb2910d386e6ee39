"""The steps of f32 tanh and sigmoid of arrays, which end in a quotient: `quotients.py` lays them out."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from perfdojo.compiler.elementary import coefficients as c

_INVERSE = """
g0 = mul <1 $one
e = mul $two $one
e -= <0 * g0
g = mul g0 e
f = mul $two $one
f -= <0 * g
g = mul g f
h = mul $one $one
h -= <0 * g
g += g * h"""
"""The third pass makes g = 1 / d of a guess, and q = n g; then it adds to q the residual times g."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """What tells one function from another.

    Attributes:
        high: largest argument; what is larger has the same result. A NaN becomes it, too, as the FPU's
            minimum drops it, so that the integer core looks at arguments of this size.
        scale: k = round(x * scale).
        shift: k and this are in the low bits of t.
        own: its constants, by name.
        first, second, third: the steps of its passes (`passes.parsed`).
    """

    high: float
    scale: float
    shift: float
    own: dict[str, float]
    first: str
    second: str
    third: str

    @property
    def passes(self) -> tuple[str, str, str]:
        """The steps of all three."""
        return self.first, self.second, self.third

    @property
    def constants(self) -> dict[str, float]:
        """All constants, by name."""
        return {"one": 1.0, "two": 2.0, "magic": c.ROUND + self.shift} | self.own

    @property
    def limit(self) -> str:
        """Bits of t for the largest argument: an fma of f32, in f64, which has room for product and sum."""
        return f32_word(self.high * self.scale + c.ROUND + self.shift)


def f32_word(value: float) -> str:
    """Return the bits of the f32 next to a number, in hexadecimal."""
    return f"{struct.unpack('I', struct.pack('f', value))[0]:#010x}"


_TANH = Quotient(
    c.TANH_LIMIT,
    2 * c.LOG2_E,
    c.BIAS,
    {"high": c.TANH_LIMIT, "low": -c.TANH_LIMIT, "scale": 2 * c.LOG2_E, "unit": c.LN_2 / 2}
    | {"a": c.TANH[0], "b": c.TANH[1], "zero": 0.0, "minus": -1.0},
    """
    x = min <0 $high
    x = max x $low
    t = mul $magic $one
    t += x * $scale
    k = sub t $magic
    x -= k * $unit
    > t
    > x
    """,
    """
    z = mul <0 <0
    q = mul $a $one
    q += $b * z
    w = mul z q
    w = add w $zero
    h = mul <0 $one
    h += <0 * w
    p = add <1 $one
    m = sub $one <1
    a = mul m $minus
    a += h * p
    p -= h * m
    > p
    > a
    """,
    # y = q - (d q - n) g: with the other sign of the residual a quotient -0 would become 0
    _INVERSE
    + """
    n = mul <1 $one
    q = mul n g
    m = mul n $minus
    m += <0 * q
    q -= m * g
    > q
    """,
)
_SIGMOID = Quotient(
    c.SIGMOID_HIGH,
    c.LOG2_E,
    c.SIGMOID_SCALE + c.BIAS,
    {"high": c.SIGMOID_HIGH, "low": c.SIGMOID_LOW, "scale": c.LOG2_E, "unit": c.LN_2, "rest": c.LN_2_REST}
    | {f"r^{k}": value for k, value in enumerate(c.SIGMOID) if k > 1}
    | {"far": 2.0**c.SIGMOID_SCALE},
    """
    x = min <0 $high
    x = max x $low
    t = mul $magic $one
    t += x * $scale
    k = sub t $magic
    r = mul x $one
    r -= k * $unit
    r -= k * $rest
    > t
    > r
    """,
    """
    e = mul $r^5 $one
    e += $r^6 * <0
    d = mul $r^4 $one
    d += e * <0
    c = mul $r^3 $one
    c += d * <0
    b = mul $r^2 $one
    b += c * <0
    a = mul $one $one
    a += b * <0
    p = mul $one $one
    p += a * <0
    u = mul p <1
    > add u $far
    > u
    """,
    # y = q + (n - d q) g: n is above 0
    _INVERSE
    + """
    n = mul <1 $one
    q = mul n g
    n -= <0 * q
    q += n * g
    > q
    """,
)
FUNCTIONS = {"tanh": _TANH, "sigmoid": _SIGMOID}
