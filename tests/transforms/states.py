"""Small programs in the state in which moves see them."""

from __future__ import annotations

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule import parse_move, prepare
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify


def state(text: str, **sizes: int) -> Program:
    """Return a kernel as moves see it; the text is proved."""
    program = bind(parse(text), sizes)
    verify(program)
    return prepare(program)


def setting(target: str = "avx2", fp: FpLevel = "reassoc") -> Setting:
    """Return a setting by names."""
    return Setting(get_target(target), fp)


def body(program: Program) -> str:
    """Return the text of a program from its first buffer on, without sizes."""
    lines = render(program).splitlines()
    return "\n".join(line for line in lines[1:] if not line.startswith("size ")).strip()


def reason(program: Program, move: str, at: Setting | None = None) -> str:
    """Return why a move is not legal, with the number of the condition; "" when it is."""
    found = parse_move(move).why_not(program, at or setting())
    return f"{found.condition}: {found.reason}" if found else ""


def applied(program: Program, *moves: str, at: Setting | None = None) -> Program:
    """Return the program behind the moves; each result is proved and reads back from its text."""
    for move in moves:
        program = parse_move(move).apply(program, at or setting())
        check_state(program)
    return program


def check_state(program: Program) -> None:
    """Assert what every move promises of its result: proved, with explicit starts, equal to its text."""
    verify(program)
    assert prepare(program) is program, "an implicit start, or a statement called like a scope"
    assert bind(parse(render(program))) == program
