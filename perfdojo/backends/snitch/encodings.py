"""Encodings of what the assembler lacks, as macros need them: words of data movers, packed instructions."""

from __future__ import annotations

WORDS = (
    ("REPEAT", 1),
    *((f"BOUND{k}", 2 + k) for k in range(4)),
    *((f"STRIDE{k}", 6 + k) for k in range(4)),
    *((f"RPTR{k}", 24 + k) for k in range(4)),
    *((f"WPTR{k}", 28 + k) for k in range(4)),
)
"""Words of a data mover; writing a pointer launches it, with as many loops as its number and one."""

F7 = {"add": 0x41, "sub": 0x42, "mul": 0x43, "min": 0x45, "max": 0x46, "mac": 0x48, "mre": 0x49}
"""Bits that tell packed arithmetic apart; mac adds a product to the destination, mre subtracts it."""
_SIGN_F7 = {"sgnj": 0x4D, "sgnjn": 0x4E, "sgnjx": 0x4F}
PACKED = (
    *(
        (f"vf{name}_{suffix}", f3, f7)
        for suffix, f3 in (("s", 0), ("h", 2))
        for name, f7 in (*F7.items(), *_SIGN_F7.items())
    ),
    *((f"vf{name}_r_{suffix}", f3, f7) for suffix, f3 in (("s", 4), ("h", 6)) for name, f7 in F7.items()),
    ("vfcpka_s_s", 0, 0x58),
)
"""Packed instructions: name of the macro, funct3, funct7."""
PACKED_ONE = (("vfsum_s", 0, 0x47, 28), ("vfsum_h", 2, 0x47, 30))
"""Those with one operand: the second register field tells which they are."""
