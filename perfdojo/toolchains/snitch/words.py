"""What the simulator's names of causes mean, in the words of reports."""

from __future__ import annotations

from collections.abc import Mapping

CORE = {
    "load": "load",
    "fp": "result of the FPU",
    "muldiv": "multiplier",
    "stream_config": "stream configuration",
    "dma": "DMA",
    "write_port": "register port",
    "offload": "FP queue full",
    "lsu": "memory port",
    "fence": "fence",
    "icache": "instruction cache",
    "barrier": "barrier",
}
"""For what an integer core waits."""
FPU = {
    "fp_raw": "operand",
    "fp_waw": "destination",
    "stream_empty": "stream empty",
    "stream_full": "stream full",
    "fp_lsu": "FP memory port",
    "fpu_busy": "FPU busy",
    "fp_idle": "nothing to do",
    "frep_wait": "FREP before",
}
"""For what an FP subsystem waits."""


def stalls_text(stalls: Mapping[str, int]) -> str:
    """Return waits in words, by unit, the longest first; "" when there are none."""
    known = {**CORE, **FPU}
    parts = []
    for unit, names in (("integer core", CORE), ("FPU", {k: k for k in stalls if k not in CORE})):
        found = sorted(((n, k) for k, n in stalls.items() if k in names and n), reverse=True)
        if found:
            parts.append(f"{unit}: " + ", ".join(f"{known.get(k, k)} {n}" for n, k in found))
    return "; ".join(parts)
