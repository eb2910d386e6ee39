"""`lower`: a bound, verified program becomes a function of the target IR."""

from __future__ import annotations

from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.biased import biased
from perfdojo.compiler.lowering.cluster import clustered
from perfdojo.compiler.lowering.context import Context, Frame
from perfdojo.compiler.lowering.dead import alive
from perfdojo.compiler.lowering.forward import forwarded
from perfdojo.compiler.lowering.gpu import kernels
from perfdojo.compiler.lowering.hints import hinted
from perfdojo.compiler.lowering.hoist import hoisted
from perfdojo.compiler.lowering.lir import Function, Stmt
from perfdojo.compiler.lowering.place import placed
from perfdojo.compiler.lowering.promote import promoted
from perfdojo.compiler.lowering.rolled import rolled
from perfdojo.compiler.lowering.scopes import Scopes
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.lowering.transpose import transposed
from perfdojo.compiler.lowering.walk import Facts
from perfdojo.compiler.starts import explicit_starts


def lower(program: Program, target: Target, fp: FpLevel, threads: int = 1, cores: int = 0) -> Function:
    """Return the target IR of a program that has passed `bind` and `verify`.

    Args:
        fp: how far results may differ from the reference; see docs/language.md for `strict`.
        threads: threads that @parallel scopes are spread over; 1 emits none.
        cores: cores of a cluster that run it together, where the program has @core scopes; 0: all of them.
    """
    context = Context(explicit_starts(program), target, fp, threads, cores=cores or target.cores)
    body = kernels(context) if context.on_gpu else hinted(clustered(context) or _by_one(context), context)
    types = tuple((b.name, b.dtype) for b in context.program.buffers)
    return Function(
        program.name, body, types, tuple(sorted(context.lanes.items())), tuple(dict.fromkeys(context.notes))
    )


def _by_one(context: Context) -> tuple[Stmt, ...]:
    """Return the code of a program that one core runs, or threads that it starts."""
    body = tuple(Scopes(context).nodes(context.program.body, (), Frame({}), 1))
    facts = Facts(context.arena)
    body = transposed(body, context, facts)
    body = biased(promoted(body, context, facts), context, facts)
    body = hoisted(body, context, facts)
    body = forwarded(body, context, facts)
    return placed(rolled(alive(body, context), context), context)
