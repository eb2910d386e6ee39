"""`perfdojo.PerfDojo`: a kernel goes in, the fastest verified code that a search finds comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.emitted import EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FpLevel
from perfdojo.compiler.schedule.validation import Validation
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import choose_target, fitting_schedule
from perfdojo.session import Session, read_program
from perfdojo.toolchains.quantities import cost_text
from perfdojo.toolchains.statistics import median
from perfdojo.tuning.diagnosis import diagnosis
from perfdojo.tuning.machines import problem_of, records_path
from perfdojo.tuning.records import Records
from perfdojo.tuning.runners.emitting import emit_point
from perfdojo.tuning.searches import get_search
from perfdojo.tuning.trial import MOST_SEED, Trial
from perfdojo.tuning.tune import ENDLESS, Tuner

if TYPE_CHECKING:
    from numpy.typing import NDArray

ARCHITECTURES = {
    "x86_avx512": "avx512",
    "x86_avx2": "avx2",
    "arm_neon": "neon",
    "nvidia_sm80": "cuda",
    "nvidia_sm90": "cuda",
    "riscv_snitch": "snitch",
    "riscv_vector": "rvv",
    "portable_c": "c",
}
"""Other names of targets."""
Mode = Literal["conservative", "balanced", "aggressive"]


@dataclass(frozen=True, slots=True)
class _Mode:
    """What a mode allows: a floating-point level, trials without gain before it ends."""

    fp: FpLevel
    patience: int


MODES: Mapping[str, _Mode] = {
    "conservative": _Mode("strict", 0),
    "balanced": _Mode("reassoc", 60),
    "aggressive": _Mode("fast", 400),
}
"""conservative: bits stay; what recipes make and the shipped schedule are tried, nothing else. balanced: sums
may be reordered; it ends after 60 trials without gain. aggressive: all that `fast` allows; 400 trials."""


@dataclass(frozen=True, repr=False)
class Optimised:
    """What a search came to.

    Attributes:
        program: as the schedule makes it; as given where nothing was faster.
        schedule: its text, "" for the code as it is planned.
        emitted: the sources, with the flags that they are compiled with.
        cost, unit: of one call, at the end, in turn with the baselines.
        baselines: costs of the code without a schedule and of the shipped schedule, by name.
        history: every trial.
        validation: that the schedule keeps the meaning, decided on symbols; None where it was not asked.
        diagnosis: sentences on what was tried, where nothing was gained.
    """

    program: Program
    schedule: str
    emitted: EmittedSource
    cost: float
    unit: str
    baselines: Mapping[str, float]
    history: tuple[Trial, ...]
    validation: Validation | None
    diagnosis: tuple[str, ...]

    @property
    def gain(self) -> float:
        """How many times as fast as the best that was there before."""
        return min(self.baselines.values(), default=self.cost) / self.cost

    def __repr__(self) -> str:
        made = f"{self.emitted.kernel} on {self.emitted.target}"
        return f"Optimised({made}, {cost_text(self.cost, self.unit)}, gain {self.gain:.2f})"

    def write(self, folder: str | Path) -> list[Path]:
        """Write the sources, and the schedule beside them; return their paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = [*self.emitted.files]
        if self.schedule:
            files.append((f"{self.emitted.kernel}.{self.emitted.target}.sched", self.schedule))
        for name, text in files:
            (folder / name).write_text(text)
        return [folder / name for name, _ in files]


class PerfDojo:
    """Searches for fast code.

    Args:
        arch: a target, or one of ARCHITECTURES; `host` is the best that this machine runs.
        mode: how much may change, and how long it searches (MODES).
        search, seed: how schedules are proposed.
        records: where trials are kept; True: with those of `perfdojoc --tune`, False: nowhere.
    Raises:
        PerfDojoError: no such target, mode or search, or records cannot be kept there.
    """

    def __init__(
        self,
        arch: str = "host",
        mode: Mode = "balanced",
        *,
        search: str = "guided",
        seed: int = 0,
        records: bool | str | Path = True,
    ) -> None:
        self.target = choose_target(ARCHITECTURES.get(arch, arch))
        if mode not in MODES:
            raise PerfDojoError(
                f"no mode '{mode}'", hint=nearest(mode, list(MODES)) or f"modes: {', '.join(MODES)}"
            )
        get_search(search)
        if not 0 <= seed <= MOST_SEED:
            raise PerfDojoError(f"seed {seed} is not between 0 and {MOST_SEED}")
        self.mode, self.search, self.seed = MODES[mode], search, seed
        path = records_path() if records is True else records
        self._records = Records(Path(path)) if path else None
        self._trials: tuple[Trial, ...] = ()

    def transform(
        self,
        ir: str | Path | Program,
        timeout: float = 300.0,
        max_steps: int = 100,
        early_stopping: bool = True,
        semantic_check: bool = True,
        tolerance: float | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> Optimised:
        """Return the fastest code that is found for a kernel.

        Args:
            ir: text, path, name of a library kernel, or program.
            timeout: seconds that the search may take.
            max_steps: moves of a schedule, at most.
            early_stopping: end when the mode's number of trials brought nothing.
            semantic_check: decide on symbols, too, that the winner keeps the meaning. The results of each
                candidate are checked against the derived bound in any case.
            tolerance: errors up to this part of the largest magnitude of an output are fine as well; None:
                the derived bound alone, at `strict` bits.
            sizes: that differ from those of the kernel.
        Raises:
            PerfDojoError: the kernel or a number is wrong, or the target cannot be timed here.
        """
        if not timeout >= 0 or max_steps < 0:
            raise PerfDojoError("timeout and max_steps are at least 0")
        if tolerance is not None and not 0 <= tolerance < inf:
            raise PerfDojoError(f"tolerance {tolerance} is no number from 0")
        kernel = read_program(ir)
        bound = bind(kernel, dict(sizes or {}))
        verify(bound)
        setting = Setting(get_target(self.target), self.mode.fp)
        problem, runner = problem_of(bound, setting)
        if tolerance is not None:  # what is right by it need not be right without
            problem = replace(problem, machine=(*problem.machine, ("tolerance", str(tolerance))))
        is_named = isinstance(ir, str) and "\n" not in ir
        shipped = fitting_schedule(str(ir), bound, setting) if is_named else None
        patience = self.mode.patience if early_stopping or not self.mode.patience else ENDLESS
        tuner = Tuner(
            problem, runner(self.seed, tolerance), self.search, self.seed, shipped, self._records,
            patience=patience, most_moves=max_steps,
        )  # fmt: skip
        result = tuner.run(timeout)
        self._trials = tuple(result.progress.trials)
        winner = result.winner
        validation = None
        if semantic_check and winner.text:
            session = Session(
                kernel, self.target, self.mode.fp, sizes=dict(sizes or {}), schedule=winner.text
            )
            validation = session.validate()
        cost = next((median(s) for p, s in result.finals if p.text == winner.text), float("nan"))
        return Optimised(
            winner.program, winner.text, emit_point(problem, winner), cost,
            problem.unit, result.baselines, self._trials, validation,
            () if winner.text else tuple(diagnosis(result, tuner.space)),
        )  # fmt: skip

    def get_tuning_history(self) -> dict[str, NDArray[Any]]:
        """Return the trials of the last search as arrays: seconds, cost (NaN: failed), best, outcome."""
        costs = np.array([np.nan if t.cost is None else t.cost for t in self._trials], float)
        best = np.fmin.accumulate(costs) if len(costs) else costs
        return {
            "seconds": np.array([t.at for t in self._trials], float),
            "cost": costs,
            "best": best,
            "outcome": np.array([t.outcome for t in self._trials], dtype=object),
        }
