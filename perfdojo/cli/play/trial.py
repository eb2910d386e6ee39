"""The program of a session is built, checked and timed, as the main job does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perfdojo.cli.job import Job, Result
from perfdojo.cli.options import Options
from perfdojo.cli.report import Screen
from perfdojo.cli.schedules import Choice
from perfdojo.compiler.ir import Size
from perfdojo.compiler.schedule import Scheduled
from perfdojo.compiler.walk import const_int
from perfdojo.session import Session
from perfdojo.toolchains.quantities import cost_text

if TYPE_CHECKING:
    from perfdojo.cli.machine import Kernel

Say = Callable[[str], None]


@dataclass(slots=True)
class Trial:
    """Measurements of a session, in order: seconds, or cycles of a simulator."""

    session: Session
    options: Options
    times: list[float] = field(default_factory=list)

    def sizes(self) -> Iterator[tuple[Size, int]]:
        """Yield the sizes with their values."""
        return ((s, const_int(s.value)) for s in self.session.original.sizes)

    def check(self, say: Say) -> None:
        """Build and check the program; the report says how that went."""
        job, built = self._built(say)
        if built is not None:
            job.check(built)

    def time(self, say: Say) -> None:
        """Build and measure the program, and set the time against those before."""
        job, built = self._built(say)
        if built is None or not job.time(built) or job.result.time is None:
            return
        found = job.result.time
        unit = found.get("unit", "s")
        now = found["median_s"] if unit == "s" else found["cycles"]
        if now is None:
            return
        if self.times:
            say(f"  {_ratio(self.times[-1], now, unit)} the previous time")
        if len(self.times) > 1:
            say(f"  {_ratio(self.times[0], now, unit)} the first time")
        self.times.append(now)

    def _built(self, say: Say) -> tuple[Job, Kernel | None]:
        """Build, without the line of the compiler that the main job reports."""
        from perfdojo.cli.machine import choose_machine

        job = self._job()
        job.screen.silent = True
        built = job.build(choose_machine(self.options, job.emitted.target))
        job.screen.silent = False
        if built is None and job.result.error is not None:
            say(f"{job.result.error['message']}; {job.result.error['hint']}")
        return job, built

    def _job(self) -> Job:
        from perfdojo.backends import emit

        s, o = self.session, self.options
        bound, target = s.original, s.setting.target.name
        made = Scheduled(s.program, s.text(), "--schedule FILE")
        emitted = emit(bound, target, fp=o.fp, threads=o.threads, scheduled=made)
        sizes = {size.name: v for size, v in self.sizes()}
        steps = [str(state.step.move) for state in s.states if not state.skipped]
        result = Result(bound.name, target, sizes, o.fp, steps)
        return Job(o, Screen(o.quiet), result, bound, emitted, s.kernel, Choice())


def _ratio(before: float, now: float, unit: str) -> str:
    return f"{before / now:.2f} times as fast as {cost_text(before, unit)},"
