"""Templates, and C programs of the toolchain; read as data."""
