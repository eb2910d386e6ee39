"""RISC-V with vectors: native on such a machine, else built by clang with Debian's C library, run by qemu."""

from __future__ import annotations

from perfdojo.toolchains.cross import Cross

CROSS = Cross(
    machine="riscv64",
    compiler="clang-19",
    package="clang-19 gcc-riscv64-linux-gnu libc6-dev-riscv64-cross",
    emulator="qemu-riscv64",
    emulator_package="qemu-user",
    libraries="/usr/riscv64-linux-gnu",
    emulator_options=("-cpu", "rv64,v=true,vext_spec=v1.0,vlen=128"),
    flags=("--target=riscv64-linux-gnu",),
    threads=False,
)
"""gcc knows the vector intrinsics from version 14 on; Debian 12 has gcc 12, and clang 19 knows them.

Debian has no OpenMP library of clang for RISC-V, so no threads."""
