"""One kernel on all systems: prepared one after another, then run in turn, slot by slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.peers.process import Answer, Worker
from benchmarks.peers.references import WRONG, reference
from benchmarks.suite import Benchmark
from perfdojo.toolchains.locks import alone
from perfdojo.toolchains.roofline import Limit
from perfdojo.toolchains.statistics import median, median_interval

SLOW_S = 0.25
"""Systems that take longer for a call run in the first rounds only."""

ROUNDS_OF_SLOW = 3


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long everything may take: rounds, seconds of a slot, seconds to prepare one system."""

    rounds: int
    slot_s: float
    prepare_s: float


@dataclass(slots=True)
class Cell:
    """One kernel on one system.

    Attributes:
        seconds: of a call, the median of each round's slot; those of a round are comparable.
        prepare_s: compilation or planning, with the first call.
        error: of the result, over the largest value of the float64 reference.
        note: what a reader has to know.
        gap: why there is no figure, or "".
    """

    seconds: list[float] = field(default_factory=list)
    prepare_s: float = 0.0
    error: float = 0.0
    note: str = ""
    gap: str = ""

    @property
    def time(self) -> float | None:
        return median(self.seconds) if self.seconds else None


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster one is than another: median over common rounds, and its 95 % interval."""

    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel: its limit on this machine, and a cell for each system, by name."""

    benchmark: Benchmark
    limit: Limit
    cells: dict[str, Cell]

    def time(self, name: str) -> float | None:
        """Return the seconds of a system, None for a gap."""
        return self.cells[name].time if name in self.cells else None

    def share(self, name: str) -> float | None:
        """Return the limit over the time."""
        time = self.time(name)
        return self.limit.seconds / time if time else None

    def wrong(self, name: str) -> bool:
        """Tell whether the result of a system was compared and is wrong."""
        return name in self.cells and WRONG in self.cells[name].gap

    def fastest(self, names: Sequence[str]) -> str | None:
        """Return which of these has the least time, None when all are gaps."""
        times = {n: t for n in names if (t := self.time(n))}
        return min(times, key=times.__getitem__) if times else None

    def ratio(self, slower: str, faster: str) -> Ratio | None:
        """Return the time of `slower` over that of `faster`."""
        if self.time(slower) is None or self.time(faster) is None:
            return None
        pairs = zip(self.cells[slower].seconds, self.cells[faster].seconds, strict=False)
        ratios = [a / b for a, b in pairs]
        return Ratio(median(ratios), median_interval(ratios))


def measured(b: Benchmark, limit: Limit, workers: Sequence[Worker], plan: Schedule) -> Row:
    """Prepare a kernel on all systems, check the results, and time them."""
    cells: dict[str, Cell] = {}
    ready: dict[str, tuple[Worker, float]] = {}
    with TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        inputs = b.generate()
        for n, values in inputs.items():
            np.save(folder / f"{n}.npy", values)
        np.save(folder / "expected.npy", reference(b, inputs))
        del inputs
        for w in workers:
            answer = w.prepare(b.name, folder, plan.prepare_s)
            cells[w.system.name] = _cell(answer)
            if answer["ok"]:
                ready[w.system.name] = w, answer["call_s"]
    with alone():
        in_turn(ready, cells, plan)
    for w in workers:
        w.drop()
    return Row(b, limit, cells)


def _cell(answer: Answer) -> Cell:
    if not answer["ok"]:
        return Cell(gap=answer["why"])
    return Cell([], answer["prepare_s"], answer["error"], answer["note"])


def in_turn(ready: dict[str, tuple[Worker, float]], cells: dict[str, Cell], plan: Schedule) -> None:
    """Give each system a slot a round, in reversed order every second round."""
    order = list(ready)
    for n in range(plan.rounds):
        for name in order if n % 2 == 0 else reversed(order):
            worker, call_s = ready[name]
            if cells[name].gap or (call_s > SLOW_S and n >= ROUNDS_OF_SLOW):
                continue
            answer = worker.run(plan.slot_s)
            if answer["ok"]:
                cells[name].seconds.append(answer["seconds"])
            else:
                cells[name].gap = answer["why"]
