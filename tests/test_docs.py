"""The documents lead where they say, and what they show is what happens.

In the pages of `RUN` a block ```text FILE is a file, ```console a call of perfdojoc and all that it prints
(`--update-golden` writes that anew), lines with > its standard input, ```python an interactive session.
"""

from __future__ import annotations

import doctest
import io
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from perfdojo.cli import main

ROOT = Path(__file__).parents[1]
RUN = (ROOT / "docs" / "schedules.md", ROOT / "README.md")
BLOCK = re.compile(r"^```(text|console|python) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_resolve(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []


@pytest.mark.parametrize(
    "row", ["matmul_1024x1024x1024", "attention_16x256x64", "softmax_4096x4096", "gelu_512x3072"]
)
def test_readme_has_the_figures_of_the_benchmark_page(row: str) -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    found = re.search(
        rf"^\| {row} \| ([\d.]+) (?:memory|compute) \| ([\d.]+) \|.* ([\d.]+) \(.*$", page, re.MULTILINE
    )
    assert found
    limit, ours = float(found[1]), float(found[2])
    readme = (ROOT / "README.md").read_text("utf-8")
    name = row.split("_")[0]
    line = next(line for line in readme.splitlines() if line.startswith(f"| {name}"))
    cells = [c.strip() for c in line.split("|")]
    assert cells[5] == f"{ours / 1000:.2f} ms"
    assert cells[6] == found[3]
    assert cells[7].startswith(f"{100 * limit / ours:.0f} %")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    return tmp_path


@pytest.mark.parametrize("page", RUN, ids=lambda p: p.name)
def test_what_a_page_shows_is_what_happens(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[Path, str], None]
) -> None:
    text = page.read_text("utf-8")
    for kind, name, content in BLOCK.findall(text):
        if kind == "text" and name:
            Path(name).write_text(content)
    assert ".sched" in text

    def run(block: re.Match[str]) -> str:
        if block[1] != "console":
            return block[0]
        command, *rest = block[3].splitlines()
        lines = "".join(f"{line[2:]}\n" for line in rest if line.startswith("> "))
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        return f"```console\n{command}\n{_printed(command)}\n```"

    golden(page, BLOCK.sub(run, text))


def _printed(command: str) -> str:
    prompt, program, *argv = shlex.split(command)
    assert (prompt, program) == ("$", "perfdojoc"), command
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(out):
        main(argv)
    text = out.getvalue().rstrip()
    assert "internal error" not in text
    return text


def test_the_python_of_the_page_about_schedules_does_what_it_shows(folder: Path) -> None:
    blocks = [c for kind, _, c in BLOCK.findall(RUN[0].read_text("utf-8")) if kind == "python"]
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, RUN[0].name, None, 0)
    assert len(test.examples) > 10
    report = io.StringIO()
    assert doctest.DocTestRunner().run(test, out=report.write).failed == 0, report.getvalue()
