"""The main job: emit, build, check, time one kernel; each step leaves its part of the result."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdojo.cli.kernels import write_files
from perfdojo.cli.options import Options, error_object
from perfdojo.cli.report import Screen
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.walk import const_int
from perfdojo.finding import choose_target, read_kernel
from perfdojo.toolchains.quantities import quantity

if TYPE_CHECKING:
    from perfdojo.cli.machine import Kernel, Machine
    from perfdojo.cli.schedules import Choice
    from perfdojo.compiler.emitted import EmittedSource
    from perfdojo.compiler.ir import Program

INPUTS = ("normal", "uniform", "cancel", "denormal", "huge", "equal", "special")
"""Kinds of inputs that a check tries; `random_inputs` makes them."""
CHECK_BYTES = 16
"""Bytes for each element of an argument, at the least: its value and its bound in float64."""
INPUTS_OF_LONG = ("normal", "special")
"""Those that are tried where each takes long."""


@dataclass(slots=True)
class Result:
    """What `--json` prints. `error` says in one sentence what went wrong, if anything did."""

    kernel: str = ""
    target: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    fp: str = ""
    schedule: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    validate: dict[str, Any] | None = None
    build: dict[str, Any] | None = None
    check: dict[str, Any] | None = None
    time: dict[str, Any] | None = None
    limit: dict[str, Any] | None = None
    explain: dict[str, Any] | None = None
    listing: list[str] | None = None
    error: dict[str, Any] | None = None

    def fail(self, message: str, hint: str = "") -> None:
        """Record that the job failed."""
        self.error = error_object(message, hint)


def chosen_target(o: Options) -> tuple[Options, str]:
    """Return the options with the extensions of the target that they mean, and its name.

    Raises:
        PerfDojoError: no such target.
    """
    name, colon, isa = choose_target(o.target).partition(":")
    return (replace(o, isa=colon + isa) if isa else o), name


@dataclass(slots=True)
class Job:
    """One kernel on its way through the steps; `kernel` still has its sizes to be bound."""

    options: Options
    screen: Screen
    result: Result
    bound: Program
    emitted: EmittedSource
    kernel: Program
    choice: Choice

    @classmethod
    def start(cls, o: Options, screen: Screen) -> Job:
        """Read, prove and emit the kernel.

        Raises:
            PerfDojoError: the kernel is wrong.
        """
        from perfdojo.backends import emit, get_target
        from perfdojo.cli.schedules import choose_schedule
        from perfdojo.compiler.bind import bind
        from perfdojo.compiler.transforms.base import Setting
        from perfdojo.compiler.verify import verify

        o, target = chosen_target(o)
        kernel = read_kernel(o.kernel)
        bound = bind(kernel, o.sizes)
        verify(bound)
        choice = choose_schedule(o, bound, Setting(get_target(target + o.isa), o.fp))
        made = choice.scheduled
        emitted = emit(bound, target + o.isa, fp=o.fp, threads=o.threads, scheduled=made, cores=o.cores)
        sizes = {s.name: const_int(s.value) for s in bound.sizes}
        result = Result(bound.name, target, sizes, o.fp, list(choice.steps), [*choice.notes, *emitted.notes])
        listed = " ".join(f"{n}={v}" for n, v in sizes.items())
        threads = f"{o.threads} threads" if o.threads > 1 else ""
        screen.title(" · ".join(t for t in (bound.name, target, o.fp, listed, threads) if t))
        if choice.scheduled:
            count = f"{len(choice.steps)} move" + ("" if len(choice.steps) == 1 else "s")
            screen.line("schedule", f"{count} of {choice.name}", "ok")
        for note in choice.notes:
            screen.line("" if choice.scheduled else "schedule", note, "note")
        if emitted.notes:
            screen.line("lower", _first_of(emitted.notes), "note")
        return cls(o, screen, result, bound, emitted, kernel, choice)

    def write(self, folder: Path) -> None:
        """Write source and header into `folder`."""
        from perfdojo.backends import cmake

        files = self.emitted.files
        if self.options.cmake:
            files = (*files, ("CMakeLists.txt", cmake(self.emitted)))
        paths = write_files(folder, files, self.options.force)
        self.result.files += [str(p) for p in paths]
        self.screen.line("emit", ", ".join(str(p) for p in paths), "ok")

    def shared(self, folder: Path, machine: Machine) -> None:
        """Build the library for `perfdojo.load` in `folder`."""
        from perfdojo.backends import get_target
        from perfdojo.toolchains.results import Failure

        path = folder / f"lib{self.emitted.kernel}.so"
        if path.exists() and not self.options.force and not _is_our_library(path):
            raise PerfDojoError(
                f"{path} exists and was not made by perfdojo", hint="overwrite it with --force"
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            made = machine.shared(self.emitted, path)
        except OSError as error:
            at = error.filename2 or error.filename or folder
            raise PerfDojoError(f"cannot write to {at}: {error.strerror}") from None
        if isinstance(made, Failure):
            self._build_failed(made.text, made.lines, made.folder)
            return
        self.result.files.append(str(path))
        kind = get_target(self.emitted.target).machine
        where = "" if kind in ("", platform.machine()) else f" on {kind}"
        self.screen.line("shared", f"{path}; in Python{where}: perfdojo.load('{path}')", "ok")

    def build(self, machine: Machine) -> Kernel | None:
        """Compile it; None when that failed."""
        from perfdojo.toolchains.results import Failure

        with self.screen.working("building"):
            built = machine.build(self.emitted)
        if isinstance(built, Failure):
            self._build_failed(built.text, built.lines, built.folder)
            return None
        self.result.build = {"command": built.command, "timed": built.timed, "reason": built.reason or None}
        self.screen.line("build", short_command(built.command), "ok")
        for note in (*machine.notes, *built.notes):
            self.screen.line("", note, "note")
        self.result.notes += built.notes
        return built

    def _build_failed(self, text: str, lines: tuple[str, ...], folder: Path) -> None:
        self.screen.line("build", text, "bad")
        for line in lines[:5]:
            self.screen.line("", line)
        self.screen.line("", f"source and the compiler's whole message: {folder}")
        self.result.fail(text, f"source and the compiler's message are in {folder}")

    def check(self, kernel: Kernel) -> bool:
        """Compare with the reference on every kind of input; tell whether it passed."""
        from perfdojo.compiler.interpret import random_inputs
        from perfdojo.compiler.work import work

        self.need_memory(CHECK_BYTES)
        worst: float | None = 0.0
        elements = 0
        undecided: dict[str, int] = {}
        kinds = INPUTS_OF_LONG if work(self.bound).executions > kernel.long else INPUTS
        for kind in kinds:
            with self.screen.working(f"checking, {kind} inputs"):
                inputs = random_inputs(self.bound, self.options.seed, kind)
                found = kernel.check(self, inputs)
            if found.outcome == "not-runnable":
                self.result.check = {"passed": None, "reason": found.text}
                self.screen.line("check", found.text, "note")
                return True
            worst = None if worst is None or found.share is None else max(worst, found.share)
            undecided |= {kind: found.undecided} if found.undecided else {}
            elements += found.elements
            if found.outcome != "ok":
                return self._check_failed(kind, found.text, worst)
        self.result.check = {
            "passed": True,
            "worst_over_bound": worst,
            "inputs": list(kinds),
            "elements": elements,
            "undecided": sum(undecided.values()),
        }
        found_text = self._agreement(worst, kernel.own_library)
        self.screen.line("check", f"{found_text} ({elements} elements on {len(kinds)} kinds of inputs)", "ok")
        for kind, count in undecided.items():
            text = f"{count} elements on {kind} inputs may overflow or go either way: no finite bound"
            self.screen.line("", text, "note")
        if not kernel.timed and kernel.reason and not self.options.time:
            self.screen.line("", kernel.reason, "note")
        return True

    def _agreement(self, worst: float | None, own_library: bool) -> str:
        from perfdojo.compiler.libraries import bits_are_fixed

        if bits_are_fixed(self.bound, self.options.fp, own_library):
            return "bit for bit the reference"
        if worst is None:
            return "every element within the derived bound"
        return "every element exact" if worst == 0 else f"worst error {worst:.2g} of the derived bound"

    def need_memory(self, each: int) -> None:
        """Refuse what surely exceeds this machine's memory, at `each` bytes for an element of an argument."""
        need = sum(prod(map(const_int, b.shape)) * (each + b.dtype.bytes) for b in self.bound.arguments)
        have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if need > have:
            raise PerfDojoError(
                f"running {self.bound.name} here needs at least {quantity(need, 'B')} of memory; "
                f"this machine has {quantity(have, 'B')}",
                hint="check it at smaller sizes (-D), or only emit it (-o)",
            )

    def _check_failed(self, kind: str, message: str, worst: float | None) -> bool:
        self.result.check = {"passed": False, "worst_over_bound": worst, "inputs": [kind], "message": message}
        self.result.fail(f"the check failed on {kind} inputs: {message}")
        self.screen.line("check", f"failed on {kind} inputs: {message}", "bad")
        return False

    def time(self, kernel: Kernel) -> bool:
        """Measure it; tell whether that went well."""
        return kernel.time(self)


def _first_of(notes: tuple[str, ...]) -> str:
    """The first note, and how many more there are."""
    more = len(notes) - 1
    return notes[0] + (f" (and {more} more: --emit lowered)" if more else "")


def short_command(command: str) -> str:
    """The compiler and its flags, without paths, files, warnings and reports."""
    words = command.split()
    if not any(w.startswith("-") for w in words):
        return command  # told in words
    left_out = ("-I", "-o", "-T", "-W", "-l", "-X")  # -X of nvcc, before a flag of another program
    flags = [w for w in words[1:] if w.startswith("-") and w != "-v" and not w.startswith(left_out)]
    return " ".join([Path(words[0]).name, *flags])


def _is_our_library(path: Path) -> bool:
    return path.is_file() and b"perfdojo_description" in path.read_bytes()
