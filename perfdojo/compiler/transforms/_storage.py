"""What the moves on buffers and values share: declarations, accesses, marks that stay true, text types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import prod

from perfdojo.compiler.analysis.accesses import Model, common_scopes
from perfdojo.compiler.analysis.dependence import is_parallel, is_vectorizable
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.bind import fold
from perfdojo.compiler.dtypes import BOOL, F64, I64, DType
from perfdojo.compiler.ir import (
    CONCURRENT_MARKS,
    LANE_MARKS,
    Buffer,
    Cast,
    Expr,
    Iter,
    Literal,
    Load,
    Node,
    Op,
    Program,
    Scope,
    SizeRef,
    Statement,
)
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.text.parse import MAX_DEPTH
from perfdojo.compiler.tree import Body
from perfdojo.compiler.walk import children, const_int, loads, map_statement, map_statements, subexpressions

UNDECIDED = "the integer sets of its accesses are too complicated to decide it"


def bytes_of(buffer: Buffer) -> int:
    """Return the memory that a buffer takes."""
    pad = buffer.pad or (0,) * len(buffer.shape)
    stored = (const_int(e) + pad[d] for d, e in enumerate(buffer.shape) if d not in buffer.reuse)
    return buffer.dtype.bytes * prod(stored)


def with_buffers(
    program: Program, changed: Iterable[Buffer] = (), gone: str = "", body: Body | None = None
) -> Program:
    """Return the program with buffers declared anew or added, one left out, another body."""
    new = {b.name: b for b in changed}
    kept = [new.pop(b.name, b) for b in program.buffers if b.name != gone]
    return replace(program, buffers=(*kept, *new.values()), body=program.body if body is None else body)


def touches(statement: Statement, buffer: str) -> bool:
    """Tell whether a statement accesses a buffer."""
    parts = (statement.target, statement.value, *((statement.guard,) if statement.guard is not None else ()))
    return any(load.buffer == buffer for e in parts for load in loads(e))


def map_accesses(body: Body, buffer: str, fn: Callable[[Load], Expr]) -> Body:
    """Return the body with every access to a buffer, written ones too, replaced."""

    def changed(e: Expr) -> Expr:
        return fn(e) if isinstance(e, Load) and e.buffer == buffer else e

    def statement(s: Statement) -> Statement:
        return map_statement(changed, s) if touches(s, buffer) else s

    return map_statements(statement, body)


def common_of(known: Model, buffer: str) -> tuple[Scope, ...]:
    """Return the scopes around every access to a buffer, outermost first."""
    accesses = known.by_buffer.get(buffer, [])
    if not accesses:
        return ()
    first = accesses[0]
    return first.scopes[: min(common_scopes(first, a) if a is not first else len(a.scopes) for a in accesses)]


def marked_around(known: Model, *buffers: str) -> list[str]:
    """Return the scopes around accesses to some buffers whose mark claims that iterations are independent."""
    found = {
        s.name: None
        for buffer in buffers
        for a in known.by_buffer.get(buffer, ())
        for s in a.scopes
        if s.mark in CONCURRENT_MARKS | LANE_MARKS
    }
    return list(found)


def broken_mark(program: Program, names: Iterable[str]) -> str:
    """Return why the mark of one of these scopes is not true in a program; "" when all are."""
    for name in names:
        mark = program.scopes[name].node.mark
        try:
            found = (is_vectorizable if mark in LANE_MARKS else is_parallel)(program, name)
        except Undecided:
            found = "it could no longer be decided whether its iterations are independent"
        if found:
            return f"scope {name} is marked @{mark}, but then {found}"
    return ""


def in_hardware_loop(around: Iterable[Scope]) -> str:
    """Return that new statements would stand in a stream or hardware loop; "" when they would not."""
    found = next((s for s in around if s.mark in ("stream", "frep")), None)
    return f"what is added would stand in scope {found.name}, which is @{found.mark}" if found else ""


def without_empty(body: Body, drop: Callable[[Statement], bool]) -> Body:
    """Return the body without some statements, and without the scopes that held no other."""
    out: list[Node] = []
    for n in body:
        if isinstance(n, Scope):
            inner = without_empty(n.body, drop)
            if inner:
                out.append(n if inner == n.body else replace(n, body=inner))
        elif not drop(n):
            out.append(n)
    return tuple(out)


# ---------------------------------------------------------------- what the text makes of an expression


def folded(expr: Expr) -> Expr:
    """Return an expression with operations on i64 literals computed, as reading its text does."""
    from perfdojo.compiler.walk import map_expr

    return map_expr(fold, expr)


def reads_back(statement: Statement, program: Program) -> bool:
    """Tell whether the text of a statement gives its literals their types, and is not too deep."""
    exprs = [(statement.value, program.buffer(statement.target.buffer).dtype)]
    if statement.guard is not None:
        exprs.append((statement.guard, BOOL))
    return all(_fits(e, dtype, program) and depth(e) < MAX_DEPTH for e, dtype in exprs) and _fits(
        statement.target, None, program
    )


def depth(expr: Expr) -> int:
    """Return at most how deep the text of an expression nests, parentheses counted."""
    inner = (depth(a) + (isinstance(a, Op) and bool(OPS[a.op].symbol)) for a in children(expr))
    return 1 + max(inner, default=0)


def _own(expr: Expr, program: Program) -> DType | None:
    """The type that the text of an expression has by itself."""
    match expr:
        case Literal(dtype=dtype):
            return BOOL if dtype == BOOL else None
        case SizeRef():
            return None
        case Iter():
            return I64
        case Load(buffer=name):
            return program.buffer(name).dtype
        case Cast(dtype=dtype):
            return dtype
        case Op(op=op, args=args):
            if OPS[op].rule in ("compare", "logic"):
                return BOOL
            found = (_own(a, program) for a in (args[1:] if op == "select" else args))
            return next((f for f in found if f is not None), None)


def _alone(exprs: Iterable[Expr]) -> DType:
    """The type of expressions of literals without a context."""
    parts = (p for e in exprs for p in subexpressions(e))
    return F64 if any(isinstance(p, Literal) and p.dtype.is_float for p in parts) else I64


def _fits(expr: Expr, expected: DType | None, program: Program) -> bool:
    found = _own(expr, program)
    dtype = found or expected or _alone((expr,))
    match expr:
        case Literal():
            return expr.dtype == dtype
        case Load(indices=indices):
            return all(_fits(i, _own(i, program) or I64, program) for i in indices)
        case Cast(arg=arg):
            return _fits(arg, None, program)
        case Op(op="neg", args=(Literal(value=value),)) if not str(value).startswith("-"):
            return False  # its text is that of a negative literal
        case Op(op=op, args=args):
            rule = OPS[op].rule
            if rule == "logic":
                return all(_fits(a, BOOL, program) for a in args)
            if rule == "select":
                return _fits(args[0], BOOL, program) and all(_fits(a, dtype, program) for a in args[1:])
            if rule == "compare":
                owned = (_own(a, program) for a in args)
                dtype = next((o for o in owned if o is not None), None) or _alone(args)
            return all(_fits(a, dtype, program) for a in args)
    return True
