"""Kernels for Snitch: built for it, run on a simulated cluster, timed in its cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo.cli.machine import Checked, failed, judge
from perfdojo.cli.options import Options
from perfdojo.compiler.diagnostics import PerfDojoError

if TYPE_CHECKING:
    from perfdojo.cli.job import Job
    from perfdojo.compiler.emitted import EmittedSource
    from perfdojo.toolchains.results import Failure
    from perfdojo.toolchains.snitch.expected import Expected
    from perfdojo.toolchains.snitch.external import External
    from perfdojo.toolchains.snitch.gcc import Tools
    from perfdojo.toolchains.snitch.measure import CycleMeasurement
    from perfdojo.toolchains.snitch.run import Built, Machine

BUILTIN = "builtin"
LONG = 500_000
EXECUTION_S = 30e-6
"""Seconds allowed for each execution of a statement: a hundred cycles, three million simulated a second."""


@dataclass(frozen=True, slots=True)
class SnitchMachine:
    """A cluster of Snitch cores, simulated; by `external` if there is one, else by the built-in simulator."""

    tools: Tools
    external: External | None

    @classmethod
    def find(cls, o: Options) -> SnitchMachine:
        """Return the compiler and the simulator that was asked for.

        Raises:
            MissingTool: a compiler is not installed.
            PerfDojoError: there is no such simulator, or it does not tell what was asked for.
        """
        from perfdojo.toolchains.snitch.gcc import find_tools

        if o.simulator == BUILTIN:
            return cls(find_tools(), None)
        from perfdojo.toolchains.snitch.external import find_external

        if o.trace is not None or o.annotate:
            option = "--annotate" if o.annotate else "--trace"
            raise PerfDojoError(f"{option} needs the built-in simulator", hint="leave --simulator away")
        return cls(find_tools(simulating=False), find_external(o.simulator))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the folders that it uses."""
        return self.tools.places.notes

    def build(self, emitted: EmittedSource) -> SnitchKernel | Failure:
        """Compile it with its harness."""
        from perfdojo.toolchains.results import Failure
        from perfdojo.toolchains.snitch.run import build

        checks_itself = self.external is not None and self.external.kind == "banshee"
        built = build(emitted, self.tools, checks_itself)
        return built if isinstance(built, Failure) else SnitchKernel(built, self.external)

    def assembly(self, emitted: EmittedSource) -> str | Failure:
        """Return the assembly that the compiler makes of C code, or that was emitted."""
        from perfdojo.toolchains.snitch.gcc import assembly

        return assembly(emitted, self.tools)

    def shared(self, emitted: EmittedSource, path: Path) -> Path | Failure:
        """Refuse: no process here could load it."""
        raise PerfDojoError(
            f"there are no shared libraries for {emitted.target}",
            hint="-o writes the source, which is included as it is",
        )


@dataclass(frozen=True, slots=True)
class SnitchKernel:
    """A kernel that compiled for Snitch."""

    built: Built
    external: External | None

    @property
    def command(self) -> str:
        """The command of the build."""
        return self.built.command

    @property
    def timed(self) -> bool:
        """Whether the simulator counts cycles."""
        return self.external is None or self.external.kind != "banshee"

    @property
    def reason(self) -> str:
        """Why it is not timed, or ""."""
        return (
            ""
            if self.timed
            else "banshee executes instruction by instruction: its cycles are not those of the RTL"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the arguments lie, if it would be faster elsewhere."""
        from perfdojo.toolchains.snitch.layout import ARGUMENT_BYTES

        area = self.built.area
        if not area.in_main or self.built.emitted.memory == "main":
            return ()
        return (
            f"the arguments need {area.size_bytes} bytes and {ARGUMENT_BYTES} of the TCDM are left for them: "
            "it reads main memory, without streams; choose smaller sizes (-D), or tile it for the DMA "
            "(recipe tcdm_tiles)",
        )

    @property
    def own_library(self) -> bool:
        """Its f64 functions are those of its runtime."""
        return True

    @property
    def long(self) -> int:
        """Executions of statements above which a simulation takes seconds."""
        return LONG if self.external is None else 0

    def check(self, job: Job, inputs: Mapping[str, Any]) -> Checked:
        """Run it and compare what it computes with the reference."""
        from perfdojo.toolchains.snitch.run import run

        if self.built.self_check:
            return self._check_itself(job, inputs)
        ran = run(self.built, inputs, self._machine(), timeout_s=self._timeout_s(job))
        if ran.outcome != "ok":
            return failed(ran)
        return judge(job.bound, job.options.fp, inputs, ran.outputs, self.own_library)

    def _check_itself(self, job: Job, inputs: Mapping[str, Any]) -> Checked:
        from perfdojo.toolchains.snitch.external import run_checking_itself

        assert self.external is not None
        expected = _expected(job, inputs)
        ran = run_checking_itself(self.built, inputs, expected, self.external, self._timeout_s(job))
        if ran.outcome != "ok":
            return failed(ran)
        return Checked("ok", "", None, 0, sum(e.least.size for e in expected.values()))

    def _timeout_s(self, job: Job) -> float:
        from perfdojo.compiler.work import work
        from perfdojo.toolchains.snitch.external import TIMEOUT_S
        from perfdojo.toolchains.snitch.run import CHECK_TIMEOUT_S

        if self.external is not None:
            return TIMEOUT_S
        return CHECK_TIMEOUT_S + EXECUTION_S * work(job.bound).executions

    def _machine(self) -> Machine | None:
        if self.external is None:
            return None
        from perfdojo.toolchains.snitch.external import verilated

        return verilated(self.external.path)

    def time(self, job: Job) -> bool:
        """Count the cycles of a call; leave the figures, the listing and the trace that were asked for."""
        from perfdojo.compiler.interpret import random_inputs
        from perfdojo.toolchains.snitch.measure import measure

        o, screen = job.options, job.screen
        if not self.timed:
            job.result.time = {"cycles": None, "median_s": None, "reason": self.reason}
            screen.line("time", self.reason, "note")
            return True
        with screen.working("simulating"):
            inputs = random_inputs(job.bound, o.seed, "normal")
            m = measure(self.built, inputs, self._machine(), self._timeout_s(job))
        if m.outcome != "ok":
            job.result.fail(f"measuring failed: {m.outcome}: {m.text}")
            screen.line("time", f"{m.outcome}: {m.text}", "bad")
            return False
        self._report(job, m)
        if o.trace is not None:
            self._trace(job, m, inputs, o.trace)
        if o.annotate:
            self._annotate(job, m)
        return True

    def _report(self, job: Job, m: CycleMeasurement) -> None:
        from perfdojo.toolchains.snitch.words import stalls_text

        simulator = "built-in simulator" if self.external is None else str(self.external)
        job.result.time = {
            "cycles": m.cycles,
            "cold_cycles": m.calls[0],
            "unit": m.unit,
            "median_s": None,
            "cores": m.cores,
            "fpu_utilisation": m.utilisation,
            "fpu_issues": m.fpu_issues,
            "instructions": m.instructions,
            "stalls": dict(m.stalls),
            "memory": "main" if self.built.area.in_main else "tcdm",
            "simulator": simulator,
        }
        harts = f"{m.cores} core" + ("s" if m.cores > 1 else "") + (" and DMA" if job.emitted.dma else "")
        cold = "" if m.calls[0] == m.cycles else f", {m.calls[0]} with cold instruction caches"
        memory = "main memory" if self.built.area.in_main else "the TCDM"
        job.screen.line("time", f"{m.cycles} cycles{cold} ({harts}, data in {memory}, {simulator})", "ok")
        if m.utilisation is None:
            return
        share = f"FPU utilisation {100 * m.utilisation:.1f} %, {m.fpu_issues} issues"
        flops = job.emitted.flops
        rate = f"; {flops / m.cycles:.2f} FLOP/cycle" if flops else ""
        job.screen.line("fpu", f"{share}; {m.instructions} instructions of integer cores{rate}")
        job.screen.line("stalls", stalls_text(m.stalls) or "none")

    def _trace(self, job: Job, m: CycleMeasurement, inputs: Mapping[str, Any], path: Path) -> None:
        from perfdojo.toolchains.snitch.trace import trace_call

        text = trace_call(self.built, inputs, m)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise PerfDojoError(f"cannot write to {path}: {error.strerror}") from None
        job.result.files.append(str(path))
        job.screen.line("trace", f"{path}; open it in ui.perfetto.dev", "ok")

    def _annotate(self, job: Job, m: CycleMeasurement) -> None:
        from perfdojo.toolchains.snitch.annotate import annotate

        text = annotate(self.built, m)
        job.result.listing = text.splitlines()
        job.screen.text(f"\n{text}")


def _expected(job: Job, inputs: Mapping[str, Any]) -> dict[str, Expected]:
    """What the reference allows, for a program that checks itself."""
    from perfdojo.compiler.interpret import interpret, reference
    from perfdojo.compiler.libraries import bits_are_fixed
    from perfdojo.toolchains.snitch.expected import exactly, within

    if bits_are_fixed(job.bound, job.options.fp, own_library=True):
        return {name: exactly(value) for name, value in interpret(job.bound, inputs).items()}
    dtypes = {a.name: a.dtype for a in job.emitted.arguments}
    return {
        name: within(b.value, b.bound, b.undecided, dtypes[name])
        for name, b in reference(job.bound, inputs, job.options.fp).items()
    }
