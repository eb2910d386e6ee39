"""Reports and pictures of searches: whole, self-contained, the same each time, whatever came of it."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from perfdojo.backends import emit
from perfdojo.compiler.schedule import Scheduled, parse_schedule
from perfdojo.toolchains.results import MissingTool
from perfdojo.tuning import plot
from perfdojo.tuning.diagnosis import diagnosis
from perfdojo.tuning.drawing import drawing
from perfdojo.tuning.report import report
from perfdojo.tuning.runners.base import Tried
from perfdojo.tuning.runners.replay import ReplayRunner
from perfdojo.tuning.searched import Searched, curve, verdict
from perfdojo.tuning.space import Point
from perfdojo.tuning.trial import Trial
from perfdojo.tuning.tune import Tuner
from tests.tuning.problems import problem

VOID = {"meta", "line", "circle", "rect", "path", "polyline", "br"}


class Mixed(ReplayRunner):
    """Some crash, some are cut short; what went wrong is no HTML."""

    def _tried(self, point: Point) -> Tried:
        chance = random.Random(point.text).random()
        if point.moves and chance < 0.2:
            return Tried("crash", "SIGSEGV at <b>&y[3]</b>")
        tried = super()._tried(point)
        return replace(tried, cut=True) if point.moves and chance > 0.9 and tried.samples else tried


class Flat(ReplayRunner):
    """All code is equally fast."""

    def _tried(self, point: Point) -> Tried:
        return Tried("ok", "", (100.0,))


class Broken(ReplayRunner):
    """Nothing works."""

    def _tried(self, point: Point) -> Tried:
        return Tried("compile-error", "no compiler likes it")


def searched(runner: ReplayRunner, trials: int = 40) -> Searched:
    tuner = Tuner(problem(), runner, "guided", 5, clock=lambda: 0.0)
    result = tuner.run(1e9, trials)
    w = result.winner
    made = None if w.moves is None else Scheduled(w.program, w.text)
    emitted = emit(tuner.problem.bound, "c", scheduled=made)
    steps = [{"move": str(m), "without": 150.0} for m in w.moves or ()]
    told = diagnosis(result, tuner.space)
    return Searched(
        tuner.problem, result, "guided", 5, tuner.space.start.program, None, steps, emitted, "gcc -O3", told
    )


class Page(HTMLParser):
    """Checks that tags are closed, and keeps words and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, n, v) for n, v in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, n, v) for n, v in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.mark.parametrize("runner", [Mixed, Flat, Broken])
def test_a_report_is_one_page_that_needs_nothing_else(runner: type[ReplayRunner]) -> None:
    s = searched(runner())
    text = report(s)
    page = Page(text)
    assert not [a for a in page.attributes if a[1] in ("src", "href", "xlink:href", "data")]
    assert not re.search(r"url\(|@import|<script|https?:", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert text == report(searched(runner()))
    for t in s.result.progress.trials:
        assert t.name_in(s.problem.key) in text


def test_a_report_tells_all_of_a_search() -> None:
    s = searched(Mixed())
    page = Page(report(s)).text
    assert verdict(s.result)[0] in page
    for words in ("rows", "reassoc", "a name", "gcc -O3", "guided, seed 5", "40 in 0 s", "planned"):
        assert words in page
    for count, outcome in ((n, o) for o, n in s.result.progress.outcomes.items()):
        assert f"{count} {outcome}" in page
    assert "SIGSEGV at <b>&y[3]</b>" in page  # as text: it was escaped
    assert s.steps
    for step in s.steps:
        assert step["move"] in page
    assert "int rows(const float *restrict x, float *restrict y) {" in page
    assert "150 s" in page
    assert all(line in page for line in s.diagnosis)


def test_candidates_that_were_left_out_are_counted() -> None:
    s = searched(Flat(), 10)
    assert "not worth measuring" not in report(s)
    s.result.progress.removed["code size"] = 7
    assert "not worth measuring 7 for code size" in Page(report(s)).text


def test_a_report_of_a_search_that_gained_nothing() -> None:
    page = Page(report(searched(Flat()))).text
    assert "the code as it is planned: nothing was faster beyond noise" in page
    assert "The same: no move was made." in page
    assert "Failures None." in page


def test_a_report_of_a_search_in_which_nothing_was_right() -> None:
    page = Page(report(searched(Broken()))).text
    assert "nothing computed what it should" in page
    assert "no trial was right" in page
    assert "40 compile-error" in page
    assert "no compiler likes it" in page
    assert "nothing to measure again" in page


def test_the_shipped_schedule_is_called_so() -> None:
    shipped = parse_schedule("schedule rows\nunroll k\nend\n")
    tuner = Tuner(problem(), ReplayRunner(), shipped=shipped)
    result = tuner.run(1e9, 20)
    made = tuner.space.of_schedule(shipped).program
    s = Searched(tuner.problem, result, "guided", 0, tuner.space.start.program, made)
    page = Page(report(s)).text
    assert "shipped, 1 move" in page
    assert "The code of the winner cannot be emitted." in page


TRIALS = [
    Trial("a", "ok", samples=(4.0,)),
    Trial("b", "crash"),
    Trial("c", "ok", samples=(1.0,), cut=True),
    Trial("d", "ok", samples=(2.0,)),
    Trial("e", "timeout"),
    Trial("f", "crash"),
    Trial("g", "ok", samples=(3.0,)),
]


def test_a_curve_has_every_trial_once() -> None:
    c = curve(TRIALS, {"planned": 4.0}, "cycles")
    assert c.costs == ((1, 4.0), (4, 2.0), (7, 3.0))
    assert c.cut == ((3, 1.0),)
    assert c.best == ((1, 4.0), (4, 2.0), (7, 2.0))
    assert list(c.failures.items()) == [("crash", (2, 6)), ("timeout", (5,))]
    assert not c.is_wide
    assert curve([*TRIALS, Trial("h", "ok", samples=(90.0,))], {}, "s").is_wide


@pytest.mark.parametrize("most", [4.0, 4000.0])
def test_a_drawing_keeps_order_and_stays_inside(most: float) -> None:
    d = drawing(curve([*TRIALS, Trial("h", "ok", samples=(most,))], {"planned": 4.0, "shipped": 3.0}, "s"))
    heights = [y for _, y in (*d.dots, *d.cut)] + [y for y, _, _ in d.lines] + [y for y, _ in d.up]
    assert all(d.top <= y <= d.bottom for y in heights)
    assert all(d.left <= x <= d.right for x, _ in (*d.dots, *d.cut, *d.across))
    assert d.dots[1][1] > d.dots[2][1] > d.dots[0][1]  # cheap ones are low
    assert len(d.up) >= 3
    assert [len(places) for _, _, places in d.rows] == [2, 1]
    assert [text for _, _, text in d.lines] == ["planned 4.00 s", "shipped 3.00 s"]


@pytest.mark.parametrize("trials", [[], TRIALS[1:2], TRIALS[:1], [Trial("z", "ok", samples=(0.0,))]])
def test_a_search_of_hardly_any_trial_can_be_drawn(trials: list[Trial], tmp_path: Path) -> None:
    c = curve(trials, {}, "s")
    assert drawing(c).height > 0
    pytest.importorskip("matplotlib")
    plot.draw(c, "few", tmp_path / "few.svg")


@pytest.mark.parametrize(("ending", "head"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_picture_is_the_same_each_time(ending: str, head: bytes, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    c = curve(TRIALS, {"planned": 4.0, "shipped": 3.0}, "cycles")
    made = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.{ending}"
        plot.draw(c, "rows", path)
        made.append(path.read_bytes())
    assert made[0] == made[1]
    assert made[0].startswith(head)
    if ending == "svg":
        for words in (b"planned 4 cycles", b"shipped 3 cycles", b"crash (2)", b"best so far, 2 cycles"):
            assert words in made[0]  # as a comment beside the outlines of its letters
        assert b"<dc:date>" not in made[0]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "find_spec", lambda _: None)
    with pytest.raises(MissingTool, match="the extra 'plot' brings it") as error:
        plot.need_matplotlib()
    assert "pip install 'perfdojo[plot]'" in error.value.hint
