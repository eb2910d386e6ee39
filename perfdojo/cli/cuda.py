"""Kernels for NVIDIA GPUs: compiled by nvcc, checked by an emulation, timed where there is a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo.cli.machine import Checked, failed, judge
from perfdojo.cli.measured import tell_measurement

if TYPE_CHECKING:
    from perfdojo.cli.job import Job
    from perfdojo.compiler.emitted import EmittedSource
    from perfdojo.toolchains.cuda.build import Built
    from perfdojo.toolchains.harness import Host
    from perfdojo.toolchains.results import Failure

LONG = 20_000_000
"""Executions of statements above which an emulation takes seconds."""


@dataclass(frozen=True, slots=True)
class CudaMachine:
    """The compilers of this machine, and its GPU if there is one."""

    host: Host

    @classmethod
    def find(cls) -> CudaMachine:
        """Return this machine with its compiler for the host.

        Raises:
            MissingTool: there is none.
        """
        from perfdojo.toolchains.host import find_host

        return cls(find_host())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the folders that it uses."""
        return self.host.places.notes

    def build(self, emitted: EmittedSource) -> CudaKernel | Failure:
        """Compile it."""
        from perfdojo.toolchains.cuda.build import build
        from perfdojo.toolchains.results import Failure

        built = build(emitted, self.host)
        return built if isinstance(built, Failure) else CudaKernel(built)

    def assembly(self, emitted: EmittedSource) -> str | Failure:
        """Refuse: what nvcc makes is no assembly of this machine."""
        from perfdojo.compiler.diagnostics import PerfDojoError

        raise PerfDojoError(
            "--emit asm is not there for cuda",
            hint="nvcc --ptx makes it of the .cu file, with the flags that this names",
        )

    def shared(self, emitted: EmittedSource, path: Path) -> Path | Failure:
        """Refuse: `perfdojo.load` calls functions of this machine only."""
        from perfdojo.compiler.diagnostics import PerfDojoError

        hint = "nvcc -shared -Xcompiler -fPIC makes a library of it, with the flags that the file names"
        raise PerfDojoError("--shared is for code of this machine", hint=hint)


@dataclass(frozen=True, slots=True)
class CudaKernel:
    """A kernel that compiled."""

    built: Built

    @property
    def command(self) -> str:
        """The commands of nvcc, or of the emulation where there is none."""
        compiled = self.built.compiled
        return compiled[0].command if compiled else "g++ for the emulation"

    @property
    def timed(self) -> bool:
        """Whether there is a GPU."""
        return self.built.timed

    @property
    def reason(self) -> str:
        """Why it is not timed, or ""."""
        return self.built.reason

    @property
    def notes(self) -> tuple[str, ...]:
        """What each kernel uses on each architecture, and how full that leaves a multiprocessor."""
        from perfdojo.toolchains.cuda.device import device_of, occupancy

        lines = []
        for c in self.built.compiled:
            for name, u in c.usage.items():
                what = c.architecture if len(c.usage) == 1 else f"{c.architecture}, {name}"
                full = occupancy(device_of(c.architecture), u.max_threads or 1, u.registers, u.shared_bytes)
                local = f", {u.stack_bytes} bytes of local memory" if u.stack_bytes else ""
                spilled = u.spill_store_bytes + u.spill_load_bytes
                spills = f", {spilled} bytes spilled" if spilled else ""
                shared = f", {u.shared_bytes} bytes shared" if u.shared_bytes else ""
                lines.append(
                    f"{what}: {u.registers} registers a thread{shared}{local}{spills}; "
                    f"{full.warps} warps on a multiprocessor, {full.share:.0%}: {' and '.join(full.limits)}"
                )
        return tuple(lines)

    @property
    def own_library(self) -> bool:
        """The functions of a GPU's library are not those of this machine's."""
        return True

    @property
    def long(self) -> int:
        """Executions of statements above which an emulation takes seconds."""
        return LONG

    def check(self, job: Job, inputs: Mapping[str, Any]) -> Checked:
        """Run it, on the GPU or in the emulation, and compare what it computes with the reference."""
        from perfdojo.toolchains.cuda.build import run, run_natively

        ran = run_natively(self.built, inputs) if self.timed else run(self.built, inputs)
        if ran.outcome != "ok":
            return failed(ran)
        tensor = self.built.emitted.tensor
        return judge(job.bound, job.options.fp, inputs, ran.outputs, self.own_library, tensor)

    def time(self, job: Job) -> bool:
        """Measure it on the GPU, where there is one; tell whether that went well."""
        from perfdojo.compiler.interpret import random_inputs
        from perfdojo.toolchains.cuda.build import measure

        o, screen = job.options, job.screen
        if not self.timed:
            job.result.time = {"median_s": None, "reason": self.reason}
            screen.line("time", self.reason, "note")
            return True
        with screen.working("measuring"):
            inputs = random_inputs(job.bound, o.seed, "normal")
            m = measure(self.built, inputs, o.budget_s, "cold" if o.cache == "cold" else "hot")
        if m.outcome != "ok":
            job.result.fail(f"measuring failed: {m.outcome}: {m.text}")
            screen.line("time", f"{m.outcome}: {m.text}", "bad")
            return False
        tell_measurement(job, m)
        return True
