"""Small programs that reach every row of the language page and every decision of the planner."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse

TEXTS: dict[str, str] = {
    file.stem: file.read_text("utf-8") for file in sorted((Path(__file__).parent / "programs").glob("*.ir"))
}


@cache
def program(name: str) -> Program:
    """Return one of the programs, bound."""
    return bind(parse(TEXTS[name], f"{name}.ir"))


def text_program(text: str) -> Program:
    """Return the bound program of a text without its first line."""
    return bind(parse(f"kernel k\n{text}", "k.ir"))
