"""The record of an intrinsic: what it computes, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One intrinsic of immintrin.h and what it computes.

    Types are written by their lanes:
        f32x16 i8x64 u8x64 ...    a register read as so many lanes of this type
        b32x16 b64x8              a register of floats, read as their bits
        h16x32                    a register of bf16, read as their bits
        k16                       an opmask
        f32 i64 ...               a scalar
        imm                       a constant of the instruction
        mem                       memory, read or written as lanes of the type of the register
        aligned                   the same where the width of the register divides the address, else a fault

    Attributes:
        result: type of the result, `void` for a store.
        parameters: (type, name) of the operands.
        meaning: C expression of lane `i` of the result (`a[i] + b[i]`): a truth value for an opmask; without
            an `i` the whole opmask or scalar. For a store the statement that stores lane `i`.
        latency: cycles from operands to result; None: not known for sure.
        throughput: cycles for each of many independent ones.
        source: where both figures are from.
    """

    name: str
    result: str
    parameters: tuple[tuple[str, str], ...]
    meaning: str
    latency: float | None = None
    throughput: float | None = None
    source: str = ""
