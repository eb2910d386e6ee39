"""Bound programs from text, for the tests of the validator."""

from __future__ import annotations

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.validate import Verdict, validate
from perfdojo.compiler.verify import verify


def original(text: str) -> Program:
    """Return the program of a text as schedules start from it; a text without a header line gets one."""
    program = explicit_starts(bind(parse(_headed(text))))
    verify(program)
    return program


def transformed(text: str) -> Program:
    """Return the program of a text as it is written, be it right or wrong."""
    return bind(parse(_headed(text)))


def judge(header: str, before: str, after: str, fp: FpLevel, declared: str = "") -> Verdict:
    """Compare two bodies under one header; `declared` is added to the header of the second."""
    return validate(original(f"{header}\n{before}"), transformed(f"{header}\n{declared}\n{after}"), fp)


def _headed(text: str) -> str:
    return text if text.startswith("kernel") else f"kernel k\n{text}\n"
