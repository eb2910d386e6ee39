"""Searches by name: each is one file here that ends in `SEARCH = ...`; nothing registers itself."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.tuning.searches.base import Search

DEFAULT = "guided"


@cache
def search_names() -> tuple[str, ...]:
    """Return the names of all searches, sorted; imports none of them."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "base"))


def get_search(name: str) -> type[Search]:
    """Return the search called `name`.

    Raises:
        PerfDojoError: there is none.
    """
    if name not in search_names():
        hint = nearest(name, search_names()) or f"searches are {' '.join(search_names())}"
        raise PerfDojoError(f"no search '{name}'", hint=hint)
    found: type[Search] = import_module(f"{__name__}.{name}").SEARCH
    return found
