"""What moves that keep marks share: do the marks stay true."""

from __future__ import annotations

from perfdojo.compiler.analysis.dependence import private_buffers
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import CONCURRENT_MARKS, LANE_MARKS, Program, Scope
from perfdojo.compiler.transforms._marks import why_dependent
from perfdojo.compiler.tree import nodes


def untrue_mark(after: Program, *scopes: str) -> str:
    """Return why a marked one of some scopes of the transformed program may not be; "" when all may."""
    for name in scopes:
        mark = after.scopes[name].node.mark
        if mark not in CONCURRENT_MARKS | LANE_MARKS:
            continue
        reason = why_dependent(after, name, lanes=mark in LANE_MARKS)
        if reason:
            return f"scope {name} could not stay @{mark}: {reason}"
    return ""


def copied_private(program: Program, scope: str) -> tuple[str, str] | None:
    """Return the marked scope because of which a scope cannot be copied, and why; None when it can be.

    What is private to a marked scope is accessed nowhere else, which a copy of that scope would do.
    """
    for node in nodes((program.scopes[scope].node,)):
        if not isinstance(node, Scope) or node.mark not in CONCURRENT_MARKS | LANE_MARKS:
            continue
        whose = f"private to the iterations of {node.name}, which is @{node.mark}"
        try:
            found = min(private_buffers(program, node.name), default="")
        except Undecided:
            return node.name, f"what is {whose}, is too complicated to be decided"
        if found:
            return node.name, f"{found} is {whose}; a copy of it would share that"
    return None
