"""What a file for NVRTC has to say itself, which compiles without the headers of a host: types and limits."""

from __future__ import annotations

import re

_TYPES = {8: "char", 16: "short", 32: "int", 64: "long long"}


def _lines() -> dict[str, str]:
    found = {"INFINITY": "__int_as_float(0x7f800000)", "NAN": "__int_as_float(0x7fffffff)"}
    for bits in _TYPES:
        most, suffix = (1 << bits - 1) - 1, "LL" if bits == 64 else ""
        found[f"INT{bits}_MAX"] = f"{most}{suffix}"
        found[f"INT{bits}_MIN"] = f"(-{most}{suffix} - 1)"
        found[f"UINT{bits}_MAX"] = f"{2 * most + 1}{'ULL' if bits == 64 else 'U' if bits == 32 else ''}"
    lines = {name: f"#define {name} {value}" for name, value in found.items()}
    lines["INT64_C"] = "#define INT64_C(x) x##LL"
    for bits, type in _TYPES.items():
        signed = "signed char" if bits == 8 else type
        lines[f"int{bits}_t"] = f"typedef {signed} int{bits}_t;"
        lines[f"uint{bits}_t"] = f"typedef unsigned {type} uint{bits}_t;"
    return lines


_LINES = _lines()


def instead_of_headers(code: str) -> list[str]:
    """Return the lines that define what the code uses of <stdint.h> and <math.h> beside functions."""
    used = set(re.findall(r"\w+", code))
    return [line for name, line in _LINES.items() if name in used]
