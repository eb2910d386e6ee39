"""Candidates that misbehave: each has its outcome, none is left running, and no file is left behind."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.host import find_host
from perfdojo.tuning.runners.host import HostRunner
from perfdojo.tuning.space import Point
from tests.tuning.problems import problem, space

HEAD = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
"""
KINDS = {
    "segfault": ("*(volatile int *)0 = 1;", "crash"),
    "endless": ("for (volatile int k = 0; ; k++) ;", "timeout"),
    "fork bomb": ("for (;;) if (fork() < 0) abort();", "crash"),
    "allocation": (  # 70 GiB, or as much as there is
        "for (int k = 0; k < 9000; k++) memset(calloc(8 << 20, 1), 1, 8 << 20);",
        "crash out-of-memory timeout",
    ),
    "full disk": (
        "static char b[1 << 20]; FILE *f = tmpfile(); while (f && fwrite(b, sizeof b, 1, f)) ; abort();",
        "crash timeout",
    ),
    "output": (
        'for (;;) puts("a line that nobody wants to read, again and again and again");',
        "crash output-limit timeout",
    ),
    "kills itself": ("kill(getpid(), SIGKILL);", "crash out-of-memory"),
    "stops itself": ("kill(getpid(), SIGSTOP);", "timeout"),
    "exits": ("_exit(0);", "crash"),
    "no C": ("this is no C;", "compile-error"),
    "wrong element": ("y[17] = 1e30f; return 0;", "wrong-result memory-overwrite"),
}


@dataclass
class Planted(HostRunner):
    """Puts some C at the beginning of each candidate; `late`: where it is called for the third time."""

    planted: str = ""
    late: bool = False
    kept: list[str] = field(default_factory=list)

    def source(self, point: Point) -> EmittedSource:
        made = super().source(point)
        name, text = made.files[0]
        code = self.planted
        if self.late:
            code = f"static int calls; if (++calls == 3) {{ {code} }}"
        at = re.search(rf"\bint {made.symbol}\([^)]*\) {{", text)
        assert at is not None
        return replace(
            made, files=((name, HEAD + text[: at.end()] + code + text[at.end() :]), *made.files[1:])
        )


def children() -> set[str]:
    """Return the processes that descend from this one, as far as /proc tells."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[1] == str(os.getpid()) and fields[0] != "Z":
            found.add(stat.parent.name)
    return found


@pytest.mark.parametrize("late", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("number", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 5))])
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_candidates_have_an_outcome(
    kind: str, number: int, late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, outcomes = KINDS[kind]
    if late and kind in ("no C", "wrong element"):
        pytest.skip("it does not depend on when it runs")
    s = space(number)
    point = s.longer(s.start, number)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = children()
    runner = Planted(problem(), find_host(), planted=code, late=late)
    (tried,) = runner.measure([point], 1e-6)
    assert tried.outcome in outcomes.split(), (tried.outcome, tried.detail)
    assert tried.detail
    assert children() == before
    assert not list(tmp_path.iterdir())
