"""Whether a scope can be streamed: the answer of lowering itself, for moves."""

from __future__ import annotations

from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.lir import INDEX
from perfdojo.compiler.lowering.nests.tree import NestError
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.walk import const_int


def why_not_streamed(program: Program, scope: str, target: Target, fp: FpLevel) -> str:
    """Return why a scope that is marked @stream would run without streams, "" when it would not."""
    context = Context(explicit_starts(program), target, fp, 1)
    place = context.program.scopes[scope]
    arena = context.arena
    env = {s.name: arena.atom(arena.var(s.name, INDEX, (0, const_int(s.extent) - 1))) for s in place.around}
    try:
        Scopes(context).nest(place.node, place.around, Frame(env), 1)
    except NestError as why:
        return str(why)
    return ""
