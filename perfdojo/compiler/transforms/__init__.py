"""Transformations by name: each is one file here that ends in `TRANSFORM = ...`; nothing registers itself."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms.base import Setting, Transform, legal, tight

_SHARED = frozenset(("base", "spelling"))
"""Modules that are none; so are those that begin with an underscore."""


@cache
def transform_names() -> tuple[str, ...]:
    """Return the names of all transformations, sorted; imports none of them."""
    names = (m.name for m in pkgutil.iter_modules(__path__))
    return tuple(sorted(n for n in names if n not in _SHARED and not n.startswith("_")))


@cache
def transforms() -> Mapping[str, type[Transform]]:
    """Return all transformations by name."""
    return MappingProxyType({n: import_module(f"{__name__}.{n}").TRANSFORM for n in transform_names()})


@cache
def aliases() -> Mapping[str, str]:
    """Return the field's other words -> name."""
    return MappingProxyType({alias: name for name, cls in transforms().items() for alias in cls.aliases})


def get_transform(name: str) -> type[Transform]:
    """Return the transformation called `name`, or that has it as alias.

    Raises:
        PerfDojoError: there is none.
    """
    found = transforms().get(aliases().get(name, name))
    if found is None:
        hint = nearest(name, (*transform_names(), *aliases()))
        raise PerfDojoError(
            f"no transformation '{name}'", hint=hint or "perfdojoc --list-transforms lists them"
        )
    return found


def candidates(program: Program, setting: Setting) -> Iterator[Transform]:
    """Yield every legal move of a state, transformation by transformation."""
    checked = tight(program)
    for cls in transforms().values():
        found = cls.candidates(program, setting)
        yield from legal(found, program, setting) if checked else found
