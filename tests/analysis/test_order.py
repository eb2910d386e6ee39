"""The order of accesses: verdicts compared with runs of programs that were really moved."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pytest

from perfdojo.compiler.analysis import order, reversal, systems
from perfdojo.compiler.analysis.accesses import Access, Model, model
from perfdojo.compiler.analysis.affine import Affine, Forms
from perfdojo.compiler.analysis.order import (
    first_writer_becomes_reduction,
    least_shift,
    reversed_by_fission,
    reversed_by_interchange,
    reversed_by_join,
    reversed_by_swap,
)
from perfdojo.compiler.analysis.ranges import Range
from perfdojo.compiler.analysis.reversal import Clash
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Expr, Node, Program, Scope
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.text.parse import parse
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


KINDS = ("interchange", "fission", "swap", "join", "join, shifted")


def test_verdicts_are_those_of_moved_programs() -> None:
    counts = compared(range(60)).counts
    for kind in KINDS:
        assert min(counts[kind, "legal"], counts[kind, "illegal"]) >= 5, kind
    assert counts["one less", "illegal"] >= 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_verdicts_on_thousands_of_programs(part: int) -> None:
    """Needless refusals, all where data decide: TABLE"""
    comparison = compared(range(1000 + 500 * part, 1500 + 500 * part))
    print(comparison.table())
    refused = sum(n for (_, verdict), n in comparison.counts.items() if verdict == "illegal")
    needless = sum(n for (_, verdict), n in comparison.counts.items() if verdict == "needless")
    assert needless < 0.05 * refused


# ---------------------------------------------------------------- the comparison can fail


def _flipped(depth: int, windows: tuple[Range, ...]) -> reversal.Move:
    return reversal.Move(depth, tuple((-high, -low) for low, high in windows))


def _first_window(depth: int, windows: tuple[Range, ...]) -> reversal.Move:
    return reversal.Move(depth, (*windows[:1], *((-high, -low) for low, high in windows[1:])))


def _narrower(depth: int, windows: tuple[Range, ...]) -> reversal.Move:
    return reversal.Move(depth, tuple((low + (low > 0), high - (high < 0)) for low, high in windows))


def _wider(depth: int, windows: tuple[Range, ...]) -> reversal.Move:
    return reversal.Move(depth, tuple((min(low, 0), max(high, 0)) for low, high in windows))


def _all_dims(known: Model, buffer: str) -> tuple[int, ...]:
    return tuple(range(len(known.buffers[buffer].shape)))


def _no_pairs_of_writes(*args: object) -> Iterator[tuple[Access, Access]]:
    return ((x, y) for x, y in _conflicting(*args) if not (x.kind == y.kind == "write"))  # type: ignore[arg-type]


def _every_reduction(
    known: Model, xs: list[Access], ys: list[Access], _: bool
) -> Iterator[tuple[Access, Access]]:
    return _conflicting(known, xs, ys, True)


def _wrong_side(forms: Forms, expr: Expr, value: bool) -> tuple[Affine, bool] | None:
    return _comparison(forms, expr, not value)


_conflicting, _comparison = order._conflicting, systems._comparison
FAULTS: dict[str, tuple[object, str, object]] = {
    "distances have the other sign": (order, "Move", _flipped),
    "one distance of an interchange has the other sign": (order, "Move", _first_window),
    "distance 1 is left out": (order, "Move", _narrower),
    "distance 0 counts": (order, "Move", _wider),
    "storage under reuse is taken for separate": (Model, "stored", _all_dims),
    "two writes are no conflict": (order, "_conflicting", _no_pairs_of_writes),
    "float reductions may always change their order": (order, "_conflicting", _every_reduction),
    "guards are taken for their opposite": (systems, "_comparison", _wrong_side),
}

SIGNS = {"distance 0 counts": "needless: ", "distances have the other sign": "unsafe: |needless: "}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_comparison_finds(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrong = FAULTS[fault]
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError, match=SIGNS.get(fault, "unsafe: ")):
        compared(range(36, 200), witnesses=False)


# ---------------------------------------------------------------- single programs


def program(*lines: str) -> Program:
    header = (
        "kernel k", "in x: f32[64]", "in g: i64[8] values(0, 8)", "inout a: f32[64]", "inout b: f32[64]",
        "inout c: f32[8, 8]", "inout s: f32[]", "inout n: i64[]", "tmp t: f32[8, 8] reuse(0)",
    )  # fmt: skip
    return bind(parse("\n".join((*header, *lines)) + "\n", "k"))


def test_a_clash_says_who_touches_what_when() -> None:
    transposed = program("i:8 j:8 c[{0},{1}] = c[{1},{0}] + 1")
    assert str(reversed_by_interchange(transposed, "i")) == (
        "c reads c[1,0] at i = 0, j = 1 and c writes it at i = 1, j = 0; they would change places"
    )
    rows = program("k:4 i:8 P: t[{0},{1}] = x[{1}]", "| | Q: c[{0},{1}] = t[{0},{1}]")
    assert str(reversed_by_fission(rows, "i", 1)) == "None"
    assert str(reversed_by_swap(rows, "P", "Q")) == (
        "P writes t[*,0] and Q reads it (at k = 0, i = 0); they would change places"
    )
    gathers = program("i:8 P: a[g[{0}]] = x[{0}]", "| Q: b[{0}] = a[{0}]")
    assert str(reversed_by_fission(gathers, "i", 1)) == (
        "Q can read a[0] at i = 0 and P can write it at i = 1; they would change places"
    )


def test_the_least_shift_is_the_largest_distance_ahead() -> None:
    ahead = program("p:16 a[{0}] = x[{0}]", "q:14 b[{0}] = a[{0} + 2]")
    assert least_shift(ahead, "p", "q") == 2
    assert reversed_by_join(ahead, "p", "q", 2) is None
    assert str(reversed_by_join(ahead, "p", "q", 1)) == (
        "a writes a[2] at p = 2 and b reads it at q = 0; they would change places"
    )
    behind = program("p:16 a[{0}] = x[{0}]", "q:13 b[{0}] = {0} >= 3 ? a[{0} - 3] : 0")
    assert [least_shift(behind, "p", "q", lowest=n) for n in (0, -2, -9)] == [0, -2, -3]
    whole = program("p:16 s[] += x[{0}]", "q:16 a[{0}] = x[{0}] / s[]")
    assert least_shift(whole, "p", "q") == 15
    strided = program("p:32 a[{0}] = x[{0}]", "q:16 b[{0}] = a[2*{0} + 1]")
    assert least_shift(strided, "p", "q") == 16
    apart = program("p:16 a[{0}] = x[{0}]", "q:16 b[{0}] = x[{0}]")
    assert [least_shift(apart, "p", "q", lowest=n) for n in (0, -16)] == [0, -16]


def test_reductions_change_their_order_where_they_may() -> None:
    found = program("i:8 j:8 s[] += c[{0},{1}]")
    assert reversed_by_interchange(found, "i") is not None
    assert reversed_by_interchange(found, "i", reductions=True) is None
    assert reversed_by_interchange(program("i:8 j:8 n[] += {0} * {1}"), "i") is None
    assert (
        reversed_by_interchange(program("i:8 j:8 s[] += s[] * c[{0},{1}]"), "i", reductions=True) is not None
    )
    two = program("i:8 P: s[] += x[{0}]", "| Q: s[] *= x[{0}]")
    assert reversed_by_fission(two, "i", 1, reductions=True) is not None


def test_a_scope_and_a_statement_change_places() -> None:
    found = program("P: s[] = x[0]", "i:8 a[{0}] = s[]", "b[0] = x[1]")
    assert reversed_by_swap(found, "P", "i") is not None
    assert reversed_by_swap(found, "i", "b") is None


def test_common_forms_are_decided_without_isl() -> None:
    found = program(
        "io:2 jo:2 ii:4 ji:4 t[{0}*4+{2},{1}*4+{3}] = x[{2}]",
        "| | i2:4 j2:4 c[{0}*4+{2},{1}*4+{3}] = t[{0}*4+{2},{1}*4+{3}]",
        "m:64 c[{0}//8,{0}%8] = a[{0}]",
        "r:8 q:8 b[{0}*8+{1}] = c[{0},{1}] if {0} <= {1}",
    )
    assert [reversed_by_interchange(found, s) is None for s in ("ii", "i2", "r")] == [True] * 3
    assert reversed_by_fission(found, "jo", 1) is None
    assert reversed_by_join(found, "ii", "i2") is not None
    assert least_shift(found, "m", "r") == 56
    assert not model(found)._sets, "isl was asked"


def test_a_reduction_becomes_the_first_writer_of_its_buffer() -> None:
    head = "kernel k\nin x: f32[8]\nout y: f32[8]\ninout z: f32[8]\n"
    found = bind(
        parse(head + "A: y[0] = 0\ni:7 B: y[{0} + 1] = 0\nj:1 C: y[7] += x[0]\nz[0] = 0\nz[0] += 1\n", "k")
    )
    a, i, j, z, z2 = found.body
    assert first_writer_becomes_reduction(found, (j,), (i,)) is None
    assert first_writer_becomes_reduction(found, (j,), (a, i)) == "C"
    assert first_writer_becomes_reduction(found, (i, j), (a,)) is None
    assert first_writer_becomes_reduction(found, (z2,), (z,)) is None
