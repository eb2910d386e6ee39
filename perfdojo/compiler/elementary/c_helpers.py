"""The elementary functions as C source: static inline functions and what they call, each under its name."""

from __future__ import annotations

import struct
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from perfdojo.compiler.elementary import wide_coefficients as wide
from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS
from perfdojo.compiler.elementary.scalar_c import scalar_c, short_hex

_BITS = """\
static inline {to} {name}({of} x) {{
  union {{ {of} before; {to} after; }} u = {{x}};
  return u.after;
}}"""

_TEMPLATES = ("pd_reduce_f32", "pd_quarter_f64", "pd_sin_f32", "pd_cos_f32", "pd_pow_f32")


def _literal(value: Any) -> Any:
    """Return numbers as C: doubles in hexadecimal, integers as words."""
    if isinstance(value, tuple):
        return tuple(map(_literal, value))
    if isinstance(value, float):
        return repr(value) if value == round(value, 3) else short_hex(value)
    return f"0x{value:08x}"


def _helpers() -> dict[str, str]:
    sources = {
        "pd_f32_bits": _BITS.format(name="pd_f32_bits", of="float", to="int32_t"),
        "pd_bits_f32": _BITS.format(name="pd_bits_f32", of="int32_t", to="float"),
        "pd_f64_bits": _BITS.format(name="pd_f64_bits", of="double", to="int64_t"),
        "pd_bits_f64": _BITS.format(name="pd_bits_f64", of="int64_t", to="double"),
    }
    for name in VECTOR_FUNCTIONS:
        sources[f"pd_{name}_f32"] = scalar_c(name).rstrip()
    environment = Environment(
        loader=PackageLoader("perfdojo", "templates/c/functions"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    numbers = {n: _literal(v) for n, v in vars(wide).items() if n.isupper()}
    numbers["FIRST_BIT"] = str(127 + 23 + 2 - wide.LEADING_ZEROS)
    numbers["LOG2_LEAST_BITS"] = hex(struct.unpack("q", struct.pack("d", wide.LOG2_LEAST))[0])
    for name in _TEMPLATES:
        sources[name] = environment.get_template(f"{name}.c.j2").render(numbers)
    return sources


HELPERS: dict[str, str] = _helpers()
"""Source of each: `pd_<function>_f32`, and what these call. They need math.h, stdbool.h and stdint.h."""
