"""Clusters with more or less than the default one: `--isa div,no-simd`."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.lowering.nests.found import DIVIDER, NO_LOOPS
from perfdojo.compiler.lowering.target import Target

EXTENSIONS = {
    "div": "division and square root in the FPU (Xdiv_sqrt)",
    "simd": "packed f32 and f16 (Xfvec)",
    "ssr": "data movers (Xssr)",
    "frep": "loops of the FPU (Xfrep)",
}
"""Extensions that code may use; the default cluster of snitch_cluster has all but the first."""


def with_isa(target: Target, isa: str) -> Target:
    """Return a target with other extensions: words of EXTENSIONS, or `no-` and one, between commas.

    Raises:
        PerfDojoError: there is no such extension, or one is named twice.
    """
    named: dict[str, str] = {}
    for word in filter(None, isa.split(",")):
        name = word.removeprefix("no-")
        if name not in EXTENSIONS:
            known = f"extensions are {' '.join(EXTENSIONS)}; no-simd leaves one out"
            raise PerfDojoError(f"no extension '{name}' of Snitch", hint=nearest(name, EXTENSIONS) or known)
        if name in named:
            raise PerfDojoError(
                f"'{named[name]}' and '{word}' both tell of extension {name} of Snitch",
                hint="name each extension once",
            )
        named[name] = word
        target = (_without if word != name else _with)(target, name)
    return replace(target, isa=isa)


def _with(target: Target, name: str) -> Target:
    if name != "div" or DIVIDER in target.features:
        return target
    return replace(target, features=(*target.features, DIVIDER))


def _without(target: Target, name: str) -> Target:
    if name == "div":
        return replace(target, features=tuple(f for f in target.features if f != DIVIDER))
    if name == "simd":
        return replace(target, vector_bits=0, marks=target.marks - {"vector"})
    if name == "ssr":
        return replace(target, vector_bits=0, marks=target.marks - {"stream", "frep", "vector"})
    return replace(target, features=(*target.features, NO_LOOPS), marks=target.marks - {"frep"})
