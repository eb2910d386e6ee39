"""AArch64: natively on such a machine, else built by a cross compiler and run by qemu."""

from __future__ import annotations

from perfdojo.toolchains.cross import Cross

CROSS = Cross(
    machine="aarch64",
    compiler="aarch64-linux-gnu-gcc",
    package="gcc-aarch64-linux-gnu",
    emulator="qemu-aarch64",
    emulator_package="qemu-user",
    libraries="/usr/aarch64-linux-gnu",
)
