"""What lowering would make of a scope in lanes, tried on that scope alone."""

from __future__ import annotations

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.ir import Op, Program, Scope
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.lanes import inner_statements, sums
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import INDEX
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.tree import rebuild
from perfdojo.compiler.walk import const_int, subexpressions


def why_scalar(program: Program, scope: str, target: Target, fp: FpLevel) -> str:
    """Return why lowering would leave a scope scalar if it were marked @vector; "" when it would not.

    The answer is that of `lower` itself, which is asked for the code of the scope, or of the one behind
    which the sums over its lanes end.
    """
    answers, key = model(program).answers, ("scalar", scope, target.name, fp)
    if key not in answers:
        answers[key] = _why_scalar(program, scope, target, fp)
    return str(answers[key])


def _why_scalar(program: Program, scope: str, target: Target, fp: FpLevel) -> str:
    if not target.vector_bits:
        return f"{target.name} has no vectors"
    marked = rebuild(program, scope, lambda s: (Scope(s.name, s.extent, s.body, "vector", s.span),))
    place = marked.scopes[scope]
    context = Context(marked, target, fp, threads=1, trial=_alike(place.node))
    home = sums(place.node, place.around, context).home or scope
    at = marked.scopes[home]
    env = {s.name: _iteration(s, context) for s in at.around}
    # lanes of words that data movers deliver come before the streams: alone, elements fill no words
    nest = "stream" in target.marks
    frame = Frame(env, parallel=any(s.mark == "parallel" for s in at.around), nest=nest)
    Scopes(context).nodes((at.node,), at.around, frame, 1)
    if scope in context.lanes:
        return ""
    start = f"scope {scope}: not vectorised, "
    found = (n.removeprefix(start) for n in context.notes if n.startswith(start))
    return next(found, f"{const_int(place.node.extent)} iterations do not fill a vector")


_DIFFERING = frozenset(("select", "and", "or", "floordiv", "mod"))
"""Operations that can come to something else in one vector of a scope than in another."""


def _alike(scope: Scope) -> bool:
    """Tell whether two vectors of a scope can stand for all of them."""
    for s in inner_statements(scope.body):
        for root in (s.value, *s.target.indices):
            if any(isinstance(e, Op) and e.op in _DIFFERING for e in subexpressions(root)):
                return False
        if s.guard is not None:
            return False
    return True


def _iteration(scope: Scope, context: Context) -> Linear:
    last = const_int(scope.extent) - 1
    if last == 0:
        return Linear(0)
    return context.arena.atom(context.arena.var(scope.name, INDEX, (0, last)))
