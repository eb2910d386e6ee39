"""AArch64: natively on such a machine, else built by a cross compiler and run by qemu."""

from __future__ import annotations

from perfdojo.toolchains.cross import Cross
from perfdojo.toolchains.mca import Model

PIPES = (("neoverse-n1", 2), ("neoverse-v1", 4), ("neoverse-v2", 4))
"""FP/ASIMD units, of 128 bits each, by the software optimization guides of these cores (Arm)."""

CROSS = Cross(
    machine="aarch64",
    compiler="aarch64-linux-gnu-gcc",
    package="gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    emulator="qemu-aarch64",
    emulator_package="qemu-user",
    libraries="/usr/aarch64-linux-gnu",
    models=tuple(Model(n, "aarch64", pipes) for n, pipes in PIPES),
)
