"""Run a program with limits in its own process group; whatever it does is an outcome, and nothing is left."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import IO, Literal

ProcessOutcome = Literal["ok", "crash", "timeout", "out-of-memory", "failed", "output-limit"]

_TAG = "PERFDOJO_CHILD"
_POLL_S = 0.05
_MEMORY_WORDS = ("out of memory", "memory exhausted", "Cannot allocate memory")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use; None is no limit.

    Attributes:
        wall_s, cpu_s: seconds; cpu_s of one process, all its threads together.
        memory_bytes: address space of one process.
        output_bytes: of standard output and standard error together.
        file_bytes: of each file that it writes.
        processes: processes that may live at the same time, the first one included; threads do not count.
    """

    wall_s: float = 60.0
    cpu_s: float | None = None
    memory_bytes: int | None = None
    output_bytes: int = 1 << 20
    file_bytes: int | None = None
    processes: int | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended.

    Attributes:
        outcome: failed means a non-zero exit status, or that it could not be started.
        code: exit status, -1 when a signal ended it.
        signal: name of that signal (SIGSEGV), or of the one that stopped it (SIGSTOP), or "".
        seconds: wall time.
        note: which limit it met, or "".
    """

    outcome: ProcessOutcome
    code: int
    signal: str
    stdout: str
    stderr: str
    seconds: float
    note: str = ""


def run(
    command: Sequence[str],
    limits: Limits = Limits(),
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Run `command`, a program and its arguments, and wait for it; standard input is empty.

    When it ends, stops or meets a limit, all processes that descend from it are killed, also those that left
    its process group. Never raises for what the program did; `env` replaces the environment.
    """
    tag = uuid.uuid4().hex
    start = time.monotonic()
    try:
        child = subprocess.Popen(
            _limited(command, limits),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**(os.environ if env is None else env), _TAG: tag},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Finished("failed", -1, "", "", f"{command[0]}: {error}", time.monotonic() - start)
    assert child.stdout is not None
    assert child.stderr is not None
    texts = {child.stdout: bytearray(), child.stderr: bytearray()}
    try:
        met = _watch(child, texts, limits, start + limits.wall_s)
        seconds = time.monotonic() - start
    finally:
        _kill_all(child.pid, tag)
        code = child.wait()
    for stream, text in texts.items():
        _drain(stream, text)
        stream.close()
    out, err = (bytes(t[: limits.output_bytes]).decode(errors="replace") for t in texts.values())
    outcome, note = _judge(code, met, err, seconds, limits)
    name = "SIGSTOP" if met == "stop" else _signal_name(-code) if code < 0 else ""
    return Finished(outcome, max(code, -1), name, out, err, seconds, note)


def _limited(command: Sequence[str], limits: Limits) -> list[str]:
    """The command behind a shell that sets the limits and then becomes it.

    A shell rather than code between fork and exec: the latter is not safe when threads run.
    A limit that the system already has lower stays as it is.
    """
    sets = ["ulimit -c 0"]
    if limits.cpu_s is not None:
        # The hard limit is a second later: the soft one sends SIGXCPU, which says what happened.
        sets += [f"ulimit -S -t {ceil(limits.cpu_s)}", f"ulimit -H -t {ceil(limits.cpu_s) + 1}"]
    if limits.memory_bytes is not None:
        sets.append(f"ulimit -v {max(1, limits.memory_bytes >> 10)}")
    if limits.file_bytes is not None:
        sets.append(f"ulimit -f {max(1, limits.file_bytes >> 9)}")
    script = "; ".join(f"{s} 2>/dev/null" for s in sets) + '; exec "$@"'
    return ["/bin/sh", "-c", script, "perfdojo", *command]


def _watch(
    child: subprocess.Popen[bytes], texts: dict[IO[bytes], bytearray], limits: Limits, deadline: float
) -> str:
    """Collect output until the child ends or meets a limit; return the name of that limit, or ""."""
    with selectors.DefaultSelector() as selector:
        ended = _end_of(child.pid)
        if ended is not None:
            selector.register(ended, selectors.EVENT_READ)
        for stream in texts:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, stream)
        try:
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    return "wall"
                poll = ended is None or limits.processes is not None
                for key, _ in selector.select(min(left, _POLL_S) if poll else left):
                    if key.data is None:
                        return ""
                    if not _drain(key.data, texts[key.data]):
                        selector.unregister(key.data)
                if sum(map(len, texts.values())) > limits.output_bytes:
                    return "output"
                if limits.processes is not None and _descendants(child.pid) >= limits.processes:
                    return "processes"
                if ended is None and _has_ended(child.pid):
                    return ""
                if poll and _has_stopped(child.pid):
                    return "stop"
        finally:
            if ended is not None:
                os.close(ended)


def _end_of(pid: int) -> int | None:
    """A file descriptor that becomes readable when the process ends; None where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _has_ended(pid: int) -> bool:
    """Whether a child has ended, without collecting it (its number must not be given away yet)."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _has_stopped(pid: int) -> bool:
    """Whether a child has stopped (SIGSTOP): it would wait until its time is up."""
    with suppress(ChildProcessError):  # it has ended meanwhile
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    return False


def _drain(stream: IO[bytes], text: bytearray) -> bool:
    """Append what can be read now, at most 1 MiB; False at the end of the stream."""
    for _ in range(16):
        try:
            piece = os.read(stream.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        if not piece:
            return False
        text += piece
    return True


def _descendants(pid: int) -> int:
    """Number of living processes below `pid`, as far as the system says."""
    count = 0
    stack = [pid]
    while stack and count < 10_000:
        with suppress(OSError, ValueError):
            for task in Path(f"/proc/{stack.pop()}/task").iterdir():
                below = [int(p) for p in (task / "children").read_text().split()]
                count += len(below)
                stack += below
    return count


def _kill_all(pid: int, tag: str) -> None:
    """Kill the process group `pid`, and what left it: by session, or by the mark in its environment."""
    for _ in range(50):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        others = _left_behind(pid, tag)
        if not others:
            return
        for other in others:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(other, signal.SIGKILL)
        time.sleep(0.002)


def _left_behind(pid: int, tag: str) -> list[int]:
    """Living processes, but for `pid` itself, that belong to its session or carry the mark."""
    mark = f"{_TAG}={tag}".encode()
    born = _stat(pid)
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit() or int(name) in (pid, os.getpid()):
            continue
        fields = _stat(int(name))
        if len(fields) < 20 or fields[0] in ("Z", "X") or (born and int(fields[19]) < int(born[19])):
            continue
        with suppress(OSError):
            if int(fields[3]) == pid or mark in Path(f"/proc/{name}/environ").read_bytes():
                found.append(int(name))
    return found


def _stat(pid: int) -> list[str]:
    """Fields of /proc/pid/stat behind the program's name: 0 state, 3 session, 19 time of start (proc(5))."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _judge(code: int, met: str, stderr: str, seconds: float, limits: Limits) -> tuple[ProcessOutcome, str]:
    if met == "wall":
        return "timeout", f"it ran longer than {limits.wall_s:g} s"
    if met == "output":
        return "output-limit", f"it wrote more than {limits.output_bytes} bytes"
    if met == "processes":
        return "failed", f"it started more than {limits.processes} processes"
    if met == "stop":
        return "crash", "it stopped itself"
    if code == 0:
        return "ok", ""
    if code > 0:
        memory = limits.memory_bytes is not None and any(w in stderr for w in _MEMORY_WORDS)
        if memory:
            return "out-of-memory", f"it needs more than {limits.memory_bytes} bytes"
        return "failed", ""
    if -code == signal.SIGXCPU or (
        -code == signal.SIGKILL
        and limits.cpu_s is not None
        and seconds * (os.cpu_count() or 1) >= limits.cpu_s
    ):
        return "timeout", f"it used more than {limits.cpu_s:g} s of processor time"
    if -code == signal.SIGKILL:
        return "out-of-memory", "the system killed it, as it does when memory runs out"
    if -code == signal.SIGXFSZ and limits.file_bytes is not None:
        return "crash", f"it wrote a file of more than {limits.file_bytes} bytes"
    return "crash", ""
