"""Kernels that run on this machine: built by its gcc, timed by its clock, set against its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo.cli.estimates import tell_estimates
from perfdojo.cli.explain import tell_explanation
from perfdojo.cli.machine import Checked, failed, judge
from perfdojo.cli.measured import tell_measurement
from perfdojo.cli.options import Options
from perfdojo.toolchains.quantities import quantity

if TYPE_CHECKING:
    from perfdojo.cli.job import Job
    from perfdojo.compiler.emitted import EmittedSource
    from perfdojo.toolchains.harness import Host
    from perfdojo.toolchains.host import Built
    from perfdojo.toolchains.results import Failure

LONG = 200_000_000
"""Executions of statements above which the reference takes seconds for each set of inputs."""
TIME_BYTES = 8
"""Bytes for each element of an argument, at the least, while it is timed."""


@dataclass(frozen=True, slots=True)
class HostMachine:
    """This machine; `threads` run the @parallel scopes of a kernel."""

    host: Host
    threads: int

    @classmethod
    def find(cls, o: Options, target: str) -> HostMachine:
        """Return this machine with its compiler, or one for the machine of `target` with an emulator;
        that may be missing where nothing is to run.

        Raises:
            MissingTool: there is none.
            PerfDojoError: threads are asked for, and the compiler has no OpenMP for that machine.
        """
        from perfdojo.compiler.diagnostics import PerfDojoError
        from perfdojo.toolchains.cross import cross_of, find_cross
        from perfdojo.toolchains.host import find_host

        cross = cross_of(target)
        if cross is None or cross.native:
            return cls(find_host(), o.threads)
        if o.threads > 1 and not cross.threads:
            raise PerfDojoError(
                f"{cross.compiler} builds no code with threads for {cross.machine} here",
                hint=f"leave --threads out, or write the source with -o DIR and build it on {cross.machine}",
            )
        return cls(find_cross(cross, runs=o.check or o.time), o.threads)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the folders that it uses."""
        return self.host.places.notes

    def build(self, emitted: EmittedSource) -> HostKernel | Failure:
        """Compile it."""
        from perfdojo.toolchains.host import build
        from perfdojo.toolchains.results import Failure

        built = build(emitted, self.host)
        return built if isinstance(built, Failure) else HostKernel(built, self.threads)

    def assembly(self, emitted: EmittedSource) -> str | Failure:
        """Return the assembly that the compiler makes of it."""
        from perfdojo.toolchains.host import assembly

        return assembly(emitted, self.host)

    def shared(self, emitted: EmittedSource, path: Path) -> Path | Failure:
        """Build a library for `perfdojo.load`."""
        from perfdojo.toolchains.host import shared_library

        return shared_library(emitted, path, self.host)


@dataclass(frozen=True, slots=True)
class HostKernel:
    """A kernel that compiled here."""

    built: Built
    threads: int

    @property
    def command(self) -> str:
        """The command of the native build."""
        return self.built.command

    @property
    def timed(self) -> bool:
        """Whether times of it mean anything."""
        return self.built.timed

    @property
    def reason(self) -> str:
        """Why it is not timed, or ""."""
        return self.built.reason

    @property
    def notes(self) -> tuple[str, ...]:
        """None: the report of the measurement tells all."""
        return ()

    @property
    def own_library(self) -> bool:
        """Whether it calls the C library of another kind of machine."""
        return bool(self.built.host.emulator)

    @property
    def long(self) -> int:
        """Executions of statements above which the reference takes seconds for each set of inputs."""
        return LONG

    def check(self, job: Job, inputs: Mapping[str, Any]) -> Checked:
        """Run it and compare what it computes with the reference."""
        from perfdojo.toolchains.host import run

        ran = run(self.built, inputs, threads=self.threads)
        if ran.outcome != "ok":
            return failed(ran)
        tensor = job.emitted.tensor
        return judge(job.bound, job.options.fp, inputs, ran.outputs, self.own_library, tensor)

    def time(self, job: Job) -> bool:
        """Measure it and set the time against the machine's limit; tell whether that went well."""
        from perfdojo.compiler.interpret import random_inputs
        from perfdojo.toolchains.host import measure

        o, screen = job.options, job.screen
        if not self.timed:
            figures: dict[str, Any] = {"median_s": None, "reason": self.reason}
            job.result.time = figures
            screen.line("time", self.reason, "note")
            if self.built.host.emulator:
                tell_estimates(job, self.built, figures)
            return True
        job.need_memory(TIME_BYTES)
        with screen.working("measuring"):
            inputs = random_inputs(job.bound, o.seed, "normal")
            m = measure(self.built, inputs, o.budget_s, o.threads, "cold" if o.cache == "cold" else "hot")
        if m.outcome != "ok":
            job.result.fail(f"measuring failed: {m.outcome}: {m.text}")
            screen.line("time", f"{m.outcome}: {m.text}", "bad")
            return False
        tell_measurement(job, m)
        self._limit(job, m.median_s)
        if o.explain:
            tell_explanation(job, self.built, m.median_s)
        return True

    def _limit(self, job: Job, seconds: float) -> None:
        from perfdojo.toolchains.roofline import limit_of

        e = job.emitted
        rates = [quantity(e.flops / seconds, "FLOP/s")] if e.flops else []
        rates.append(quantity(e.bytes / seconds, "B/s"))
        with job.screen.working("measuring this machine's limits, once"):
            limit = limit_of(self.built.host, e, job.options.threads, job.options.cache)
        if limit is None:
            job.screen.line("rate", ", ".join(rates))
            return
        share = limit.seconds / seconds
        job.result.limit = {
            "share": share,
            "bound": limit.bound,
            "seconds": limit.seconds,
            "text": limit.text,
        }
        job.screen.line("rate", f"{', '.join(rates)}: {100 * share:.0f} % of the limit ({limit.text})")
