"""Scripts that measure, and what they measure."""
