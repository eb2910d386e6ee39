"""Quantities as people read them: three digits and an SI prefix; costs of a call; counts."""

from __future__ import annotations


def quantity(value: float, unit: str) -> str:
    """Return `value` with three digits and an SI prefix: `8.31 µs`, `124 GFLOP/s`."""
    for factor, prefix in (
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
    ):
        if abs(value) >= factor * 0.9995:
            return f"{_three(value / factor)} {prefix}{unit}"
    return f"{_three(value / 1e-9)} n{unit}"


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def cost_text(value: float, unit: str) -> str:
    """Return a cost: seconds with a prefix, anything else (cycles) as an integer with its unit."""
    return quantity(value, "s") if unit == "s" else f"{value:.0f} {unit}"


def counted(count: int, what: str) -> str:
    """Return `1 move`, `2 moves`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
