"""What the player sees: lists of moves with their effects, programs with their changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.text import Text

from perfdojo.compiler.ir import Program
from perfdojo.compiler.schedule.difference import Line, difference, effect
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms import aliases
from perfdojo.compiler.transforms.base import Setting, Transform
from perfdojo.compiler.transforms.spelling import name_of, summary

FEW, MANY = 3, 40
"""Moves of one transformation that a list without and with words shows."""
CONTEXT = 2
"""Lines around a change where the program is long."""
LONG = 40
"""Lines above which only the neighbourhood of a change is shown."""

Numbered = tuple[int, Transform]


def matching(moves: Sequence[Transform], words: Sequence[str]) -> list[Numbered]:
    """Return the moves with their numbers (from 1) whose text has all the words; aliases count as names."""
    wanted = {aliases().get(w, w) for w in words}
    return [(n, m) for n, m in enumerate(moves, 1) if wanted <= set(_words(m))]


def _words(move: Transform) -> list[str]:
    return str(move).replace("[", " ").replace("]", " ").split()


def grouped(moves: Sequence[Numbered], now: Program, at: Setting, words: Sequence[str]) -> Iterator[Text]:
    """Yield the lines of a list: each transformation with what it does, its moves with their effects.

    `words` are those that the moves were chosen by.
    """
    for name, group in groupby(moves, lambda m: name_of(m[1])):
        found = list(group)
        yield Text.assemble((name, "bold cyan"), f"  {summary(type(found[0][1]))}")
        shown = found[: MANY if words else FEW]
        width = max(len(str(m)) for _, m in shown)
        for number, move in shown:
            told = effect(now, move.rewrite_for(now, at))
            yield Text.assemble((f"{number:>6}  ", "green"), f"{move!s:<{width}}", (f"   {told}", "dim"))
        if len(found) > len(shown):
            how = " ".join(("moves", *words, "WORD")) if words else f"moves {name}"
            yield Text(f"        and {len(found) - len(shown)} more: {how}")


def program(now: Program) -> Iterator[Text]:
    """Yield the lines of a program, with every name."""
    return (Text(f"  {line}".rstrip()) for line in render(now, named=True).splitlines())


def changed(before: Program, after: Program, whole: bool = False) -> Iterator[Text]:
    """Yield the lines of a program with those highlighted that changed; of a long one their neighbourhood."""
    lines = list(difference(before, after))
    near = range(len(lines)) if whole or len(lines) <= LONG else _near(lines)
    last = -1
    for n in near:
        if n > last + 1:
            yield Text("  ...", style="dim")
        last = n
        sign, text = lines[n]
        yield Text(f"{sign} {text}".rstrip(), style={"+": "green", "-": "red", " ": ""}[sign])
    if last + 1 < len(lines):
        yield Text("  ...", style="dim")


def _near(lines: Sequence[Line]) -> list[int]:
    at = [n for n, line in enumerate(lines) if line.sign != " "]
    return sorted({k for n in at for k in range(n - CONTEXT, n + CONTEXT + 1) if 0 <= k < len(lines)})
