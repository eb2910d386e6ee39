"""The systems that are measured, a file each; only NumPy is imported until one is used."""
