"""Iterations of a statement and their order in time, as isl sets and maps.

They are those of the program with explicit starts.
"""

from __future__ import annotations

import islpy as isl

from perfdojo.compiler.analysis.accesses import Access, Model, model
from perfdojo.compiler.analysis.formula import point
from perfdojo.compiler.ir import Program
from perfdojo.compiler.walk import const_int


def domain(program: Program | Model, statement: str, must: bool = False) -> isl.Set:
    """Return the iterations [i0, ..., ik] of the scopes around a statement in which it happens.

    Args:
        must: where data decide, leave out what may not happen instead of including what may.
    Raises:
        Undecided: the guard is too complicated.
        KeyError: no such statement.
    """
    known = model(program)
    sets = known.sets
    with sets.decided():
        return sets.domain(_target(known, statement), must)


def schedule(program: Program | Model, statement: str) -> isl.Map:
    """Return iteration -> time of a statement; the program runs in lexicographic order of times.

    Times have 2 * depth + 1 dimensions, where depth is that of the deepest nest: position in the body of the
    program, iteration of the first scope, position in its body, and so on; zeros fill the rest.

    Raises:
        KeyError: no such statement.
    """
    known = model(program)
    target = _target(known, statement)
    depth = max(len(around) for around, _ in known.statements)
    names = [f"i{d}" for d in range(len(target.scopes))]
    limits = [f"0 <= i{d} < {const_int(s.extent)}" for d, s in enumerate(target.scopes)]
    time: list[str] = []
    body = known.explicit.body
    for name, scope in zip(names, target.scopes, strict=True):
        time += [str(next(n for n, node in enumerate(body) if node is scope)), name]
        body = scope.body
    time.append(str(next(n for n, node in enumerate(body) if node is target.statement)))
    time += ["0"] * (2 * depth + 1 - len(time))
    return known.sets.map(f"{{ {point(names)} -> {point(time)} : {' and '.join(limits) or '1 = 1'} }}")


def _target(known: Model, statement: str) -> Access:
    """The access by which a statement writes; it happens when the statement does."""
    for accesses in known.accesses:
        if accesses[-1].statement.name == statement:
            return accesses[-1]
    raise KeyError(statement)
