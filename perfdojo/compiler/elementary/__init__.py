"""The elementary functions: coefficients, target-neutral descriptions, C source; see docs/functions.md."""
