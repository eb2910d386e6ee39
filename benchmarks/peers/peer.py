"""What the benchmark asks of a system: whether it is here, its version, and a call of one kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import ClassVar

from benchmarks.buffers import Array
from benchmarks.suite import Benchmark


class Unsupported(Exception):
    """The system has no way to do this kernel; the text is a short reason."""


@dataclass(frozen=True, slots=True)
class Task:
    """A kernel of the suite, and the buffers of it, which start at cache lines.

    `output` is filled with NaN; a system that can be given its output writes there.
    """

    benchmark: Benchmark
    inputs: Mapping[str, Array]
    output: Array


@dataclass(frozen=True, slots=True)
class Prepared:
    """A kernel ready to be timed.

    Attributes:
        call: runs it once.
        result: what the last call computed.
        seconds: runs it so often in a loop of its own and tells the seconds; None where Python calls it.
        note: what a reader of its time has to know, or "".
    """

    call: Callable[[], object]
    result: Callable[[], Array]
    seconds: Callable[[int], float] | None = None
    note: str = ""


class Peer(ABC):
    """A system in a process of its own.

    Attributes:
        modules: what must be importable.
        distribution: the package whose version is shown.
    """

    modules: ClassVar[tuple[str, ...]] = ()
    distribution: ClassVar[str] = ""

    @classmethod
    def available(cls) -> str:
        """Return "" when this interpreter can import it, or what is missing."""
        return next((m for m in cls.modules if find_spec(m) is None), "")

    def version(self) -> str:
        """Return its version and what it chose for this machine."""
        return version(self.distribution)

    @abstractmethod
    def prepare(self, task: Task, threads: int) -> Prepared:
        """Compile or plan a kernel.

        Raises:
            Unsupported: it cannot do this kernel.
        """


def returned(function: Callable[..., object], *arguments: object) -> tuple[Callable[[], None], list[object]]:
    """Return a call that keeps the last result in a list of one, for systems that allocate it themselves.

    The result before is freed first, so that its memory is there for the next one.
    """
    kept: list[object] = [None]

    def call() -> None:
        kept[0] = None
        kept[0] = function(*arguments)

    return call, kept
