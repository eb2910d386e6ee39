"""What a person sees: the report of the main job, tables, progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

MARKS = {"ok": ("✓", "green"), "bad": ("✗", "red"), "note": ("·", "yellow"), "": (" ", "default")}


@dataclass(slots=True)
class Screen:
    """Prints the lines of a report as they become known; `quiet` shows no progress."""

    quiet: bool = False
    silent: bool = False
    _consoles: dict[bool, Console] = field(default_factory=dict)

    def _console(self, error: bool) -> Console:
        if error not in self._consoles:
            from rich.console import Console

            stream = sys.stderr if error else sys.stdout
            width = None if stream.isatty() else 200
            self._consoles[error] = Console(file=stream, highlight=False, soft_wrap=True, width=width)
        return self._consoles[error]

    def title(self, text: str) -> None:
        """Print the headline of a report."""
        if not self.silent:
            self._console(False).print(text, style="bold", markup=False)

    def line(self, step: str, text: str, mark: str = "") -> None:
        """Print one finished step: its name, a mark (ok, bad, note or none), one sentence."""
        if self.silent:
            return
        from rich.text import Text

        sign, color = MARKS[mark]
        self._console(False).print(Text.assemble(f"  {step:<9} ", (f"{sign} ", color), text))

    def text(self, text: str) -> None:
        """Print text as it is."""
        if not self.silent:
            self._console(False).print(text, markup=False, end="")

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show that a step is at work, on stderr, when a person is watching and it takes a while."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self._console(True), transient=True) as progress:
            progress.add_task(what, total=None)
            yield

    def table(self, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        """Print a table."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        for i, name in enumerate(header):
            table.add_column(name, overflow="fold", no_wrap=i == 0)
        for row in rows:
            table.add_row(*row)
        self._console(False).print(table, markup=False, soft_wrap=False)


def percent(part: float) -> str:
    """Return a part as `13 %`, small ones with one digit."""
    return f"{100 * part:.0f} %" if part >= 0.1 else f"{100 * part:.1g} %"
