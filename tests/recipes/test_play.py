"""`perfdojoc play` runs recipes."""

from __future__ import annotations

import io
import sys

import pytest

from perfdojo.cli import main


def play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *lines: str) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    assert (
        main(["play", "matmul", "-t", "avx2", "--no-schedule", "-D", "M=48", "-D", "N=64", "-D", "K=8"]) == 0
    )
    out = capsys.readouterr().out
    assert "Traceback" not in out
    return out.split("\n> ", 1)[-1]


def test_recipes_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "tile scopes=.. sizes=..\n" in play(monkeypatch, capsys, "recipe")


def test_a_recipe_is_one_change(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = play(monkeypatch, capsys, "recipe tile scopes=m,n sizes=8,16", "undo", "steps")
    assert "tile, 7 moves: m, n -> m_o:6, n_o:4, m_i:8, n_i:16\n" in made
    assert "no move yet" in made
    made = play(monkeypatch, capsys, "recipe matmul mr=4 nr=16", "steps")
    assert "m_i:4@unroll n_i:16@vector" in made


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("recipe tile scopes", "error: 'scopes' is no parameter\nhint: write recipe matmul mr=6 nr=16\n"),
        ("recipe matmul mr=", "error: 'mr=' is no parameter\n"),
        ("recipe matmul mr=-4", "error: mr='-4' of recipe matmul is not an integer\n"),
        ("recipe matmull", "error: no recipe 'matmull'\nhint: did you mean 'matmul'?\n"),
        ("recipe tile scopes=m sizes=8", "error: scopes='m' of recipe tile is not names in a tuple\n"),
        ("recipe tile scopes=m, sizes=,", "error: 1 scopes have 0 sizes of blocks\n"),
    ],
)
def test_what_is_wrong_is_told(
    line: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in play(monkeypatch, capsys, line)


def test_one_scope_is_a_list_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = play(monkeypatch, capsys, "recipe tile scopes=m, sizes=8,")
    assert "tile, 1 moves: m -> m_o:6, m_i:8\n" in made
