"""Random valid programs: the food of every property test."""
