"""Every question about the order of accesses, compared with runs of programs that were really moved."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.order import (
    least_shift,
    reversed_by_fission,
    reversed_by_interchange,
    reversed_by_join,
    reversed_by_swap,
)
from perfdojo.compiler.analysis.reversal import Clash
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Node, Program, Scope
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import const_int, scopes
from tests.analysis.moves import (
    Data,
    Moved,
    Run,
    Touched,
    fissioned,
    interchanged,
    joined,
    swapped,
    touched,
)
from tests.analysis.nests import nests
from tests.random_programs.generate import generate
from tests.verify.small_programs import random_data, small_program

MOST_EXECUTIONS = 120
"""Programs that execute more statements are left out: every moved form of a program is run."""


def bodies(program: Program) -> list[tuple[Node, ...]]:
    return [program.body, *(s.body for s in scopes(program))]


def executions(body: tuple[Node, ...]) -> int:
    return sum(const_int(n.extent) * executions(n.body) if isinstance(n, Scope) else 1 for n in body)


@dataclass
class Comparison:
    """Asks every question about programs; `counts` holds (question, verdict), `needless` the refusals."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    commute: bool = False
    witnesses: bool = True
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    def ask(self, program: Program) -> None:
        self.program = program
        if executions(program.body) > MOST_EXECUTIONS:
            return
        self.before = [Run(data, touched(program, data), self.may_commute) for data in self.data()]
        self.decided = len(self.before) == 1
        for scope in scopes(program):
            if len(scope.body) == 1 and isinstance(scope.body[0], Scope):
                found = reversed_by_interchange(program, scope.name, self.commute)
                self.compare("interchange", found, interchanged(program, scope.name))
            for cut in range(1, len(scope.body)):
                found = reversed_by_fission(program, scope.name, cut, self.commute)
                self.compare("fission", found, fissioned(program, scope.name, cut))
        for body in bodies(program):
            for first, second in itertools.pairwise(body):
                found = reversed_by_swap(program, first.name, second.name, self.commute)
                self.compare("swap", found, swapped(program, first, second))
                if isinstance(first, Scope) and isinstance(second, Scope):
                    self.joins(first, second)

    def joins(self, first: Scope, second: Scope) -> None:
        names = first.name, second.name
        for shift in (0, self.rng.choice((-2, -1, 1, 2))):
            found = reversed_by_join(self.program, *names, shift, self.commute)
            kind = "join" if shift == 0 else "join, shifted"
            self.compare(kind, found, joined(self.program, *names, shift))
        lowest = self.rng.choice((0, 0, 0, 1, -const_int(second.extent)))
        least = least_shift(self.program, *names, self.commute, lowest)
        assert lowest <= least <= max(lowest, const_int(first.extent) - 1)
        self.compare("least shift", None, joined(self.program, *names, least))
        if least > lowest:
            found = reversed_by_join(self.program, *names, least - 1, self.commute)
            assert found is not None, self.told("least shift")
            self.compare("one less", found, joined(self.program, *names, least - 1))

    def data(self) -> Iterator[Data]:
        """Elements of the arguments: once where they decide nothing, else some."""
        hangs_on_data = any(
            not model(self.program).sets.is_certain(a) for g in model(self.program).accesses for a in g
        )
        for _ in range(3 if hangs_on_data else 1):
            yield random_data(self.program, self.rng)

    def compare(self, kind: str, found: Clash | None, moved: Moved) -> None:
        program, back = moved
        runs = [run.reversed(touched(program, run.data, back)) for run in self.before]
        changed = any(run is None or run for run in runs)
        assert found is not None or not changed, f"unsafe: {self.told(kind)}"
        verdict = "legal" if found is None else "illegal"
        self.counts[kind, verdict] += 1
        if found is None:
            return
        if found.certain:
            assert changed, f"needless: {self.told(kind)}\n{found}"
            for run in runs if self.witnesses else ():
                assert run is None or witnessed(found, run), f"no such pair: {self.told(kind)}\n{found}"
        elif not changed:
            self.counts[kind, "needless"] += 1
            assert not self.decided, f"needless: {self.told(kind)}"

    def may_commute(self, buffer: str) -> bool:
        return self.commute or not self.program.buffer(buffer).dtype.is_float

    def told(self, kind: str) -> str:
        from perfdojo.compiler.text.render import render

        return f"{kind}, reductions {self.commute}\n{render(self.program)}"

    def table(self) -> str:
        kinds = dict.fromkeys(kind for kind, _ in self.counts)
        lines = [f"{'':14} {'legal':>7} {'illegal':>7} {'needless':>8}"]
        lines += [
            f"{k:14} {self.counts[k, 'legal']:7} {self.counts[k, 'illegal']:7} {self.counts[k, 'needless']:8}"
            for k in kinds
        ]
        return "\n".join(lines)


def witnessed(found: Clash, run: list[tuple[Touched, Touched]]) -> bool:
    """The two accesses of a clash are among the pairs that change places in a run."""
    assert found.at is not None
    assert found.then is not None
    at, then = (tuple(sorted(i.items())) for i in (found.at, found.then))
    names = found.first.statement.name, found.second.statement.name
    return any(
        (x.statement, x.at, y.statement, y.at) == (names[0], at, names[1], then)
        and (found.first.kind == "read", found.second.kind == "read") == (x.how == "read", y.how == "read")
        and re.sub(r"\*,?|,\*", "", found.element) == f"{x.stored[0]}[{','.join(map(str, x.stored[1]))}]"
        for x, y in run
    )


def made(seed: int) -> Program | None:
    """A program of any of the three generators; None where that makes a wrong one."""
    if seed % 4:
        return nests(seed)
    if seed % 8 == 0:
        return explicit_starts(bind(generate(seed)))
    found = small_program(seed)
    try:
        verify(found)
    except PerfDojoError:
        return None
    return explicit_starts(found)


def compared(seeds: Iterable[int], witnesses: bool = True) -> Comparison:
    comparison = Comparison(witnesses=witnesses)
    for seed in seeds:
        program = made(seed)
        if program is not None:
            comparison.commute = seed % 3 == 0
            comparison.ask(program)
    return comparison
