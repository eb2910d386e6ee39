"""Default names of scopes and statements: the rule that lets a text leave them out.

A scope written as a bare size is named after it in lower case, any other `i<depth>`; a statement after its
buffer. `_2`, `_3`, ... follow until the name differs from every given name and from every name before it.
"""

from __future__ import annotations

from collections.abc import Sequence


def scope_base(size: str | None, depth: int) -> str:
    """Name of a scope at `depth` before suffixes; `size` is the size name that is its whole extent."""
    return size.lower() if size else f"i{depth}"


def assign(bases: Sequence[str], given: Sequence[str | None]) -> list[str]:
    """Return the name of each item, in textual order: the given one, else its base with a suffix."""
    taken = {g for g in given if g is not None}
    counts: dict[str, int] = {}
    names: list[str] = []
    for base, explicit in zip(bases, given, strict=True):
        if explicit is not None:
            names.append(explicit)
            continue
        number = counts.get(base, 1)
        name = base if number == 1 else f"{base}_{number}"
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        counts[base] = number
        taken.add(name)
        names.append(name)
    return names


def leave_out(bases: Sequence[str], names: Sequence[str]) -> list[str | None]:
    """Return `given` such that `assign(bases, given) == names`, None wherever the rule finds the name."""
    given: list[str | None] = [None] * len(names)
    for _ in range(4):
        found = assign(bases, given)
        if found == list(names):
            return given
        given = [n if f != n else g for n, f, g in zip(names, found, given, strict=True)]
    return list(names)
