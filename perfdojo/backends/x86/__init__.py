"""What the x86 targets share: registers, records of instructions, their printer, and their emulation."""
