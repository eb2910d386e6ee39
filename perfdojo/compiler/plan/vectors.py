"""The rest of a program: scopes of unit stride run in lanes."""

from __future__ import annotations

from math import prod

from perfdojo.compiler.analysis.touches import repeatable, statements_in, touches
from perfdojo.compiler.ir import Load, Op, Program, Scope
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.plan.legal import can_fission, can_vectorize, is_local, reductions_over
from perfdojo.compiler.plan.recipes import blocks
from perfdojo.compiler.plan.rewrites.fission import fission
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.peel import peel
from perfdojo.compiler.plan.seconds import parted, seconds_ahead
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.plan.windows import join_rows
from perfdojo.compiler.tree import find, nodes
from perfdojo.compiler.walk import const_int, subexpressions

MAX_UNROLLED = 32
"""Statements that unrolling the scopes inside a vector scope may lead to."""


CHEAP = 12
"""Operations and loads of a body up to which a pass of the loop does several vectors. Measured on Zen 3: bias
and relu over 6 MB took 8 % less time with four vectors in a pass."""

VECTORS = 4

CALLING, MOST_CALLS = 32, 2
"""The same for bodies with functions, whose latency is hidden by others of the same pass: sigmoid took 11 %
less time with four vectors, gelu 15 %, on Zen 5 with both avx2 and avx512."""

EXPENSIVE = frozenset(
    ["sqrt", "rsqrt", "exp", "log", "tanh", "erf", "sin", "cos", "sigmoid", "pow", "div", "floordiv", "mod"]
)


def vectorize_rest(program: Program, target: Target, fp: FpLevel, passes: int = 0) -> Program:
    """Return the program with every unit-stride scope marked that may run in lanes, innermost first.

    Args:
        passes: vectors in one pass of a loop; 0: as many as its work asks for.
    """
    if target.vector_bits == 0:
        return program
    for node in program.body:
        if isinstance(node, Scope):
            program, _ = _visit(program, node.name, target, fp, passes)
    return program


def _visit(program: Program, name: str, target: Target, fp: FpLevel, passes: int) -> tuple[Program, bool]:
    """Mark inside the scope `name`, else the scope itself; tell whether anything was marked."""
    scope = find(program, name)
    if scope.mark in ("vector", "unroll"):
        return program, True
    inside = [n.name for n in scope.body if isinstance(n, Scope)]
    done = False
    for child in inside:
        program, marked = _visit(program, child, target, fp, passes)
        done = done or marked
    if done:
        return program, True
    if _worthwhile(program, scope, target) and can_vectorize(program, scope, fp):
        return _mark(program, scope, target, passes), True
    if inside:
        return program, False
    return _split(program, scope, target, fp, passes)


def _mark(program: Program, scope: Scope, target: Target, passes: int) -> Program:
    """Run `scope` in lanes; short scopes in it are written out, and several vectors of a cheap body."""
    inner = [n for n in nodes(scope.body) if isinstance(n, Scope)]
    if prod(const_int(s.extent) for s in inner) * len(statements_in(scope.body)) <= MAX_UNROLLED:
        for s in inner:
            program = mark(program, s.name, "unroll")
    program = seconds_ahead(mark(program, scope.name, "vector"), scope)
    if reductions_over(scope):
        return program
    lanes = _lanes(program, scope, target)
    whole = const_int(scope.extent)
    rest = 0 if target.masked_memory else whole % lanes
    if rest and whole >= lanes and repeatable(scope):
        program, _, _ = peel(program, scope.name, whole - rest, lanes - rest)
    if inner:
        return join_rows(program, scope.name)
    block = _block(program, scope, target, passes)
    if not block:
        return program
    program, outer, inside, _ = blocks(program, scope.name, block)
    return mark(mark(program, outer, ""), inside, "vector")


def _lanes(program: Program, scope: Scope, target: Target) -> int:
    return min(widest_lanes(program, s, target) for s in statements_in(scope.body))


def _block(program: Program, scope: Scope, target: Target, passes: int) -> int:
    """Iterations of a pass of a loop over a cheap body; 0 when one vector is enough work or there are few."""
    if passes:
        block = passes * _lanes(program, scope, target)
        return block if passes > 1 and const_int(scope.extent) >= block else 0
    found = statements_in(scope.body)
    operations = [e for s in found for e in subexpressions(s.value) if isinstance(e, Op | Load)]
    calls = sum(isinstance(e, Op) and e.op in EXPENSIVE for e in operations)
    if len(operations) > (CHEAP if calls == 0 else CALLING) or calls > MOST_CALLS:
        return 0
    block = VECTORS * _lanes(program, scope, target)
    return block if const_int(scope.extent) >= 2 * block else 0


def _split(program: Program, scope: Scope, target: Target, fp: FpLevel, passes: int) -> tuple[Program, bool]:
    """Separate what may run in lanes in an innermost scope from a sum that has to keep its order."""
    for cut in range(1, len(scope.body)):
        first = Scope(scope.name, scope.extent, scope.body[:cut])
        if (
            can_fission(program, scope, cut)
            and can_vectorize(program, first, fp)
            and _worthwhile(program, first, target)
        ):
            program, (one, two) = fission(program, scope.name, [cut])
            marked = _mark(program, find(program, one), target, passes)
            return _visit(marked, two, target, fp, passes)[0], True
    return program, False


def _worthwhile(program: Program, scope: Scope, target: Target) -> bool:
    """Every access moves by one element along the scope or not at all, and there is a vector to fill.

    Every second element may be read where those between are read too.
    """
    lanes = _lanes(program, scope, target)
    if const_int(scope.extent) < max(2, lanes // (2 if target.masked_memory else 1)):
        return False
    moved = False
    for load, writes in touches(scope.body):
        step = stride(program, load, scope.name)
        if step == 2 and not writes and parted(program, scope, load.buffer, lanes, target):
            continue
        if step not in (0, 1):
            return False
        moved = moved or step == 1
        if writes and step == 0 and is_local(program, load.buffer):
            return False
    return moved
