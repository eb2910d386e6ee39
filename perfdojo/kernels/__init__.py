"""The library: one kernel a file, `<name>.ir`, whose first line states the formula and its source."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_SIZE = re.compile(r"^size (\w+) = (.*?)\s*(?:#.*)?$", re.MULTILINE)


@cache
def names() -> tuple[str, ...]:
    """Return the kernels of the library in alphabetical order."""
    files = (f.name for f in resources.files(__name__).iterdir())
    return tuple(sorted(f.removesuffix(".ir") for f in files if f.endswith(".ir")))


def text(name: str) -> str:
    """Return the text of a kernel of the library; KeyError when there is none of this name."""
    if name not in names():
        raise KeyError(name)
    return resources.files(__name__).joinpath(f"{name}.ir").read_text("utf-8")


def summary(name: str) -> tuple[str, str]:
    """Return the formula of a kernel and its source, the two halves of its first line."""
    line = text(name).split("\n", 1)[0]
    formula, _, source = line.removeprefix("# ").partition("; ")
    return formula, source


def page() -> str:
    """Return docs/kernels.md: a table of the library."""
    return "\n".join([*_HEAD, *map(_row, names())]) + "\n"


_HEAD = (
    "# The kernels of the library",
    "",
    "`perfdojoc NAME` compiles one of them; its text is `perfdojo/kernels/NAME.ir`. A size with a number may be varied,",
    "`-D B=1000`; one with a formula follows. Every kernel has a NumPy reference in `tests/kernels/references.py`.",
    "This page is made from the first lines of the files: `pytest --update-golden tests/kernels`.",
    "",
    "| kernel | computes | source | sizes |",
    "|---|---|---|---|",
)


def _row(name: str) -> str:
    formula, source = summary(name)
    sizes = ", ".join(f"{s} = {value}" for s, value in _SIZE.findall(text(name)))
    return f"| [{name}](../perfdojo/kernels/{name}.ir) | `{formula}` | {source} | `{sizes}` |"
