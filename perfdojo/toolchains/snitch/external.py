"""Other simulators of the cluster: a Verilator build of its RTL, and banshee.

What is known of their command lines comes from the public sources: pulp-platform/snitch_cluster,
target/common/test (ipc.cc, tb_bin.cc) and util/sim/SnitchSim.py; pulp-platform/banshee, src/main.rs and
src/engine.rs. The Verilator build takes the ELF file, and `--ipc,TX,RX` with two pipes over which main memory
is read: requests of three 64-bit words (0 read, address, bytes; 2 wait until a word changes, address, mask in
the low and value in the high half) and the bytes in answer. Newer builds wait for the end of the program
instead, and take the same request. Its exit status is the program's exit code.
"""

from __future__ import annotations

import os
import select
import shutil
import struct
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.toolchains.arrays import Array, why_unfit_inputs
from perfdojo.toolchains.process import Finished, Limits, run
from perfdojo.toolchains.results import Outcome, RunResult
from perfdojo.toolchains.snitch.elf import Elf
from perfdojo.toolchains.snitch.expected import Expected, interval_bytes, judge_exit
from perfdojo.toolchains.snitch.layout import image
from perfdojo.toolchains.snitch.run import COMPARE, KEEP, Built, Machine, input_memory, program
from perfdojo.toolchains.snitch.simulation import Simulation
from perfdojo.toolchains.snitch.simulator import Job

Kind = Literal["verilator", "banshee"]
READ, WAIT = 0, 2
DONE_OFFSET = 4
"""Of the word in `perfdojo_results` that becomes 1 at the end."""
POLL_S = 0.05
TIMEOUT_S = 3600.0
BANSHEE_CORES = 9


@dataclass(frozen=True, slots=True)
class External:
    """A simulator that the user has."""

    kind: Kind
    path: Path

    def __str__(self) -> str:
        return f"{self.kind} ({self.path})"


def find_external(text: str) -> External:
    """Return the simulator that `verilator:PATH` or `banshee:PATH` names.

    Raises:
        PerfDojoError: it names none, or no program.
    """
    kind, _, path = text.partition(":")
    if kind not in ("verilator", "banshee") or not path:
        raise PerfDojoError(
            f"no simulator '{text}'", hint="--simulator takes builtin, verilator:PATH or banshee:PATH"
        )
    found = shutil.which(path)
    if found is None:
        raise PerfDojoError(
            f"{path} is no program that can be run", hint=f"give the path of the {kind} simulator"
        )
    return External("verilator" if kind == "verilator" else "banshee", Path(found).resolve())


def verilated(path: Path, timeout_s: float = TIMEOUT_S) -> Machine:
    """Return the machine that runs programs on a Verilator build and reads their memory through its pipes."""

    def machine(elf: Elf, job: Job, _: Limits) -> Simulation:
        with _folder(elf) as folder:
            for name in ("tx", "rx"):
                os.mkfifo(folder / name)
            client = _Client(folder, elf, job)
            client.start()
            finished = run([str(path), "program.elf", "--ipc,tx,rx"], _limits(timeout_s), cwd=folder)
            memory = client.stop()
        if len(memory) < len(job.dumps):
            outcome: Outcome = "timeout" if finished.outcome == "timeout" else "crash"
            return Simulation(outcome, _ended(path, finished, "before its memory was read"))
        return Simulation("ok", "", max(finished.code, 0), memory=memory, seconds=finished.seconds)

    return machine


def run_checking_itself(
    built: Built,
    inputs: Mapping[str, Array],
    expected: Mapping[str, Expected],
    external: External,
    timeout_s: float = TIMEOUT_S,
) -> RunResult:
    """Run a kernel that was built with `self_check`; its exit code says whether the outputs are as expected.

    The result has no outputs, as none come back.
    """
    assert built.self_check
    unfit = why_unfit_inputs(built.emitted.arguments, inputs)
    if unfit:
        return RunResult("not-runnable", unfit)
    memory = input_memory(built, inputs)
    elf = program(built, memory, 1, KEEP | COMPARE).patched(
        {
            "perfdojo_original": image(built.area, memory, 0),
            "perfdojo_intervals": interval_bytes(built.area, expected),
        }
    )
    with _folder(elf) as folder:
        command = [str(external.path), "program.elf"]
        if external.kind == "banshee":
            (folder / "cluster.yaml").write_text(banshee_configuration(elf))
            command[1:1] = ["--configuration", "cluster.yaml"]
        finished = run(command, _limits(timeout_s), cwd=folder)
    if finished.outcome not in ("ok", "failed"):
        stopped: Outcome = "timeout" if finished.outcome == "timeout" else "crash"
        return RunResult(stopped, _ended(external.path, finished, "by itself"))
    names = " and ".join(a.name for a in built.area.arguments if a.role != "in")
    outcome, text = judge_exit(finished.code, names)
    if outcome == "crash" and finished.stderr.strip():
        text += f"; it says: {finished.stderr.strip().splitlines()[-1]}"
    return RunResult(outcome, text, seconds=finished.seconds)


def banshee_configuration(elf: Elf) -> str:
    """Return the description of the cluster for banshee; stores to `tohost` are its exit code."""
    text = (files("perfdojo") / "templates" / "snitch_harness" / "banshee.yaml").read_text(encoding="utf-8")
    return text.replace("@CORES@", str(BANSHEE_CORES)).replace("@TOHOST@", hex(elf.symbols["tohost"]))


@contextmanager
def _folder(elf: Elf) -> Iterator[Path]:
    """A folder with the program; the Verilator build writes its traces into logs/ there."""
    with tempfile.TemporaryDirectory(prefix="perfdojo-snitch-") as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        (folder / "program.elf").write_bytes(elf.data)
        yield folder


def _limits(seconds: float) -> Limits:
    """What another simulator may use: it is the user's, who knows how big it is and how it works."""
    return Limits(wall_s=seconds, output_bytes=64 << 20)


def _ended(path: Path, finished: Finished, how: str) -> str:
    why = finished.note or finished.signal or f"it ended with exit status {finished.code}"
    said = finished.stderr.strip().splitlines()
    return f"{path.name} did not end {how}: {why}" + (f"; it says: {said[-1]}" if said else "")


@dataclass(slots=True)
class _Client:
    """Asks for memory over the pipes while the simulator runs, in a thread."""

    folder: Path
    elf: Elf
    job: Job
    memory: list[bytes] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def start(self) -> None:
        self.thread = threading.Thread(target=self._talk, daemon=True)
        self.thread.start()

    def stop(self) -> tuple[bytes, ...]:
        """Return the dumps that came."""
        self.ended.set()
        assert self.thread is not None
        self.thread.join()
        return tuple(self.memory)

    def _talk(self) -> None:
        # Opened for reading and writing, neither pipe waits for the other side to open it.
        tx = os.open(self.folder / "tx", os.O_RDWR)
        rx = os.open(self.folder / "rx", os.O_RDWR)
        try:
            done = self.elf.symbols["perfdojo_results"] + DONE_OFFSET
            os.write(tx, struct.pack("<QQQ", WAIT, done, 1))
            if len(self._receive(rx, 4)) < 4:
                return
            for address, size in self.job.dumps:
                os.write(tx, struct.pack("<QQQ", READ, address, size))
                found = self._receive(rx, size)
                if len(found) < size:
                    return
                self.memory.append(found)
        finally:
            os.close(tx)
            os.close(rx)

    def _receive(self, rx: int, count: int) -> bytes:
        """Return `count` bytes, fewer when the simulator ended."""
        found = bytearray()
        while len(found) < count:
            ready, _, _ = select.select([rx], [], [], POLL_S)
            if ready:
                found += os.read(rx, count - len(found))
            elif self.ended.is_set():
                break
        return bytes(found)
