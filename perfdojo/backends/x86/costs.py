"""Latency and throughput of intrinsics on Skylake-X (two 512-bit FMA units), as far as they are sure."""

from __future__ import annotations

import re

SOURCE = "A. Fog, Instruction tables (agner.org/optimize), section Intel Skylake-X"

_ROWS: tuple[tuple[str, float, float], ...] = (
    (r"_mm\d*_(add|sub|mul|fmadd|fmsub|fnmadd|fnmsub)_p[sd]", 4, 0.5),
    (r"_mm\d*_(min|max)_p[sd]", 4, 0.5),
    (r"_mm_div_ps", 11, 3),
    (r"_mm256_div_ps", 11, 5),
    (r"_mm512_div_ps", 17, 10),
    (r"_mm256_div_pd", 14, 8),
    (r"_mm512_div_pd", 24, 16),
    (r"_mm_sqrt_ps", 12, 3),
    (r"_mm256_sqrt_ps", 12, 6),
    (r"_mm512_sqrt_ps", 20, 12),
    (r"_mm(256)?_(add|sub)_epi\d+", 1, 1 / 3),
    (r"_mm512_(add|sub)_epi\d+", 1, 0.5),
    (r"_mm(256)?_(and|or|xor|andnot)_(ps|pd|si\d+)", 1, 1 / 3),
    (r"_mm512_(and|or|xor|andnot)_(ps|pd|si\d+)", 1, 0.5),
    (r"_mm(256)?_mullo_epi16", 5, 0.5),
    (r"_mm(256)?_mullo_epi32", 10, 1),
    (r"_mm\d*_(cvtepi32_ps|cvtt?ps_epi32)", 4, 0.5),
    (r"_mm\d*_cmp(eq|lt|le|gt|ge|neq)?_(ps|pd|epi\d+|epu8)_mask", 3, 1),
)


def cost(name: str) -> tuple[float | None, float | None, str]:
    """Return latency and throughput in cycles and their source; (None, None, "") when not known for sure."""
    for pattern, latency, throughput in _ROWS:
        if re.fullmatch(pattern, name):
            return latency, throughput, SOURCE
    return None, None, ""
