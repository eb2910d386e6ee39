"""Recipes by name: each is one file here, a function of that name; nothing registers itself."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import Parameter, signature

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule import History

Recipe = Callable[..., object]
"""Its first argument is the history on which it makes its moves; all others are given by name."""


@cache
def recipe_names() -> tuple[str, ...]:
    """Return the names of all recipes, sorted; imports none of them."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def get_recipe(name: str) -> Recipe:
    """Return the recipe called `name`.

    Raises:
        PerfDojoError: there is none.
    """
    if name not in recipe_names():
        hint = nearest(name, recipe_names()) or f"recipes are {' '.join(recipe_names())}"
        raise PerfDojoError(f"no recipe '{name}'", hint=hint)
    found: Recipe = getattr(import_module(f"{__name__}.{name}"), name)
    return found


def parameters(recipe: Recipe) -> dict[str, str]:
    """Return the parameters of a recipe and their types."""
    named = (p for p in signature(recipe).parameters.values() if p.kind is Parameter.KEYWORD_ONLY)
    return {p.name: str(p.annotation) for p in named}


def run_recipe(history: History, recipe: Recipe | str, **given: object) -> Program:
    """Make the moves of a recipe as one change and return the program.

    Raises:
        PerfDojoError: there is no such recipe or parameter, or a move is not legal; nothing has changed.
    """
    made = get_recipe(recipe) if isinstance(recipe, str) else recipe
    if isinstance(recipe, str):
        _check(recipe, made, given)
    return history.together(lambda: made(history, **given))


def _check(name: str, recipe: Recipe, given: dict[str, object]) -> None:
    known = parameters(recipe)
    for word, value in given.items():
        if word not in known:
            hint = nearest(word, known) or (f"it takes {' '.join(known)}" if known else "it takes none")
            raise PerfDojoError(f"recipe {name} has no parameter '{word}'", hint=hint)
        wanted, kind = _KINDS[known[word]]
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise PerfDojoError(f"{word}={value!r} of recipe {name} is not {kind}")
        if isinstance(value, int) and value < 0:
            raise PerfDojoError(f"{word}={value} of recipe {name} is below 0")
    for p in signature(recipe).parameters.values():
        if p.kind is Parameter.KEYWORD_ONLY and p.default is Parameter.empty and p.name not in given:
            raise PerfDojoError(f"recipe {name} needs {p.name}, {_KINDS[known[p.name]][1]}")


_KINDS: dict[str, tuple[type, str]] = {
    "int": (int, "an integer"),
    "str": (str, "a name"),
    "tuple[str, ...]": (tuple, "names in a tuple"),
    "tuple[int, ...]": (tuple, "integers in a tuple"),
}
