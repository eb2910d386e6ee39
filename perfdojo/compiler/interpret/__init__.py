"""The reference: what a program means, executed literally on NumPy arrays."""
