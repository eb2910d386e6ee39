"""The reference: what a program means, executed on NumPy arrays, and a float64 reference with error bounds."""
