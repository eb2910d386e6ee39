"""The Snitch toolchain: ELF files of kernels, a simulated cluster, and where the cycles went."""
