"""A system's process from outside: started once, asked line by line, given up on when it dies or hangs."""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.peers.environments import ROOT, folder, variables
from benchmarks.peers.registry import System

START_S, SLOT_S = 120.0, 60.0

Answer = dict[str, Any]


class Worker:
    """One process. `version` is empty, and `why` says why, when the system does not run here."""

    def __init__(self, system: System, python: Path, threads: int, cpus: Sequence[int]) -> None:
        self.system = system
        self._command = [str(python), "-m", "benchmarks.peers.worker", system.name, str(threads)]
        self._command.append(",".join(map(str, cpus)))
        self._variables = variables(system, python, threads, cpus)
        self._start()

    def _start(self) -> None:
        log = folder() / "logs" / f"{self.system.name}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self._variables,
                cwd=ROOT,
            )
        answer = self._read(START_S)
        self.version, self.why = str(answer.get("version", "")), str(answer.get("why", ""))

    def prepare(self, benchmark: str, data: Path, timeout_s: float) -> Answer:
        """Have it prepare a kernel on the arrays in a folder; a dead process is started anew."""
        answer = self._ask(timeout_s, do="prepare", benchmark=benchmark, folder=str(data))
        if answer.get("dead"):
            self._start()
        return answer

    def run(self, slot_s: float) -> Answer:
        """Let it run for a slot; the answer has the seconds of a call."""
        answer = self._ask(SLOT_S, do="run", slot_s=slot_s)
        if answer.get("dead"):
            self._start()
        return answer

    def drop(self) -> None:
        """Have it free what it prepared."""
        self._ask(SLOT_S, do="drop")

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            # closing flushes what was asked last, which a process that ended takes no more
            with suppress(BrokenPipeError):
                if pipe:
                    pipe.close()

    def _ask(self, timeout_s: float, **asked: object) -> Answer:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return self._dead("ended")
        return self._read(timeout_s)

    def _read(self, timeout_s: float) -> Answer:
        assert self._process.stdout
        ready, _, _ = select.select([self._process.stdout], [], [], timeout_s)
        if not ready:
            return self._dead(f"gave no answer in {timeout_s:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            return self._dead("ended")
        answer: Answer = json.loads(line)
        return answer

    def _dead(self, how: str) -> Answer:
        self.stop()
        code = self._process.returncode
        return {"ok": False, "dead": True, "why": f"its process {how} (status {code})"}
