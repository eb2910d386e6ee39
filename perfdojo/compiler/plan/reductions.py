"""Reductions that are no contraction: columns are summed row by row, dot products share their operand."""

from __future__ import annotations

from perfdojo.compiler.analysis.touches import reads
from perfdojo.compiler.ir import Program, Scope, Statement
from perfdojo.compiler.linear import linear
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.plan.contraction import widest_lanes
from perfdojo.compiler.plan.legal import can_vectorize, independent
from perfdojo.compiler.plan.recipes import blocks, extent, isolate, order_chain
from perfdojo.compiler.plan.rewrites.interchange import interchange
from perfdojo.compiler.plan.rewrites.mark import mark
from perfdojo.compiler.plan.rewrites.sink import sink
from perfdojo.compiler.plan.strides import stride
from perfdojo.compiler.walk import const_int, statements

ROWS = 4
"""Rows added in one pass over the accumulators, which are then loaded and stored once for all of them."""

COLUMNS = 2048
"""Accumulators of one pass, so that they stay in the first-level cache."""

LEAST_ROWS = 16


def arrange_reductions(program: Program, target: Target, fp: FpLevel, rows: int = 0) -> Program:
    """Return the program with column sums and groups of dot products rearranged and marked.

    Args:
        rows: added in one pass, or dot products side by side; 0: ROWS.
    """
    rows = rows or ROWS
    if target.vector_bits == 0:
        return program
    for name in [s.name for _, s in statements(program) if s.op != "="]:
        around, statement = _at(program, name)
        if (
            len(around) < 2
            or statement.guard is not None
            or any(s.mark in ("vector", "unroll") for s in around)
        ):
            continue
        changed = _columns(program, name, target, rows) or _dots(program, name, target, fp, rows)
        program = changed or program
    return program


def _at(program: Program, name: str) -> tuple[tuple[Scope, ...], Statement]:
    return next((a, s) for a, s in statements(program) if s.name == name)


def _columns(program: Program, name: str, target: Target, at_once: int) -> Program | None:
    """rows { columns { y[columns] += x[rows,columns] } } -> columns_o { rows_o { columns_i { rows_i } } }"""
    around, statement = _at(program, name)
    pair = around[-2:]
    for columns, rows in (pair, pair[::-1]):
        if not _is_columns(program, statement, columns, rows, target):
            continue
        if columns is pair[0]:
            separated = isolate(program, columns.name, rows.name)
            if separated is None:
                return None
            program = separated
            pair = _at(program, name)[0][-2:]
            columns, rows = pair
        if len(pair[0].body) != 1 or len(pair[1].body) != 1:
            return None
        ordered = order_chain(program, [rows.name, columns.name])
        return None if ordered is None else _by_rows(ordered, rows.name, columns.name, at_once)
    return None


def _is_columns(program: Program, s: Statement, columns: Scope, rows: Scope, target: Target) -> bool:
    if const_int(rows.extent) < LEAST_ROWS or const_int(columns.extent) < widest_lanes(program, s, target):
        return False
    if any(linear(i) is None for i in s.target.indices) or stride(program, s.target, columns.name) != 1:
        return False
    operands = reads(s)
    steps = [stride(program, o, columns.name) for o in operands]
    both = [
        o
        for o, step in zip(operands, steps, strict=True)
        if step == 1 and (stride(program, o, rows.name) or 0) > 1
    ]
    own = not stride(program, s.target, rows.name) and independent(program, columns)
    return own and bool(both) and all(step in (0, 1) for step in steps)


def _by_rows(program: Program, rows: str, columns: str, at_once: int) -> Program:
    inner = columns
    if extent(program, columns) >= 2 * COLUMNS and extent(program, columns) % COLUMNS == 0:
        program, _, inner, _ = blocks(program, columns, COLUMNS)
        program = interchange(program, rows)
    program = mark(program, inner, "vector")
    program, rows_o, rows_i, _ = blocks(program, rows, at_once)
    if rows_i == rows_o:
        return program
    return mark(interchange(program, rows_i), rows_i, "unroll")


def _dots(program: Program, name: str, target: Target, fp: FpLevel, at_once: int) -> Program | None:
    """m { y[m] = 0; k { y[m] += a[m,k] * x[k] } }  ->  blocks of m { m_i { .. } k { m_i { .. } } }"""
    around, statement = _at(program, name)
    rows, inner = around[-2:]
    operands = reads(statement)
    steps = [stride(program, o, inner.name) for o in operands]
    shared = [
        o for o in operands if stride(program, o, inner.name) == 1 and stride(program, o, rows.name) == 0
    ]
    moving = [o for o in operands if stride(program, o, inner.name) == 1 and stride(program, o, rows.name)]
    if (
        not shared
        or not moving
        or any(s not in (0, 1) for s in steps)
        or not stride(program, statement.target, rows.name)
    ):
        return None
    if const_int(rows.extent) < at_once or const_int(inner.extent) < widest_lanes(program, statement, target):
        return None
    if not independent(program, rows) or not can_vectorize(program, inner, fp):
        return None
    if len(inner.body) != 1 or any(isinstance(n, Scope) and n is not inner for n in rows.body):
        return None
    program = mark(program, inner.name, "vector")
    program, _, block, _ = blocks(program, rows.name, at_once)
    return sink(mark(program, block, "unroll"), block)[0]
