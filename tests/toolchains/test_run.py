"""Running a kernel: right results come back, and every way to go wrong has its name."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from perfdojo.compiler.emitted import Argument
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.host import Built, assembly, build, measure, run
from perfdojo.toolchains.results import Failure, RunResult
from tests.toolchains.kernels import ADD, N, kernel, loop, ramp, vector

Ran = Callable[..., RunResult]


def test_outputs_come_back(ran: Ran) -> None:
    result = ran(ADD)
    assert (result.outcome, result.text, result.nans) == ("ok", "", {})
    assert np.array_equal(result.outputs["d"], np.arange(N, dtype=np.float32) + 1)
    assert 0 < result.seconds < 1


def test_our_flags_give_no_warning(host: Host) -> None:
    built = build(ADD, host)
    assert isinstance(built, Built)
    assert built.warnings == ""
    assert built.timed
    assert "-O3" in built.command
    assert "-ffp-contract=off" in built.command


def test_every_type_passes_unchanged(ran: Ran) -> None:
    samples = {
        "f64": np.array([1.5, -np.inf, 5e-324]),
        "f32": np.array([1.5, np.inf, 1e-45], np.float32),
        "f16": np.array([1.5, -0.0, 65504], np.float16),
        "bf16": np.array([1.5, -2, 3e38], ml_dtypes.bfloat16),
        "i64": np.array([1, -(2**63), 2**63 - 1]),
        "i32": np.array([1, -(2**31), 2**31 - 1], np.int32),
        "i16": np.array([1, -(2**15), 2**15 - 1], np.int16),
        "i8": np.array([1, -128, 127], np.int8),
        "u8": np.array([1, 0, 255], np.uint8),
        "bool": np.array([True, False, True]),
    }
    arguments = tuple(
        a for t in samples for a in (vector(f"s_{t}", "in", t, 3), vector(f"d_{t}", "out", t, 3))
    )
    body = " ".join(loop(f"d_{t}[i] = s_{t}[i];", 3) for t in samples)
    result = ran(kernel(body, arguments), {f"s_{t}": v for t, v in samples.items()})
    assert result.outcome == "ok", result.text
    for t, value in samples.items():
        out = result.outputs[f"d_{t}"]
        assert out.dtype == value.dtype
        assert out.tobytes() == value.tobytes(), t


def test_inout_starts_with_its_input(ran: Ran) -> None:
    result = ran(
        kernel(loop("d[i] += s[i];"), (vector("s", "in"), vector("d", "inout"))), {**ramp(), "d": ramp()["s"]}
    )
    assert np.array_equal(result.outputs["d"], 2 * ramp()["s"])


def test_layouts_are_honoured(ran: Ran) -> None:
    """Columns first, two unused elements behind each column."""
    s = Argument("s", "in", "i32", (3, 4), (1, 5), 20)
    d = Argument("d", "out", "i32", (3, 4), (6, 1), 18)
    body = "for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) d[6*i + j] = s[i + 5*j];"
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert np.array_equal(ran(kernel(body, (s, d)), {"s": x}).outputs["d"], x)
    result = ran(kernel(body + " d[5] = 0;", (s, d)), {"s": x})
    assert result.outcome == "memory-overwrite"
    assert result.text == "padding of d was written, at element 5 of the buffer"


def test_nan_in_outputs_is_counted(ran: Ran) -> None:
    result = ran(kernel(loop("d[i] = i < 3 ? NAN : s[i];")))
    assert result.outcome == "ok"
    assert result.nans == {"d": 3}


WRONG = {
    "last element not written": (
        loop("d[i] = s[i];", N - 1),
        "wrong-result",
        "1 of 1000 elements of d were not written, the first is [999]",
    ),
    "one element too many": (
        loop("d[i] = s[i] + 1;", N + 1),
        "memory-overwrite",
        "d has 4000 bytes, but its byte 4000 was written",
    ),
    "far behind the end": (
        loop("d[i] = 1;", 5000) + " d[0] = s[0];",
        "memory-overwrite",
        "SIGSEGV: d has 4000 bytes, but its byte",
    ),
    "before the start": (
        loop("d[i] = s[i];") + " d[-1] += 1;",
        "memory-overwrite",
        "byte -1 of d, before its start, was written",
    ),
    "input written": (
        loop("((float *)s)[i] = d[i] = 1;"),
        "memory-overwrite",
        "SIGSEGV: s is an input, but its byte",
    ),
    "input read behind its end": (
        loop("d[i] = s[i + 1];"),
        "crash",
        "SIGSEGV: s has 4000 bytes, but its byte 4000 was read",
    ),
    "wild write": (
        "d[0] = s[0]; *(volatile int *)8 = 1;",
        "crash",
        "SIGSEGV: address 0x8, outside of all arguments, was written",
    ),
    "abort": ("d[0] = s[0]; abort();", "crash", "SIGABRT: it gave up"),
    "illegal instruction": (
        "d[0] = s[0]; __builtin_trap();",
        "crash",
        "SIGILL: an instruction that this CPU does not have",
    ),
    "exit": ("d[0] = s[0]; exit(4);", "crash", "the kernel ended the process: exit status 4"),
    "exit with 0": ("d[0] = s[0]; exit(0);", "crash", "the kernel ended the process: exit status 0"),
    "stack overflow": (
        "volatile char z[100000000]; z[0] = 1; d[0] = s[0] + z[0];",
        "crash",
        "SIGSEGV: the stack is full",
    ),
    "status 1": (
        "d[0] = s[0]; return 1;",
        "out-of-memory",
        "the kernel could not allocate a temporary",
    ),
    "huge allocation": (
        "float *volatile p = malloc((size_t)1 << 46); if (!p) return 1; d[0] = p[0] + s[0];",
        "out-of-memory",
        "the kernel could not allocate a temporary",
    ),
}


@pytest.mark.parametrize(
    ("body", "outcome", "text"),
    WRONG.values(),
    ids=WRONG.keys(),
)
def test_what_goes_wrong_has_a_name(ran: Ran, body: str, outcome: str, text: str) -> None:
    result = ran(kernel(body))
    assert (result.outcome, result.text[: len(text)]) == (outcome, text)
    assert result.outputs == {}


def test_a_hang_is_stopped(ran: Ran) -> None:
    result = ran(kernel("d[0] = s[0]; for (volatile int i = 0;; i++) {}"), timeout_s=0.5)
    assert (result.outcome, result.text) == ("timeout", "the kernel was stopped: it ran longer than 0.5 s")


def test_more_alignment_than_stated_is_found(ran: Ran) -> None:
    """An aligned load of 16 bytes at d - 4 only works where d is not aligned, so state 4 and use 16."""
    body = loop("d[i] = s[i];") + ' __asm__ volatile("movaps (%0), %%xmm0" : : "r"(d) : "xmm0");'
    odd = (vector("s", "in"), vector("d", "out", n=N + 1))
    body += " d[1000] = 0;"
    assert ran(kernel(body, odd)).text.startswith("SIGSEGV: an address was not aligned")
    assert ran(replace(kernel(body, odd), alignment=64)).outcome == "ok"


def test_memory_from_malloc_is_not_zero(ran: Ran) -> None:
    body = loop("d[i] = s[i];") + " float *volatile p = malloc(4000); d[7] = p[500]; free(p);"
    assert ran(kernel(body)).outputs["d"][7] != 0


def test_a_bool_that_is_neither_0_nor_1_is_wrong(ran: Ran) -> None:
    arguments = (vector("s", "in"), vector("d", "out", "bool"))
    result = ran(kernel(loop("d[i] = s[i] > 3 ? 2 : 0;"), arguments))
    assert (result.outcome, result.text) == ("wrong-result", "d is bool, but a byte of it is 2, not 0 or 1")


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({}, "argument 's' is missing"),
        ({"s": [1.0]}, "argument 's' is a list, not a NumPy array"),
        ({"s": np.zeros(N)}, "argument 's' has dtype float64, but the kernel takes float32 (f32)"),
        ({"s": np.zeros(3, np.float32)}, "argument 's' has shape (3,), but the kernel takes (1000,)"),
    ],
)
def test_inputs_that_do_not_fit_are_not_run(ran: Ran, inputs: dict[str, object], text: str) -> None:
    result = ran(ADD, inputs)
    assert (result.outcome, result.text) == ("not-runnable", text)


def test_openmp_runs_with_the_threads_asked_for(host: Host) -> None:
    threads = "omp_get_thread_num() == omp_get_num_threads() - 1"
    body = f"\n#pragma omp parallel\n    if ({threads}) d[0] = s[0] + omp_get_num_threads();"
    arguments = (vector("s", "in", n=1), vector("d", "out", n=1))
    built = build(kernel(body, arguments, ("omp.h",), flags=("-fopenmp",)), host)
    assert isinstance(built, Built), built
    for threads_wanted in (1, 3):
        result = run(built, ramp(1), threads=threads_wanted)
        assert result.outputs["d"].tolist() == [threads_wanted]


def test_a_kernel_starts_no_process(ran: Ran) -> None:
    """A kernel that does so again and again would take all that the machine has before it is stopped."""
    body = loop("d[i] = s[i];") + " for (int k = 0; k < 3; k++) {"
    body += ' pid_t p = k ? k > 1 ? (pid_t)syscall(SYS_clone, 17, 0, 0, 0, 0) : -system("true") : fork();'
    body += " if (p == 0) _exit(0); d[k] = p < 0 ? -1 : 1; }"
    result = ran(
        kernel(body, includes=("sys/syscall.h", "sys/types.h", "unistd.h"), flags=("-D_GNU_SOURCE",))
    )
    assert result.outputs["d"][:4].tolist() == [-1, -1, -1, 3], result.text


CONNECTS = """
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(%d)};
    a.sin_addr.s_addr = htonl(0x7f000001);
    char ring[120] = {0};
    int one = socket(AF_INET, SOCK_STREAM, 0);
    d[0] = one < 0 ? -errno : connect(one, (struct sockaddr *)&a, sizeof a);
    d[1] = socket(AF_UNIX, SOCK_DGRAM, 0) < 0 ? -errno : 0;
    d[2] = syscall(425, 1, ring) < 0 ? -errno : 0;
    d[3] = kill(getppid(), 0) ? -errno : 0;
    d[4] = kill(getpid(), 0) ? -errno : 0;
    d[5] = syscall(0x40000000 + 41, AF_INET, SOCK_STREAM, 0) < 0 ? -errno : 0;
"""


def test_a_kernel_has_no_network_and_no_power_over_others(ran: Ran) -> None:
    heads = ("errno.h", "netinet/in.h", "signal.h", "sys/socket.h", "sys/syscall.h", "unistd.h")
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        there.listen()
        there.settimeout(0.2)
        body = loop("d[i] = s[i];") + CONNECTS % there.getsockname()[1]
        result = ran(kernel(body, includes=heads, flags=("-D_GNU_SOURCE",)))
        told = result.outputs["d"][:6].tolist()
        no = -errno.EPERM
        assert told[:5] == [no, no, no, no, 0], result.text
        assert told[5] < 0  # by its number of another kind of programs
        with pytest.raises(TimeoutError):
            there.accept()


def test_threads_and_clocks_go_on(ran: Ran) -> None:
    body = "int n = 0;\n#pragma omp parallel for reduction(+ : n)\nfor (int i = 0; i < 1000; i++) n++;\n"
    body += "struct timespec t = {0, 1000}; nanosleep(&t, 0); d[0] = n + omp_get_max_threads();"
    result = ran(
        kernel(loop("d[i] = s[i];") + body, includes=("time.h", "omp.h"), flags=("-D_GNU_SOURCE", "-fopenmp"))
    )
    assert result.outputs["d"][0] == 1002, result.text


def test_a_call_that_takes_too_long_is_cut_short(host: Host) -> None:
    late = "static int calls; if (++calls == %d) for (volatile int k = 0; ; k++) ;"
    for number in (1, 2):
        made = build(kernel(late % number + loop("d[i] = s[i];")), host)
        assert isinstance(made, Built)
        result = run(made, ramp(), call_s=0.05)
        assert (result.outcome, result.text) == ("timeout", "a call took longer than 0.05 s")
    made = build(kernel(late % 4 + loop("d[i] = s[i];")), host)
    assert isinstance(made, Built)
    assert run(made, ramp(), call_s=0.05).outcome == "ok"
    measured = measure(made, ramp(), 0.1, call_s=0.05)
    assert (measured.outcome, measured.text) == ("timeout", "a call took longer than 0.05 s")


def test_memory_is_what_it_may_have(host: Host) -> None:
    made = build(kernel(loop("d[i] = s[i];") + " if (!malloc(1u << 30)) return 1;"), host)
    assert isinstance(made, Built)
    assert run(made, ramp()).outcome == "ok"
    assert run(made, ramp(), memory_bytes=512 << 20).outcome == "out-of-memory"


def test_code_that_does_not_compile_is_a_failure(host: Host) -> None:
    failed = build(kernel("d[0] = s[0] +;"), host)
    assert isinstance(failed, Failure)
    assert failed.outcome == "compile-error"
    assert failed.text.startswith("gcc rejects the code of k-c: k.c:")
    assert failed.folder.is_dir()


def test_a_missing_function_is_found_when_loading(ran: Ran) -> None:
    result = ran(kernel("extern float nothing_of_this_name(float); d[0] = nothing_of_this_name(s[0]);"))
    assert result.outcome == "not-runnable"
    assert "undefined symbol: nothing_of_this_name" in result.text


NINE = kernel(
    f"\n#ifdef NINE\n    {loop('d[i] = s[i] + NINE;')}\n#else\n    {loop('d[i] = s[i];')}\n#endif\n",
    includes=("float.h",),
    requires=("fma", "avx9"),
    flags=("-mfma", "-DUNUSED"),
    emulation=(("float.h", "#define NINE 9\n"),),
)


def test_a_missing_feature_is_emulated_and_not_timed(host: Host) -> None:
    cpu = replace(host.cpu, features=frozenset({"fma"}))
    built = build(NINE, replace(host, cpu=cpu))
    assert isinstance(built, Built), built
    assert (built.timed, built.reason) == (False, "this CPU has no avx9: checked by emulation, not timed")
    assert "-mfma" in built.command
    assert "before" not in built.command
    assert np.array_equal(run(built, ramp()).outputs["d"], ramp()["s"] + 9)


def test_a_feature_that_is_there_is_not_emulated(host: Host) -> None:
    cpu = replace(host.cpu, features=frozenset({"fma", "avx9"}))
    built = build(NINE, replace(host, cpu=cpu))
    assert isinstance(built, Built), built
    assert built.timed
    assert np.array_equal(run(built, ramp()).outputs["d"], ramp()["s"])


def test_the_native_code_must_compile_even_where_it_cannot_run(host: Host) -> None:
    broken = kernel("__m9 v;", includes=("nine.h",), requires=("avx9",), emulation=(("nine.h", ""),))
    failed = build(broken, host)
    assert isinstance(failed, Failure)
    assert "nine.h" in failed.text


def test_without_emulation_it_is_built_and_not_run(host: Host) -> None:
    built = build(replace(ADD, requires=("avx9",)), host)
    assert isinstance(built, Built)
    result = run(built, ramp())
    assert (result.outcome, result.text) == (
        "not-runnable",
        "this CPU has no avx9: built, neither run nor timed",
    )


def test_assembly_names_the_function(host: Host) -> None:
    text = assembly(ADD, host)
    assert isinstance(text, str)
    assert "\nk:" in text
