"""The files of the library, and docs/kernels.md made from their first lines."""

from __future__ import annotations

import re
from functools import cache

from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.finding import formula, library

_SIZE = re.compile(r"^size (\w+) = (.*?)\s*(?:#.*)?$", re.MULTILINE)

_HEAD = (
    "# The kernels of the library",
    "",
    "`perfdojoc NAME` compiles one of them; its text is `perfdojo/kernels/NAME.ir`. A size with a number may",
    "be varied, `-D B=1000`; one with a formula follows. Every kernel has a NumPy reference in",
    "`tests/kernels/references.py`. This page is made from the first lines of the files by",
    "`pytest tests/kernels --update-golden`.",
    "",
    "| kernel | computes | source | sizes |",
    "|---|---|---|---|",
)


@cache
def texts() -> dict[str, str]:
    """Return the text of every kernel, by name."""
    return {name: file.read_text("utf-8") for name, file in library()}


@cache
def program(name: str) -> Program:
    """Return the kernel, its sizes symbolic."""
    return parse(texts()[name], f"{name}.ir")


def page() -> str:
    """Return the text of docs/kernels.md."""
    rows = (_row(name, *formula(file).split("; ", 1)) for name, file in library())
    return "\n".join([*_HEAD, *rows]) + "\n"


def _row(name: str, computes: str, source: str) -> str:
    sizes = ", ".join(f"{s} = {value}" for s, value in _SIZE.findall(texts()[name]))
    return f"| [{name}](../perfdojo/kernels/{name}.ir) | `{computes}` | {source} | `{sizes}` |"
