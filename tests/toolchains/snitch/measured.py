"""Packed operations with the words that the RTL gave.

Operands and results, whole 64-bit registers, of programs that ran on the RTL of snitch_cluster 2fa3848
(FPnew e5aa6a0) under Verilator.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import pack, unpack

from tests.toolchains.snitch.fp_formats import Format, H, S


def pair(low: int, high: int) -> int:
    return low | high << 32


def floats(low: float, high: float) -> int:
    return int(unpack("<Q", pack("<2f", low, high))[0])


def halves(*lanes: int) -> int:
    return sum(h << 16 * i for i, h in enumerate(lanes))


@dataclass(frozen=True, slots=True)
class Measured:
    """Operation, formats (equal for lane-wise ones), rd, rs1, rs2 before, the result."""

    op: str
    to: Format
    source: Format
    registers: tuple[int, int, int]
    result: int
    replicate: bool = False


def same(f: Format, registers: tuple[int, int, int], results: dict[str, tuple[int, int]]) -> list[Measured]:
    """`.r` after the operation stands for the replicating form."""
    return [
        Measured(op.removesuffix(".r"), f, f, registers, pair(*words), op.endswith(".r"))
        for op, words in results.items()
    ]


PAIRS = (floats(100.0, -200.0), floats(3.0, -5.0), floats(2.0, 7.0))
COMPARED = (floats(100.0, -200.0), floats(2.0, 5.0), floats(2.0, 7.0))
QUADS = (
    halves(0x4900, 0x4D00, 0x4F80, 0x5100),
    halves(0x3C00, 0x4000, 0x4200, 0x4400),
    halves(0x4000, 0x3C00, 0xBC00, 0x3800),
)
CLEARED = (0, *QUADS[1:])
PACKED = (floats(134516736.0, 34443100160.0), floats(3.0, -5.0), floats(2.0, 7.0))
NARROWED = pair(3305128448, 4294967295)

LANE_WISE = [
    *same(
        S,
        PAIRS,
        {
            "add": (1084227584, 1073741824),
            "add.r": (1084227584, 3225419776),
            "sub": (1065353216, 3242196992),
            "sub.r": (1065353216, 3235905536),
            "mul": (1086324736, 3255566336),
            "mul.r": (1086324736, 3240099840),
            "min": (1073741824, 3231711232),
            "min.r": (1073741824, 3231711232),
            "max": (1077936128, 1088421888),
            "max.r": (1077936128, 1073741824),
            "mac": (1121189888, 3278569472),
            "mac.r": (1121189888, 3276931072),
            "mre": (1119617024, 3273981952),
            "mre.r": (1119617024, 3275620352),
            "sgnj": (1077936128, 1084227584),
            "sgnjn": (3225419776, 3231711232),
            "sgnjx": (1077936128, 3231711232),
        },
    ),
    *same(
        S,
        COMPARED,
        {"eq": (1, 0), "ne": (2, 0), "lt": (2, 0), "ge": (1, 0), "le": (3, 0), "gt": (0, 0)},
    ),
    *same(
        H,
        QUADS,
        {
            "add": (1107313152, 1149255680),
            "add.r": (1140867584, 1174422784),
            "sub": (1006681088, 1124090880),
            "mul": (1073758208, 1073791488),
            "mul.r": (1140867072, 1207977472),
            "min": (1006648320, 939572224),
            "max": (1073758208, 1140867584),
            "mac": (1300253184, 1363168960),
            "mac.r": (1308641792, 1375752320),
            "sgnj": (1073757184, 1140900352),
            "sgnjn": (3221273600, 3288351232),
        },
    ),
]
TWO_FORMATS = [
    Measured("cpka", S, S, PAIRS, pair(1077936128, 1073741824)),
    Measured("sum", S, S, PAIRS, pair(1120141312, 4294967295)),
    Measured("sum", H, H, QUADS, pair(1321224832, 4294967295)),
    Measured("dotpex", S, H, CLEARED, pair(1082130432, 3212836864)),
    Measured("ndotpex", S, H, CLEARED, pair(3229614080, 1065353216)),
    Measured("sumex", S, H, CLEARED, pair(1077936128, 1088421888)),
    Measured("cpka", H, S, PACKED, pair(1073758720, 1358974848)),
    Measured("cpkb", H, S, PACKED, pair(1291864320, 1073758720)),
    Measured("cvt", H, S, PACKED, NARROWED),
    Measured("cvt", S, H, (0, NARROWED, 0), pair(1077936128, 3231711232)),
]
