"""What the x86 targets share: names of registers and intrinsics, records, and their emulation."""
