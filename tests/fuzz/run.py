"""The soundness run: `python -m tests.fuzz.run --pairs 200000` executes random legal move sequences.

A pair is a program and a legal sequence of moves on it, executed before and after. Everything follows from
the seeds: sequence n is that of seed `first + n`, and the seed decides who executes it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.spelling import name_of
from tests.fuzz import checks
from tests.fuzz import sequences as fuzz
from tests.fuzz.programs import lacks

EXECUTORS = ("validator", "interpreter", "c", "avx512")
CHUNK = 200
"""Seeds of one piece of work."""
SHARE_PAIRS = 12_000
"""What CI runs."""


class Wrong(NamedTuple):
    """A sequence that came out wrong.

    Attributes:
        seed: of the sequence.
        who: executed it, or was to.
        kind: other values; a program that is no state (not proved, say); an exception.
    """

    seed: int
    who: str
    kind: Literal["values", "state", "exception"]
    text: str


@dataclass(slots=True)
class Tally:
    """What some seeds came to."""

    pairs: Counter[str] = field(default_factory=Counter)
    sequences: Counter[str] = field(default_factory=Counter)
    moves: Counter[str] = field(default_factory=Counter)
    wrong: list[Wrong] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.pairs += other.pairs
        self.sequences += other.sequences
        self.moves += other.moves
        self.wrong += other.wrong


def executor_of(seed: int) -> str:
    """Return who executes the sequence of a seed: compiled code costs most, so it gets three of ten."""
    return (
        "c",
        "validator",
        "interpreter",
        "avx512",
        *("interpreter", "validator") * 2,
        "avx512",
        "validator",
    )[seed % 10]


def run_seeds(
    seeds: Sequence[int],
    stop_at: int = 20,
    is_known: Callable[[fuzz.Sequence], bool] = lambda _: False,
    target: str = "",
) -> Tally:
    """Make the sequences of some seeds and execute each that is not known, until so many are wrong.

    Args:
        target: whose code executes all of them; "": each seed decides.
    """
    tally = Tally()
    compiled: dict[str, list[fuzz.Sequence]] = {name: [] for name in {"c", "avx512", target} - {""}}
    for seed in seeds:
        if len(tally.wrong) >= stop_at:
            return tally
        who = target or executor_of(seed)
        try:
            made = fuzz.sequence(seed, target=who if who in compiled else "")
            if not made.moves:
                continue
            reason = lacks(made.programs[-1])
            if reason:
                tally.wrong.append(_no_state(made, who, reason))
            elif is_known(made):
                continue
            elif who in compiled:
                compiled[who].append(made)
            else:
                check = checks.by_validator if who == "validator" else checks.by_interpreter
                _count(tally, made, who, check(made))
        except Exception:
            tally.wrong.append(Wrong(seed, who, "exception", f"seed {seed}, {who}: {traceback.format_exc()}"))
    for who, found in compiled.items():
        if not found:
            continue
        try:
            for made, reasons in zip(found, checks.by_backend(who)(found), strict=True):
                _count(tally, made, who, reasons)
        except Exception:
            text = f"seeds {found[0].seed} and later, {who}: {traceback.format_exc()}"
            tally.wrong.append(Wrong(found[0].seed, who, "exception", text))
    return tally


def _no_state(made: fuzz.Sequence, who: str, reason: str) -> Wrong:
    """Other values, if an execution finds some in what is no state, else what it lacks."""
    try:
        found = checks.by_validator(made) if who == "validator" else checks.by_interpreter(made)
    except Exception:
        found = []
    if not any(found):
        return Wrong(made.seed, who, "state", _report(made, len(made.moves), who, reason))
    number = next(n for n, r in enumerate(found) if r)
    return Wrong(made.seed, who, "values", _report(made, number + 1, who, f"{found[number]}; {reason}"))


def _count(tally: Tally, made: fuzz.Sequence, who: str, reasons: list[str]) -> None:
    tally.sequences[who] += 1
    tally.pairs[who] += len(reasons)
    tally.moves += Counter(name_of(m) for m in made.moves)
    for number, reason in enumerate(reasons, 1 + len(made.moves) - len(reasons)):
        if reason:
            tally.wrong.append(Wrong(made.seed, who, "values", _report(made, number, who, reason)))
            return


def _report(made: fuzz.Sequence, number: int, who: str, reason: str) -> str:
    """The first wrong program, the moves that led to it, and what is wrong."""
    moves = "\n".join(f"  {m}" for m in made.moves[:number])
    before = made.programs[number - 2] if number > 1 else made.start
    return (
        f"seed {made.seed}, {who}, {made.setting.target.name} {made.setting.fp}: {reason}\n{moves}\n"
        f"before the last move\n{render(before)}\nbehind it\n{render(made.programs[number - 1])}"
    )


def tallies(first: int, jobs: int, target: str = "") -> Iterator[Tally]:
    """Yield the tallies of chunk after chunk, without end, as they are done."""
    if jobs == 1:
        while True:
            yield run_seeds(range(first, first + CHUNK), target=target)
            first += CHUNK
    with ProcessPoolExecutor(jobs) as pool:
        waiting: set[Future[Tally]] = set()
        try:
            while True:
                while len(waiting) < jobs + 1:
                    waiting.add(pool.submit(run_seeds, range(first, first + CHUNK), target=target))
                    first += CHUNK
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def fuzz_until(
    first: int,
    pairs: int,
    seconds: float,
    jobs: int,
    stop_at: int = 20,
    tell: bool = False,
    target: str = "",
) -> Tally:
    """Return the tally of enough seeds for `pairs` pairs, or of what `seconds` were enough for."""
    total, start = Tally(), time.monotonic()
    for tally in tallies(first, jobs, target):
        total.add(tally)
        if tell:
            spent = time.monotonic() - start
            print(
                f"\r{total.pairs.total()} pairs, {len(total.wrong)} wrong, {spent:.0f} s",
                end="",
                file=sys.stderr,
            )
        done = total.pairs.total() >= pairs or time.monotonic() - start >= seconds
        if done or len(total.wrong) >= stop_at:
            return total
    raise AssertionError("tallies never end")


def table(total: Tally) -> str:
    """Return the table of a run as Markdown."""
    lines = ["| executed by | sequences | pairs | mismatches |", "|---|---:|---:|---:|"]
    wrong = Counter(w.who for w in total.wrong)
    for who in (*EXECUTORS, *sorted(total.sequences.keys() - set(EXECUTORS))):
        lines.append(f"| {who} | {total.sequences[who]:,} | {total.pairs[who]:,} | {wrong[who]} |")
    lines.append(f"| all | {total.sequences.total():,} | {total.pairs.total():,} | {len(total.wrong)} |")
    moves = ", ".join(f"{name} {count:,}" for name, count in sorted(total.moves.items()))
    return "\n".join(lines) + f"\n\nMoves: {moves}.\n"


def main() -> int:
    """Run, print the table and what is wrong; 1 when something is."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after so many seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, help="run this seed alone")
    parser.add_argument("--target", default="", help="execute all by the code of this one: neon")
    o = parser.parse_args()
    if o.seed is not None:
        total = run_seeds([o.seed], target=o.target)
    else:
        total = fuzz_until(o.first, o.pairs, o.seconds, o.jobs, tell=True, target=o.target)
    print(f"\n{table(total)}")
    for wrong in total.wrong:
        print(wrong.text)
    return 1 if total.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
