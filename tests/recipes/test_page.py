"""What the page about recipes shows is what happens; its example is the one in the file."""

from __future__ import annotations

import doctest
import io
import re
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from perfdojo.compiler.recipes import get_recipe, parameters, recipe_names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "recipes.md").read_text("utf-8")


def test_the_python_does_what_it_shows() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "recipes.md", None, 0)
    assert len(test.examples) > 8
    report = io.StringIO()
    assert doctest.DocTestRunner().run(test, out=report.write).failed == 0, report.getvalue()


def test_the_example_is_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    path = ROOT / "examples" / "rows_at_once.py"
    shown = re.findall(r"^(?:\.\.\.|>>>) ( *h\.\w.*|    columns = .*)$", PAGE, re.MULTILINE)
    source = path.read_text("utf-8")
    assert len(shown) == 8
    assert "\n".join(shown) in source
    monkeypatch.setattr(sys, "argv", [str(path), "30"])
    with redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(path), run_name="__main__")
    assert printed.getvalue() in PAGE
    assert printed.getvalue().startswith("schedule stencil5")


def test_every_recipe_has_a_row_with_its_parameters() -> None:
    for name in recipe_names():
        row = next(line for line in PAGE.splitlines() if line.startswith("| ") and f"`{name}`" in line)
        assert re.findall(r"`(\w+)`", row.split("|")[3]) == list(parameters(get_recipe(name))), name
