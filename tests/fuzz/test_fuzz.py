"""The soundness run itself: each fault still applies, and a small share of it runs."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Callable, Iterator
from types import CodeType

import pytest

from perfdojo.compiler.bind import bind
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from tests.fuzz.baseline import function_of, record, source_of
from tests.fuzz.faults import FAULTS
from tests.fuzz.questions import ahead, pairs, picks, scan
from tests.fuzz.run import EXECUTORS, run_seeds
from tests.fuzz.writer import Writer


def _source(module: str) -> str:
    return source_of(module).read_text("utf-8")


def test_every_fault_still_applies() -> None:
    wrong = []
    for fault in FAULTS:
        try:
            ast.parse(fault.planted(_source(fault.module)))
        except (SyntaxError, ValueError) as error:
            wrong.append(f"{fault.title}: {error}")
    assert not wrong, "\n".join(wrong)


def test_faults_are_many_and_have_names_of_their_own() -> None:
    assert len(FAULTS) >= 40
    assert max(Counter(f"{f.module} {f.title}" for f in FAULTS).values()) == 1


def _functions(code: CodeType) -> Iterator[str]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner.co_qualname
            yield from _functions(inner)


def test_the_function_around_each_fault_exists() -> None:
    for module in {f.module for f in FAULTS}:
        names = {"", *_functions(compile(_source(module), module, "exec"))}
        assert {function_of(f) for f in FAULTS if f.module == module} <= names


def test_a_record_tells_whose_function_ran() -> None:
    before = record(1)
    assert before == record(1)
    ran = {FAULTS[n].module.rsplit(".", 1)[-1] for n in before.ran}
    assert ran
    assert "accumulators" not in ran, "the validator executes this seed"


@pytest.mark.parametrize("question", [ahead, pairs, picks, scan])
def test_every_question_is_a_program_that_is_proved(question: Callable[[Writer], tuple[str, ...]]) -> None:
    for seed in range(20):
        w = Writer(random.Random(seed), rows=4, columns=seed % 4 + 1)
        w.known = [w.declare("in", 1, "f32")]
        assert question(w)
        verify(bind(parse("\n".join(["kernel asked", *w.header, *w.lines]) + "\n", "asked")))


@pytest.mark.parametrize("first", [0, 80])
def test_moves_keep_the_meaning(first: int) -> None:
    tally = run_seeds(range(first, first + 40))
    assert not tally.wrong, "\n".join(w.text for w in tally.wrong)
    assert set(tally.sequences) == set(EXECUTORS)
    assert tally.pairs.total() > 100
