"""Names of the instructions and CSRs that Snitch has and Debian's objdump does not know.

Encodings: the extensions Xssr, Xfrep, Xdma and Xfvec, checked on the RTL of snitch_cluster (commit 2fa3848).
"""

from __future__ import annotations

INTEGER = (
    *("zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
    *(f"a{k}" for k in range(8)),
    *(f"s{k}" for k in range(2, 12)),
    *(f"t{k}" for k in range(3, 7)),
)
FLOAT = (
    *(f"ft{k}" for k in range(8)),
    *("fs0", "fs1"),
    *(f"fa{k}" for k in range(8)),
    *(f"fs{k}" for k in range(2, 12)),
    *(f"ft{k}" for k in range(8, 12)),
)
CSRS = {"0x7c0": "ssr", "0x7c2": "barrier", "0x7c3": "sc", "0x7c6": "copift", "0x800": "fmode"}
"""As objdump writes them, and Snitch's names."""

_FREP, _CUSTOM, _PACKED = 0x0B, 0x2B, 0x33
_STREAM_WORDS = {
    0: "status",
    1: "repeat",
    **{2 + d: f"bound{d}" for d in range(4)},
    **{6 + d: f"stride{d}" for d in range(4)},
    10: "idx_cfg",
    11: "idx_base",
    12: "idx_isect",
    **{16 + d: f"ind_rptr{d}" for d in range(4)},
    **{20 + d: f"ind_wptr{d}" for d in range(4)},
    **{24 + d: f"rptr{d}" for d in range(4)},
    **{28 + d: f"wptr{d}" for d in range(4)},
}
_DMA = {
    0: "dmsrc",
    1: "dmdst",
    2: "dmcpyi",
    3: "dmcpy",
    4: "dmstati",
    5: "dmstat",
    6: "dmstr",
    7: "dmrep",
    8: "dmuser",
}
_ARITHMETIC = {
    0x41: "vfadd",
    0x42: "vfsub",
    0x43: "vfmul",
    0x44: "vfdiv",
    0x45: "vfmin",
    0x46: "vfmax",
    0x48: "vfmac",
    0x49: "vfmre",
    0x4D: "vfsgnj",
    0x4E: "vfsgnjn",
    0x4F: "vfsgnjx",
}
_COMPARES = {0x50: "vfeq", 0x51: "vfne", 0x52: "vflt", 0x53: "vfge", 0x54: "vfle", 0x55: "vfgt"}
_FORMATS = {0: "s", 2: "h", 3: "b"}
_SUMS = {(0, 28): "vfsum.s", (2, 30): "vfsum.h", (0, 22): "vfsumex.s.h"}
_CONVERSIONS = {(2, 4): "vfcvt.h.s", (0, 6): "vfcvt.s.h"}
_PACKS = {0: "vfcpka.s.s", 2: "vfcpka.h.s", 6: "vfcpkb.h.s"}
_WIDENING = {0x4B: "vfdotpex.s.h", 0x5D: "vfndotpex.s.h"}


def custom(word: int) -> str | None:
    """Return a Snitch instruction as assembly text, operands behind a tab; None for any other word."""
    rd, rs1, rs2 = word >> 7 & 31, word >> 15 & 31, word >> 20 & 31
    f3, f7 = word >> 12 & 7, word >> 25
    opcode = word & 127
    if opcode == _FREP and word >> 7 & 1:
        mask = "".join(name for bit, name in enumerate("d123") if word >> (8 + bit) & 1)
        stagger = f", stagger {f3} of {mask}" if f3 and mask else ""
        return f"frep.o\t{INTEGER[rs1]}, {rs2 + 1} instr.{stagger}"
    if opcode == _CUSTOM:
        return _stream(word, rd, rs1, rs2, f3) or _dma(rd, rs1, rs2, f3, f7)
    if opcode == _PACKED and f7 >= 0x40:
        return _packed(rd, rs1, rs2, f3, f7)
    return None


def _stream(word: int, rd: int, rs1: int, rs2: int, f3: int) -> str | None:
    if f3 == 2 and rd == 0:
        return f"scfgwi\t{INTEGER[rs1]}, {stream_word(word >> 20)}"
    if f3 == 2 and rd == 1:
        return f"scfgw\t{INTEGER[rs1]}, {INTEGER[rs2]}"
    if f3 == 1 and rs1 == 0:
        return f"scfgri\t{INTEGER[rd]}, {stream_word(word >> 20)}"
    if f3 == 1 and rs1 == 1:
        return f"scfgr\t{INTEGER[rd]}, {INTEGER[rs2]}"
    return None


def stream_word(address: int) -> str:
    """Return the configuration word of a mover by name: `ft0.bound1`; `all` are all three movers."""
    mover = address & 31
    who = "all" if mover == 31 else f"ft{mover}"
    return f"{who}.{_STREAM_WORDS.get(address >> 5, address >> 5)}"


def _dma(rd: int, rs1: int, rs2: int, f3: int, f7: int) -> str | None:
    name = _DMA.get(f7) if f3 == 0 else None
    if name is None:
        return None
    d, a, b = INTEGER[rd], INTEGER[rs1], INTEGER[rs2]
    operands = {
        "dmcpyi": f"{d}, {a}, {rs2}",
        "dmcpy": f"{d}, {a}, {b}",
        "dmstati": f"{d}, {rs2}",
        "dmstat": f"{d}, {b}",
        "dmrep": a,
    }
    return f"{name}\t{operands.get(name, f'{a}, {b}')}"


def _packed(rd: int, rs1: int, rs2: int, f3: int, f7: int) -> str | None:
    d, a, b = FLOAT[rd], FLOAT[rs1], FLOAT[rs2]
    if f7 == 0x47 and (f3, rs2) in _SUMS:
        return f"{_SUMS[f3, rs2]}\t{d}, {a}"
    if f7 == 0x4C and (f3, rs2) in _CONVERSIONS:
        return f"{_CONVERSIONS[f3, rs2]}\t{d}, {a}"
    if f7 == 0x58 and f3 in _PACKS:
        return f"{_PACKS[f3]}\t{d}, {a}, {b}"
    if f7 in _WIDENING and f3 == 0:
        return f"{_WIDENING[f7]}\t{d}, {a}, {b}"
    form = _FORMATS.get(f3 & 3)
    if form is None:
        return None
    replicated = ".r" if f3 & 4 else ""
    if f7 == 0x47 and rs2 == 0 and not replicated:
        return f"vfsqrt.{form}\t{d}, {a}"
    if f7 in _ARITHMETIC:
        return f"{_ARITHMETIC[f7]}{replicated}.{form}\t{d}, {a}, {b}"
    if f7 in _COMPARES:
        return f"{_COMPARES[f7]}{replicated}.{form}\t{INTEGER[rd]}, {a}, {b}"
    return None
