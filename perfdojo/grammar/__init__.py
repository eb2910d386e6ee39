"""The grammars as Lark reads them; its tables are kept, as making them takes a tenth of a second."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Any

import platformdirs
from lark import Lark


def parser(name: str, **options: Any) -> Lark:
    """Return the LALR parser of `<name>.lark`; `options` are Lark's.

    Lark takes tables from the cache only when grammar, options, its own version and Python's are the same.
    """
    text = resources.files(__name__).joinpath(f"{name}.lark").read_text("utf-8")
    return Lark(text, parser="lalr", maybe_placeholders=True, cache=_tables(name), **options)


def _tables(name: str) -> str | bool:
    """Return the file of the tables, False where there can be none."""
    folder = Path(platformdirs.user_cache_dir("perfdojo", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return str(folder / f"{name}.tables") if os.access(folder, os.W_OK) else False
