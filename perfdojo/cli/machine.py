"""What builds, runs and times the source of a target: chosen here, by the target's name, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from perfdojo.cli.options import Options

if TYPE_CHECKING:
    from perfdojo.cli.job import Job
    from perfdojo.compiler.emitted import EmittedSource
    from perfdojo.compiler.ir import Program
    from perfdojo.toolchains.results import Failure, RunResult


@dataclass(frozen=True, slots=True)
class Checked:
    """How a kernel did on one set of inputs.

    Attributes:
        outcome: ok, not-runnable, or what went wrong (`perfdojo.toolchains.results.Outcome`).
        text: one sentence when it is not ok.
        share: largest error as a part of the derived bound; None where it is only known to be at most 1.
        undecided: elements that have no finite bound.
        elements: of all outputs.
    """

    outcome: str
    text: str = ""
    share: float | None = 0.0
    undecided: int = 0
    elements: int = 0


class Kernel(Protocol):
    """A kernel that compiled."""

    @property
    def command(self) -> str:
        """The command of the compiler."""

    @property
    def timed(self) -> bool:
        """Whether times of it mean anything."""

    @property
    def reason(self) -> str:
        """Why not, one sentence, or ""."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how it runs that the user should know."""

    @property
    def own_library(self) -> bool:
        """Whether its f64 functions are not those of this machine's C library."""

    @property
    def long(self) -> int:
        """Executions of statements above which a run takes so long that few kinds of inputs are tried."""

    def check(self, job: Job, inputs: Mapping[str, Any]) -> Checked:
        """Run it and compare what it computes with the reference."""

    def time(self, job: Job) -> bool:
        """Measure it, leave the figures in the result and on the screen; tell whether that went well."""


class Machine(Protocol):
    """What makes kernels of emitted source."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the folders that it uses."""

    def build(self, emitted: EmittedSource) -> Kernel | Failure:
        """Compile it."""

    def assembly(self, emitted: EmittedSource) -> str | Failure:
        """Return the assembly that the compiler makes of it."""

    def shared(self, emitted: EmittedSource, path: Path) -> Path | Failure:
        """Build a library for `perfdojo.load`."""


def choose_machine(o: Options, target: str) -> Machine:
    """Return what builds and runs source for `target`.

    Raises:
        MissingTool: a program that it needs is not installed.
        PerfDojoError: the simulator that was asked for is not there.
    """
    if target == "snitch":
        from perfdojo.cli.snitch import SnitchMachine

        return SnitchMachine.find(o)
    if target == "cuda":
        from perfdojo.cli.cuda import CudaMachine

        return CudaMachine.find()
    from perfdojo.cli.host import HostMachine

    return HostMachine.find(o, target)


def failed(ran: RunResult) -> Checked:
    """Return what a run that brought no outputs comes to."""
    return Checked(ran.outcome, ran.text if ran.outcome == "not-runnable" else f"{ran.outcome}: {ran.text}")


def judge(
    bound: Program,
    fp: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    own_library: bool = False,
    tensor: str = "",
) -> Checked:
    """Compare the outputs of a bound program with the reference: bit by bit at strict, else with bounds.

    `tensor` says what multiplies and adds in one in it (`EmittedSource`). f64 functions of an implementation
    with a library of its own are judged by bounds at strict, too.
    """
    from perfdojo.compiler.interpret import compare, first_difference, interpret, reference
    from perfdojo.compiler.libraries import bits_are_fixed

    elements = sum(v.size for v in outputs.values())
    if bits_are_fixed(bound, fp, own_library):
        wrong = first_difference(outputs, interpret(bound, inputs))
        return Checked("wrong-result" if wrong else "ok", wrong, 0.0, 0, elements)
    verdict = compare(outputs, reference(bound, inputs, fp, tensor))
    outcome, text = ("ok", "") if verdict.passed else ("wrong-result", verdict.message)
    return Checked(outcome, text, verdict.worst_over_bound, verdict.undecided_count, elements)
