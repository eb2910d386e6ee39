"""Cycles, listings and traces of kernels on the simulated cluster."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.toolchains.snitch.annotate import annotate
from perfdojo.toolchains.snitch.decode import FLOAT, INTEGER, custom
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.measure import measure
from perfdojo.toolchains.snitch.trace import trace_call
from perfdojo.toolchains.snitch.words import stalls_text
from tests.toolchains.snitch.kernels import ADD, COPY, STREAMED_ADD, N, in_c, made, vector, xy


def test_a_streamed_loop_keeps_the_fpu_busy(tools: Tools) -> None:
    m = measure(made(STREAMED_ADD, tools), xy())
    assert m.outcome == "ok", m.text
    assert m.fpu_issues == N
    assert m.instructions == 13
    assert len(m.calls) == 3
    assert m.calls[1] == m.calls[2] == m.cycles == m.window[1] - m.window[0]
    assert N < m.cycles < N + 30
    assert m.utilisation == N / m.cycles


def test_only_the_kernel_is_counted(tools: Tools) -> None:
    m = measure(made(ADD, tools), xy())
    assert m.fpu_issues == N
    assert m.stalls["fp_raw"] == 3 * N  # the store waits for the sum, whose latency is 4
    assert sum(line.count for line in m.lines) == m.instructions == 9 * N + 4


def test_failures_are_told(tools: Tools) -> None:
    m = measure(made(in_c("return *(volatile int *)0x40;", (vector("x", "in"),)), tools), {"x": xy()["x"]})
    assert m.outcome == "crash"
    assert m.utilisation is None
    assert measure(made(ADD, tools), {}).outcome == "not-runnable"


def test_listing(tools: Tools) -> None:
    built = made(STREAMED_ADD, tools)
    m = measure(built, xy())
    head, blank, columns, *body = annotate(built, m).splitlines()
    share = f"FPU utilisation {6400 / m.cycles:.1f} %"
    assert head == f"k: {m.cycles} cycles, {share}, 64 FPU issues, 13 instructions, 1 core"
    assert blank == ""
    assert columns.split() == ["address", "core", "cycles", "FP", "instruction", "waited", "for"]
    text = [line[38:].strip() for line in body[2:]]
    assert text[1:8] == [
        "scfgwi    t0, all.bound0",
        "li        t1, 8",
        "scfgwi    t1, all.stride0",
        "scfgwi    a0, ft0.rptr0",
        "scfgwi    a1, ft1.rptr0",
        "scfgwi    a2, ft2.wptr0",
        "csrs      ssr, 1",
    ]
    assert text[-5:] == [
        "frep.o    t0, 1 instr.",
        "fadd.d    ft2, ft0, ft1",
        "csrc      ssr, 1",
        "li        a0, 0",
        "ret",
    ]
    add = body[-4]
    assert add.split()[1:4] == ["1", "1", "64"]


def test_trace(tools: Tools) -> None:
    built = made(STREAMED_ADD, tools)
    m = measure(built, xy())
    found = json.loads(trace_call(built, xy(), m))
    names = {
        (e["pid"], e["tid"]): e["args"]["name"] for e in found["traceEvents"] if e["name"] == "thread_name"
    }
    assert {"integer core", "FPU", "FREP", "ft0", "ft1", "ft2"} == set(names.values())
    spans = [e for e in found["traceEvents"] if e["ph"] == "X"]
    assert all(0 <= e["ts"] < m.cycles for e in spans)
    sums = [e for e in spans if names[e["pid"], e["tid"]] == "FPU" and e["name"] == "fadd.d"]
    assert len(sums) == N
    streams = {names[e["pid"], e["tid"]]: e for e in spans if e["name"].endswith(f" {N}")}
    assert [streams[f"ft{k}"]["name"] for k in range(3)] == [f"read {N}", f"read {N}", f"write {N}"]
    assert all(N <= e["dur"] < N + 20 for e in streams.values())
    with pytest.raises(PerfDojoError, match="too big"):
        trace_call(built, xy(), replace(m, cycles=10**7))


def test_trace_of_a_transfer_and_a_barrier(tools: Tools) -> None:
    built = made(COPY, tools)
    m = measure(built, {"x": xy()["x"]})
    assert (m.outcome, m.cores) == ("ok", 1)
    events = json.loads(trace_call(built, {"x": xy()["x"]}, m))["traceEvents"]
    spans = sorted((e for e in events if e["ph"] == "X"), key=lambda e: -e["ts"])
    first = {(e["pid"], e["name"]): e for e in spans}
    transfer, barrier = first[8, "512 bytes"], first[0, "barrier"]
    assert 8 <= transfer["dur"] < 40  # 64 bytes a cycle
    assert barrier["ts"] < transfer["ts"] + transfer["dur"] <= barrier["ts"] + barrier["dur"]


def test_stalls_in_words() -> None:
    assert stalls_text({}) == ""
    assert stalls_text({"fp_raw": 3, "load": 1, "stream_empty": 5, "later": 2}) == (
        "integer core: load 1; FPU: stream empty 5, operand 3, later 2"
    )


CODE = {
    0x8B | 2 << 20 | 5 << 15 | 3 << 12 | 0b1001 << 8: "frep.o\tt0, 3 instr., stagger 3 of d3",
    0x2B | 2 << 12 | 10 << 15 | (28 << 5 | 2) << 20: "scfgwi\ta0, ft2.wptr0",
    0x2B | 1 << 12 | 1 << 15 | 6 << 7 | 7 << 20: "scfgr\tt1, t2",
    0x2B | 2 << 25 | 28 << 7 | 7 << 15: "dmcpyi\tt3, t2, 0",
    0x2B | 4 << 25 | 28 << 7 | 2 << 20: "dmstati\tt3, 2",
    0x33 | 0x41 << 25 | 10 << 7 | 11 << 15 | 12 << 20: "vfadd.s\tfa0, fa1, fa2",
    0x33 | 0x48 << 25 | 4 << 12 | 10 << 7 | 11 << 15 | 12 << 20: "vfmac.r.s\tfa0, fa1, fa2",
    0x33 | 0x47 << 25 | 10 << 7 | 11 << 15 | 28 << 20: "vfsum.s\tfa0, fa1",
    0x33 | 0x58 << 25 | 2 << 12 | 10 << 7 | 11 << 15 | 12 << 20: "vfcpka.h.s\tfa0, fa1, fa2",
    0x33 | 0x52 << 25 | 10 << 7 | 11 << 15 | 12 << 20: "vflt.s\ta0, fa1, fa2",
}


@pytest.mark.parametrize("word", CODE)
def test_custom_instructions_have_names(word: int) -> None:
    assert custom(word) == CODE[word]


def test_other_words_have_none() -> None:
    assert [custom(w) for w in (0, 0x00A50533, 0x0000000B, 0xFFFFFFFF)] == [None] * 4
    assert (INTEGER[0], INTEGER[8], INTEGER[18], INTEGER[31]) == ("zero", "s0", "s2", "t6")
    assert (FLOAT[8], FLOAT[10], FLOAT[18], FLOAT[31]) == ("fs0", "fa0", "fs2", "ft11")
