"""Faults to plant: each changes one place of the compiler's source into something wrong."""

from __future__ import annotations

from tests.fuzz.faults import analyses, buffers, edits, lowering, scopes, values
from tests.fuzz.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    *scopes.FAULTS,
    *buffers.FAULTS,
    *values.FAULTS,
    *analyses.FAULTS,
    *edits.FAULTS,
    *lowering.FAULTS,
)

__all__ = ["FAULTS", "Fault"]
