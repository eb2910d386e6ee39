"""What the moves that give a scope a mark share: who may have it, and the edit."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from perfdojo.compiler.analysis.dependence import is_parallel, is_vectorizable
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.tree import nodes, rebuild


def not_offered(setting: Setting, mark: str) -> str:
    """Return that the target has no such mark, or ""."""
    return "" if mark in setting.target.marks else f"target {setting.target.name} has no @{mark}"


def with_mark(program: Program, scope: str, mark: str) -> Program:
    """Return the program with a scope marked."""
    return rebuild(program, scope, lambda s: (replace(s, mark=mark),))


def around(program: Program, scope: str, marks: Collection[str]) -> Scope | None:
    """Return the innermost scope around `scope` that has one of the marks."""
    found = (s for s in reversed(program.scopes[scope].around) if s.mark in marks)
    return next(found, None)


def inside(program: Program, scope: str, marks: Collection[str]) -> Scope | None:
    """Return the first scope inside `scope` that has one of the marks."""
    found = (n for n in nodes(program.scopes[scope].node.body) if isinstance(n, Scope) and n.mark in marks)
    return next(found, None)


def why_dependent(program: Program, scope: str, lanes: bool = False) -> str:
    """Return why the iterations of a scope may not run at the same time (or in lanes); "" if they may."""
    try:
        found = (is_vectorizable if lanes else is_parallel)(program, scope)
    except Undecided:
        return "its iterations are too complicated to be told apart"
    return found or ""


SEQUENTIAL = "'sequential {}' takes a mark away"
"""Hint where a scope has a mark already."""
