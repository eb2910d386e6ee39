"""Descriptions of targets for the planner, which only asks for widths and registers."""

from perfdojo.backends import get_target

TARGETS = {name: get_target(name) for name in ("c", "avx2", "avx512")}
