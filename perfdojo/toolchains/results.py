"""What building, running and measuring return: outcomes with a name, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from perfdojo.compiler.diagnostics import PerfDojoError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Outcome = Literal[
    "ok",
    "compile-error",
    "crash",
    "timeout",
    "out-of-memory",
    "memory-overwrite",
    "out-of-bounds",
    "misaligned",
    "uninitialised-read",
    "race",
    "deadlock",
    "launch-refused",
    "memory-leak",
    "wrong-result",
    "not-runnable",
]


class MissingTool(PerfDojoError):
    """A program that the toolchain needs is not installed; the command line exits with status 3.

    Attributes:
        tool: the program, or what else is missing.
        package: Debian package that holds it, or what else `hint` says brings it.
    """

    def __init__(self, tool: str, package: str, hint: str = "") -> None:
        super().__init__(
            f"{tool} {'are' if ' and ' in tool else 'is'} not installed or not in PATH",
            hint=hint or f"on Debian and Ubuntu: apt-get install {package}",
        )
        self.tool, self.package = tool, package


class MissingExtra(MissingTool):
    """A Python package that one of perfdojo's extras brings is not installed."""

    def __init__(self, package: str, extra: str, what: str) -> None:
        super().__init__(package, f"perfdojo[{extra}]", f"pip install 'perfdojo[{extra}]'")
        self.message = f"{what} with {package}, which is not installed: the extra '{extra}' brings it"


@dataclass(frozen=True, slots=True)
class Failure:
    """A build that did not succeed.

    Attributes:
        outcome: compile-error, timeout (of the compiler) or out-of-memory.
        text: one sentence.
        folder: holds the source, the command and the compiler's whole message.
        lines: the first lines of the message that name an error.
    """

    outcome: Outcome
    text: str
    folder: Path
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunResult:
    """One execution on given inputs.

    Attributes:
        text: one sentence on what happened, "" when outcome is ok.
        outputs: the `out` and `inout` arguments by name, in their declared shapes; empty unless ok.
        nans: number of NaN in each float output that has any.
        seconds: wall time of one call.
    """

    outcome: Outcome
    text: str = ""
    outputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    nans: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """Times of one kernel.

    Attributes:
        text: one sentence on why there are no times, "" when outcome is ok.
        samples_s: seconds of one call, each the mean over `repeat` calls in a row, in order of time.
        median_s, min_s: of the samples.
        spread: distance of the quartiles as a part of the median.
        interval_s: 95 % confidence interval of the median by order statistics; None below 8 samples.
        threads, cache, repeat: how it was measured; cache is hot or cold.
        cpus: the processors that it was pinned to.
        notes: what may have disturbed it.
    """

    outcome: Outcome
    text: str = ""
    samples_s: tuple[float, ...] = ()
    median_s: float = 0.0
    min_s: float = 0.0
    spread: float = 0.0
    interval_s: tuple[float, float] | None = None
    threads: int = 1
    cache: str = "hot"
    repeat: int = 1
    cpus: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
