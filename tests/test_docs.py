"""The documents lead where they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_resolve(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []


@pytest.mark.parametrize("row", ["matmul_1024x1024x1024", "attention_16x256x64", "softmax_4096x4096"])
def test_readme_has_the_figures_of_the_benchmark_page(row: str) -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    found = re.search(rf"^\| {row} \| \S+ \| \S+ \| ([\d.]+) \| (\d+) %", page, re.MULTILINE)
    assert found
    readme = (ROOT / "README.md").read_text("utf-8")
    name = row.split("_")[0]
    line = next(line for line in readme.splitlines() if line.startswith(f"| {name}"))
    cells = [c.strip() for c in line.split("|")]
    digits = len(cells[4].partition(".")[2])
    assert cells[4] == f"{float(found[1]):.{digits}f}"
    assert cells[5].startswith(f"{found[2]} %")
