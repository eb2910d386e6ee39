"""Plan: what the moves before have left open is done as without a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfdojo.compiler.ir import Program, Scope
from perfdojo.compiler.plan.knobs import NAMES, Knobs, known_knobs
from perfdojo.compiler.schedule.prepare import prepare
from perfdojo.compiler.transforms.base import Setting, Transform, Violation
from perfdojo.compiler.transforms.spelling import arg
from perfdojo.compiler.tree import nodes

LEFT = ("", "parallel")
"""Marks that say nothing about how a core runs a scope."""


@dataclass(frozen=True, slots=True)
class Plan(Transform):
    """Let the planner do the rest: register tiles, lanes, packing, prefetches and stores as it finds good.

        plan
        m n y[m,n] = max(x[m,n], 0)   ->   m n_o n_i@vector y[m,n_o*64+n_i] = max(x[m,n_o*64+n_i], 0)

        plan rows 4 vectors 2
        m n k c[m,n] += a[m,k] * b[k,n]   ->   n_o m_o k m_i:4@unroll n_i:32@vector c[..] += a[..] * b[..]

    Nests in which a scope is marked stay as they are, but for @parallel, so moves before it decide what they
    name, and moves behind it change what it has made. `rows` and `vectors` are the most that a register tile
    may have; `passes` vectors make one pass of a loop, and `sums` rows are summed in one, where there are so
    many. Where data movers feed the FPU, `rows` results are computed side by side, and `sums` accumulators
    where they are few. With `parallel` outermost scopes run on threads, where that is worth it.

    0. Some nest has no marked scope.
    1. The planner of the target has a use for the numbers that are given.
    """

    rows: int = arg("int", "rows", default=0)
    vectors: int = arg("int", "vectors", default=0)
    passes: int = arg("int", "passes", default=0)
    sums: int = arg("int", "sums", default=0)
    parallel: bool = arg("flag", "parallel", default=False)

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        if _open(program):
            yield cls()

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        if not _open(program):
            yield Violation(0, "every nest has a marked scope", "'sequential SCOPE' takes a mark away")
        known = known_knobs(setting.target)
        for name in NAMES:
            if getattr(self, name) and name not in known:
                hint = f"it has {', '.join(known)}" if known else "it has none"
                yield Violation(1, f"the planner of {setting.target.name} has no number '{name}'", hint)

    def rewrite(self, program: Program) -> Program:
        raise TypeError("a plan is one for a machine: apply(program, setting) makes it")

    def rewrite_for(self, program: Program, setting: Setting) -> Program:
        from perfdojo.compiler.plan import plan

        knobs = Knobs(self.rows, self.vectors, self.passes, self.sums)
        threads = 2 if self.parallel else 1
        return prepare(plan(program, setting.target, setting.fp, threads, knobs))


def _open(program: Program) -> bool:
    """Tell whether there is a nest without a marked scope."""
    return any(
        isinstance(node, Scope)
        and all(n.mark in LEFT for n in (node, *(s for s in nodes(node.body) if isinstance(s, Scope))))
        for node in program.body
    )


TRANSFORM = Plan
