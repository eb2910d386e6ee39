"""Extensions of a target that code may be told to use: `--isa vnni`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from perfdojo.backends.vectors.printer import answers
from perfdojo.backends.vectors.table import Table
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.lowering.target import Target


def with_extensions(
    target: Target, isa: str, table: Callable[[], Table], extensions: Mapping[str, str], whose: str
) -> Target:
    """Return the target with extensions.

    Args:
        isa: their words, commas between.
        extensions: the words that there are, and their CPU features.
        whose: of what they are, for messages.

    Raises:
        PerfDojoError: there is no such extension, or one is named twice.
    """
    words = [w for w in isa.split(",") if w]
    for word in words:
        if word not in extensions:
            known = f"extensions are {' '.join(extensions)}"
            raise PerfDojoError(f"no extension '{word}' of {whose}", hint=nearest(word, extensions) or known)
        if words.count(word) > 1:
            raise PerfDojoError(f"extension {word} is named twice", hint="name each extension once")
    allowed = frozenset(extensions[w] for w in words)
    return replace(target, isa=isa, supports=answers(table, allowed))
