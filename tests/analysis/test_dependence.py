"""Dependences, concurrency and private buffers: compared with the accesses of a run."""

from __future__ import annotations

import re

import pytest

from perfdojo.compiler.analysis.accesses import model
from perfdojo.compiler.analysis.dependence import (
    carried_by,
    carried_reductions,
    dependences,
    is_parallel,
    is_vectorizable,
    private_buffers,
)
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.verify import verify
from perfdojo.compiler.walk import scopes
from tests.verify.small_programs import small_program
from tests.verify.trace import Touch, Trace

Found = dict[tuple[str, str, str, str, str | None], list[tuple[int, int]]]


def program(*lines: str) -> Program:
    return bind(parse("\n".join(("kernel k", *lines)) + "\n", "k"))


def decided_by_form(seed: int) -> Program | None:
    """A random program that is right and hangs on no data, marks left out; None when it is another."""
    found = small_program(seed)
    assert found.source is not None
    header, body = found.source.text.split("tmp t0: i64[]\n")
    if re.search(r"\{\d\} \* \{\d\}|idx\[|free\[|flag\[|t0\[|\[[^]]*[a-z]\[|> 0\)", body):
        return None
    plain = bind(parse(header + "tmp t0: i64[]\n" + re.sub(r"@\w+", "", body), found.source.name))
    try:
        verify(plain)
    except PerfDojoError:
        return None
    return plain


def touches(found: Program) -> list[Touch]:
    run = Trace(explicit_starts(found), {})
    run.run()
    return run.touches


def enumerated(found: list[Touch]) -> Found:
    """All pairs of touches of one element as dependences with the range of their distances."""
    result: Found = {}
    for n, sink in enumerate(found):
        for source in found[:n]:
            if source.stored != sink.stored or source.how == sink.how == "read":
                continue
            if source.iteration == sink.iteration and source.statement == sink.statement:
                continue
            common = []
            for a, b in zip(source.iteration, sink.iteration, strict=False):
                if a[0] != b[0]:
                    break
                common.append((a[0], b[1] - a[1]))
            carrier = next((name for name, distance in common if distance), None)
            reads, writes = sink.how != "write", source.how != "read"
            kind = "flow" if writes and reads else "output" if writes else "anti"
            key = (source.statement, sink.statement, kind, sink.stored[0], carrier)
            old = result.get(key, [(d, d) for _, d in common])
            result[key] = [(min(o[0], d), max(o[1], d)) for o, (_, d) in zip(old, common, strict=True)]
    return result


def test_dependences_are_those_of_a_run() -> None:
    compared = 0
    for seed in range(400):
        found = decided_by_form(seed)
        if found is None:
            continue
        stated: Found = {}
        for d in dependences(found):
            key = (d.source, d.sink, d.kind, d.buffer, d.carrier)
            ranges = list(d.distance)
            old = stated.get(key, ranges)
            stated[key] = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(old, ranges, strict=True)]
        assert stated == enumerated(touches(found)), found.source
        compared += 1
        if compared == 15:
            return
    raise AssertionError(f"only {compared} programs to compare")


def test_scopes_that_may_run_concurrently_are_those_of_a_run() -> None:
    compared = 0
    for seed in range(80):
        found = decided_by_form(seed)
        if found is None:
            continue
        run = Trace(found, {})
        run.run()
        for scope in scopes(found):
            compared += 1
            shared, private = run.shared(scope.name), run.private(scope.name)
            reason = is_parallel(found, scope.name)
            assert (reason is None) == (shared <= private), (scope.name, reason, found.source)
            assert private_buffers(found, scope.name) == shared & private, (scope.name, found.source)
            in_lanes = run.shared(scope.name, vector=True)
            reason = is_vectorizable(found, scope.name)
            assert (reason is None) == (in_lanes <= private), (scope.name, reason, found.source)
            carried = {d.buffer for d in carried_by(found, scope.name)}
            assert carried == shared, (scope.name, found.source)
    assert compared > 15


SOFTMAX = program(
    "size B = 64", "size N = 512", "in x: f32[B, N]", "out y: f32[B, N]", "tmp m: f32[B] reuse(0)",
    "tmp e: f32[B, N] reuse(0)", "tmp a: f32[B] reuse(0)", "B N m[{0}] max= x[{0},{1}]",
    "| N e[{0},{1}] = exp(x[{0},{1}] - m[{0}])", "| | a[{0}] += e[{0},{1}]",
    "| N y[{0},{1}] = e[{0},{1}] / a[{0}]",
)  # fmt: skip


def test_rows_of_a_softmax_run_concurrently_with_copies_of_the_temporaries() -> None:
    assert is_parallel(SOFTMAX, "b") is None
    assert private_buffers(SOFTMAX, "b") == {"m", "e", "a"}


def test_reductions_of_a_softmax_run_in_lanes_but_not_concurrently() -> None:
    assert is_parallel(SOFTMAX, "n") == "iterations 0 and 1 both write m[*] (at b = 0)"
    assert [is_vectorizable(SOFTMAX, s) for s in ("n", "n_2", "n_3")] == [None, None, None]
    assert [carried_reductions(SOFTMAX, s) for s in ("b", "n", "n_2", "n_3")] == [
        ("m", "a"),
        ("m",),
        ("a",),
        (),
    ]


SUM = "N y[{0}] = {0} >= 1 ? y[{0}-1] + x[{0}] : x[0]"
REASONS = {
    "a recurrence": (SUM, "iteration 0 writes y[0] and iteration 1 reads it"),
    "a neighbour": ("(N-1) z[{0}] = z[{0}+1]", "iteration 0 reads z[1] and iteration 1 writes it"),
    "a folded index": ("N z[{0}//2] = x[{0}]", "iterations 0 and 1 both write z[0]"),
    "a scatter": ("N z[k[{0}]] = x[{0}]", "iterations 0 and 1 can both write z[0]"),
    "another sign": ("N z[0] += x[{0}]\n| z[0] *= x[{0}]", "iterations 0 and 1 both write z[0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_lanes_depend_through(name: str) -> None:
    line, reason = REASONS[name]
    header = ["size N = 64", "in x: f32[N]", "in k: i32[N] values(0, 64)", "out y: f32[N]", "inout z: f32[N]"]
    found = program(*header, line)
    first = next(iter(scopes(found))).name
    assert is_vectorizable(found, first) == is_parallel(found, first) == reason


def test_tiles_that_meet_no_other_are_found_by_form_alone() -> None:
    found = program(
        "in x: f32[4096]", "out y: f32[4096]", "64 4 16 y[{0}*64 + {1}*16 + {2}] = x[{2}*256 + {1}*64 + {0}]"
    )
    assert [is_parallel(found, s.name) for s in scopes(found)] == [None] * 3
    assert not model(found)._sets, "isl was asked"


def test_questions_about_a_small_kernel_do_not_ask_isl() -> None:
    for scope in ("b", "n_3"):
        is_parallel(SOFTMAX, scope)
        is_vectorizable(SOFTMAX, scope)
    assert not model(SOFTMAX)._sets, "isl was asked"
