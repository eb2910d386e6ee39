"""Programs that are lowered as they are, without a planner, and compared with the interpreter in bits."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from perfdojo.backends import get_target
from perfdojo.backends.emission import EmitOptions, emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.interpret import random_inputs
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from tests.native import Case, build, disagreement


def emitted(program: Program, target: str = "c", fp: FpLevel = "strict", threads: int = 1) -> Case:
    """Return a bound program, emitted for a target as it is."""
    module: Any = import_module(f"perfdojo.backends.{target.split(':')[0]}")
    printer = getattr(module, "vector_printer", None)
    options = EmitOptions(program, getattr(module, "FLAGS", ()), getattr(module, "emulation", tuple)())
    vectors = None if printer is None else printer()
    return Case(program.name, program, emit(program, get_target(target), fp, threads, options, vectors))


def checked(text: str, **sizes: int) -> Program:
    """Return the bound program of a text that is right."""
    program = bind(parse(text, "k.ir"), sizes)
    verify(program)
    return program


def disagreements(
    cases: list[Case], fp: FpLevel = "strict", kinds: tuple[str, ...] = ("normal", "special")
) -> list[str]:
    """Return how the cases differ from the interpreter; they are built together."""
    library = build(cases)
    found = []
    for c in cases:
        for kind in kinds:
            reason = disagreement(library, c, random_inputs(c.program, 1, kind), fp)
            if reason:
                found.append(f"{c.name}, {kind} inputs: {reason}\n{c.emitted.files[0][1]}")
    return found
