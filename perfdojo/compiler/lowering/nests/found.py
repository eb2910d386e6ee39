"""@stream scopes: their target IR becomes a `Stream`, with the passes that a function gets."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.conflicts import depth_of
from perfdojo.compiler.analysis.coverage import Coverage
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Node, Program, Scope, Statement
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.lowering.dead import alive
from perfdojo.compiler.lowering.forward import forwarded
from perfdojo.compiler.lowering.hoist import hoisted
from perfdojo.compiler.lowering.linear import Linear, plus
from perfdojo.compiler.lowering.lir import Comment, For, If, Stmt, Stream, Value
from perfdojo.compiler.lowering.nests.build import Allowed, stream_nest
from perfdojo.compiler.lowering.nests.limits import TCDM_BYTES
from perfdojo.compiler.lowering.nests.maxima import compares
from perfdojo.compiler.lowering.nests.nest import Argument
from perfdojo.compiler.lowering.nests.tree import NestError
from perfdojo.compiler.lowering.promote import promoted
from perfdojo.compiler.lowering.walk import Facts
from perfdojo.compiler.walk import loads

DIVIDER = "xdivsqrt"
"""In `Target.features` of clusters whose FPU divides and takes roots."""
NO_LOOPS = "no xfrep"
"""In `Target.features` of clusters whose FPU repeats nothing by itself."""


def streamed(scope: Scope, code: list[Stmt], context: Context) -> list[Stmt]:
    """Return the code of a @stream scope as a nest, behind the comments of its statements.

    Raises:
        NestError: data movers and FPU cannot run it; says why.
    """
    facts = Facts(context.arena)
    body = promoted(tuple(code), context, facts)
    body = hoisted(body, context, facts)
    body = forwarded(body, context, facts)
    body = alive(body, context, frozenset(_read_outside(context.program, scope)))
    divides = DIVIDER in context.target.features
    allowed = Allowed(divides, context.allows("reassoc"), NO_LOOPS not in context.target.features)
    if allowed.reassociates and compares(body) and (reason := _why_not_again(scope, context)):
        raise NestError(reason)
    nest = stream_nest(body, context.arena, allowed)
    effects = [facts.effects(s) for s in body if not isinstance(s, Comment)]
    read = frozenset[str]().union(*(e.read for e in effects))
    written = frozenset[str]().union(*(e.written for e in effects))
    for buffer in sorted(read | written):
        if context.layouts[buffer].bytes > TCDM_BYTES:
            size = context.layouts[buffer].bytes
            raise NestError(f"{buffer} has {size} bytes, over the {TCDM_BYTES} of the TCDM")
        if context.in_main and context.buffers[buffer].role != "tmp":
            raise NestError(f"{buffer} lies in main memory, as arguments do where a scope is @dma")
    pointers = tuple(_offset(a, context) for a in nest.arguments)
    return [*_comments(code), Stream(scope.name, nest, pointers, read, written)]


def with_otherwise(code: list[Stmt], plain: list[Stmt], context: Context, scope: Scope) -> list[Stmt]:
    """Return the code of a nest with the plain code that is run where the nest meets a NaN."""
    facts = Facts(context.arena)
    body = promoted(tuple(plain), context, facts)
    body = hoisted(body, context, facts)
    body = forwarded(body, context, facts)
    body = alive(body, context, frozenset(_read_outside(context.program, scope)))
    stream = code[-1]
    assert isinstance(stream, Stream)
    return [*code[:-1], replace(stream, otherwise=body)]


def _why_not_again(scope: Scope, context: Context) -> str:
    """Return why a scope cannot be run twice with the results of once, "" when it can."""
    known = model(context.program)
    first, _ = known.extent_in_text[scope.name]
    inside = list(known.within(scope.name))
    written = {a.load.buffer for a in inside if a.writes}
    # what nests before this one have written is what it changes
    own = replace(known, by_buffer={b: [a for a in inside if a.load.buffer == b] for b in written})
    try:
        for access, _ in Coverage(own, (scope,), first, depth_of(known, scope.name), written).uncovered():
            return f"{access.load.buffer} is changed where it lies, and maxima of NaNs are computed again"
    except Undecided:
        return "it is open whether it can be run again, which maxima of NaNs need"
    return ""


def _offset(argument: Argument, context: Context) -> Value:
    form = Linear(0)
    for name, coefficient in argument.terms:
        form = plus(form, context.arena.atom(context.arena.outer(name)), coefficient)
    return context.arena.offset(form)


def _comments(body: list[Stmt] | tuple[Stmt, ...]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in body:
        if isinstance(s, Comment):
            found.append(s)
        elif isinstance(s, For | If):
            found += _comments(s.body)
    return found


def _read_outside(program: Program, scope: Scope) -> set[str]:
    """Return the buffers that are read somewhere else than in a scope."""
    found: set[str] = set()

    def look(nodes: tuple[Node, ...]) -> None:
        for n in nodes:
            if isinstance(n, Statement):
                parts = (n.value, *n.target.indices, *(() if n.guard is None else (n.guard,)))
                found.update(load.buffer for p in parts for load in loads(p))
                if n.op != "=":
                    found.add(n.target.buffer)
            elif n.name != scope.name:
                look(n.body)

    look(program.body)
    return found
