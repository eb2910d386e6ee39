"""Runners: each takes a point and says what it costs on a machine, or what went wrong; none raises for it."""
