"""The state in which every schedule starts."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.ir import Program, Statement
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.tree import fresh, taken_names
from perfdojo.compiler.walk import map_statements


def prepare(program: Program) -> Program:
    """Return a bound, verified program as moves see it: explicit starts, no scope called like a statement.

    A statement that shares its name with a scope is called `<name>_s`.
    """
    program = explicit_starts(program)
    shared = program.scopes.keys() & program.statements.keys()
    if not shared:
        return program
    taken = taken_names(program)
    renamed = {name: fresh(f"{name}_s", taken) for name in program.statements if name in shared}

    def rename(s: Statement) -> Statement:
        return replace(s, name=renamed[s.name]) if s.name in renamed else s

    return replace(program, body=map_statements(rename, program.body))
