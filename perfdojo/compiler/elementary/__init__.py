"""The elementary functions: coefficients, target-neutral descriptions, C source. docs/functions.md explains them."""
