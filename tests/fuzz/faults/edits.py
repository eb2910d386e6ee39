"""Faults in the edits of trees and indices that all rewrites share."""

from __future__ import annotations

from tests.fuzz.faults.fault import Fault, fault

FAULTS: tuple[Fault, ...] = (
    fault(
        "tree",
        "a new guard replaces the old one",
        'guard = condition if n.guard is None else Op("and", (condition, n.guard))',
        "guard = condition",
    ),
    fault(
        "linear",
        "a negated form keeps its sign",
        "return Linear().plus(left, -1)",
        "return left",
    ),
    fault(
        "linear",
        "a scaled form keeps its constant",
        "self.const + times * other.const)",
        "self.const + other.const)",
    ),
    fault(
        "linear",
        "a quotient is folded by its operands before the change",
        "args = tuple([_spelled(p) for p in parts])",
        "args = tuple([p[0] for p in parts])",
    ),
    fault(
        "starts",
        "a maximum starts at 0",
        'value = -inf if op == "max=" else inf',
        'value = 0.0 if op == "max=" else inf',
    ),
)
