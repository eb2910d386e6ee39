"""What is tuned: a kernel at its sizes, for a target, on a machine; equal keys share their trials."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int


@dataclass(frozen=True)
class Problem:
    """One thing to tune. No slots, so that the key can be kept.

    Attributes:
        bound: the kernel, bound and verified.
        setting: target and floating-point level.
        threads: threads of @parallel scopes; of a Snitch cluster, its cores.
        machine: facts that decide how fast code is: processor, compiler, flags.
        unit: of a cost: s, or cycles.
    """

    bound: Program
    setting: Setting
    threads: int = 1
    machine: tuple[tuple[str, str], ...] = ()
    unit: str = "s"
    text: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", render(self.bound))

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes by name."""
        return {s.name: const_int(s.value) for s in self.bound.sizes}

    @property
    def target(self) -> str:
        """The target with what differs from its default machine."""
        return self.setting.target.spelled

    @property
    def title(self) -> str:
        """What it is, for people, on one line; not the machine."""
        return " · ".join(t for t in (self.bound.name, self.target, self.setting.fp, self.sizes_text) if t)

    @property
    def sizes_text(self) -> str:
        """The sizes as options give them; "" where there are none."""
        return " ".join(f"{n}={v}" for n, v in self.sizes.items())

    @cached_property
    def key(self) -> str:
        """A hash of all of it: trials of one key can be compared."""
        return key_of(self.text, self.target, self.setting.fp, self.threads, self.machine, self.unit)


def key_of(
    text: str, target: str, fp: str, threads: int, machine: tuple[tuple[str, ...], ...], unit: str
) -> str:
    """Return the key of a problem: a hash of all that decides whether trials can be compared."""
    return hashlib.sha256(json.dumps([text, target, fp, threads, machine, unit]).encode()).hexdigest()


def recorded_problem(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row of `Records.problems`.

    Raises:
        PerfDojoError: this version does not know its kernel or target any more.
    """
    bound = bind(parse(row["text"], f"{row['kernel']}.ir"), {})
    verify(bound)
    machine = tuple((str(k), str(v)) for k, v in row["machine"])
    return Problem(bound, Setting(get_target(row["target"]), row["fp"]), row["threads"], machine, row["unit"])
