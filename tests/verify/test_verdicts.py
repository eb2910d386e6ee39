"""Verdicts of `verify` against a run of the program, on small random programs.

What is accepted never faults; what is refused has the fault that the message names, where it says.
Where data decide, a refusal may be needless; how often is counted.
"""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.verify import verify
from tests.verify.small_programs import random_data, small_program
from tests.verify.trace import Fault, Trace

KINDS = {
    "out of bounds": "bounds",
    "before it is written": "unwritten",
    "never written": "never written",
    "need not be written": "never written",
    "is marked": "race",
    "accumulated": "started again",
}
HANGS_ON_DATA = re.compile(r" can (be|both|read|write)|need not|data decide")
NOT_DECIDED_BY_FORM = re.compile(r"\{\d\} \* \{\d\}|idx\[|free\[|flag\[|t0\[|\[[^]]*[a-z]\[")


def verdict(program: Program) -> PerfDojoError | None:
    try:
        verify(program)
    except PerfDojoError as error:
        return error
    return None


def faults(program: Program, seed: int, runs: int, kind: str = "") -> list[Fault]:
    """Faults of some runs on random data, until one has a fault of the kind."""
    rng = random.Random(seed)
    found: list[Fault] = []
    for _ in range(runs):
        found = Trace(program, random_data(program, rng)).run()
        if any(f.kind == kind or not kind for f in found):
            break
    return found


def shows(fault: Fault, message: str) -> bool:
    """True when a fault of a run is the one that the message states, in the same iteration."""
    kind = next(k for words, k in KINDS.items() if words in message)
    if fault.kind != kind:
        return False
    where = dict(re.findall(r"([a-z]\w*) = (\d+)", message))
    at = {name: str(number) for name, number in fault.iteration}
    if kind in ("bounds", "unwritten") and any(at.get(name) != number for name, number in where.items()):
        return False
    if kind == "bounds":
        found = re.search(r"index (-?\d+) of dimension (\d)", message)
        return found is not None and f"index {found[1]} of dimension {found[2]}" in fault.what
    if kind in ("unwritten", "never written", "started again"):
        return fault.what in message.replace(",*", "").replace("*,", "").replace("*", "")
    return message.startswith(f"'{fault.what.split()[0]}' is marked")


def check(seeds: range) -> Counter[str]:
    """Compare every verdict; return how many there were of each kind."""
    count: Counter[str] = Counter()
    for seed in seeds:
        program = small_program(seed)
        assert program.source is not None
        error = verdict(program)
        if error is None:
            count["accepted"] += 1
            found = faults(program, seed, 4)
            assert not found, f"accepted, but {found[0]}:\n{program.source.text}"
            continue
        count["refused"] += 1
        if "cannot start them" in error.message:
            count["start decided by data"] += 1
            continue
        text = program.source.text.split("tmp t0: i64[]\n")[1]
        if HANGS_ON_DATA.search(error.message) or NOT_DECIDED_BY_FORM.search(text):
            count["hangs on data"] += 1
            kind = next(k for words, k in KINDS.items() if words in error.message)
            count["needless"] += all(f.kind != kind for f in faults(program, seed, 20, kind))
            continue
        found = faults(program, seed, 1)
        assert any(shows(f, error.message) for f in found), f"{error}\nbut a run shows {found[:4]}\n{text}"
        count["refused with its witness"] += 1
    return count


def test_verdicts_agree_with_runs() -> None:
    count = check(range(100))
    assert count["accepted"] > 20
    assert count["refused with its witness"] > 20
    # As of now; fewer would be progress.
    assert count["needless"] <= 2


def test_the_comparison_sees_a_verify_that_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfdojo.compiler.verify.outside", lambda model, access: None)
    with pytest.raises(AssertionError, match="accepted, but"):
        check(range(150))


@pytest.mark.slow
def test_many_verdicts_agree_with_runs(capsys: pytest.CaptureFixture[str]) -> None:
    count = check(range(100, 4000))
    with capsys.disabled():
        print(f"\nverdicts: {dict(count)}")
    assert count["needless"] <= 0.02 * count["refused"]
