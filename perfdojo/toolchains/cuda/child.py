"""Runs and times one kernel on the GPU in a process of its own: a wrong one ends all use of the GPU in it.

    python -m perfdojo.toolchains.cuda.child

Works in the current folder: reads `job`, a Job of apart.py; writes, as soon as each is known, in this order

    0.json      how the kernel did on the first inputs: outcome, text; the outputs in 0.<argument>
    time.json   outcome, text, samples_s: what it takes on these; the end, where that is over `most_s`
    1.json ...  the same on the other inputs

Where an outcome is not ok, nothing follows. A call that takes longer than `call_s` ends the process.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perfdojo.toolchains.arrays import to_memory
from perfdojo.toolchains.cuda.apart import JOB, TIME, Job
from perfdojo.toolchains.cuda.gpu import measure_on_gpu, run_on_gpu

LOOKS_S = 0.01


class Patience:
    """Ends the process, from a thread, when a call takes too long: it cannot be interrupted."""

    def __init__(self, call_s: float) -> None:
        self._call_s = call_s
        self._until: float | None = None
        self.stage = ""
        threading.Thread(target=self._wait, daemon=True).start()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Watch over what is done inside."""
        self._until = time.monotonic() + self._call_s
        try:
            yield
        finally:
            self._until = None

    def _wait(self) -> None:
        while True:
            time.sleep(LOOKS_S)
            until = self._until
            if until is not None and time.monotonic() > until:
                tell(self.stage, "timeout", f"a call took longer than {self._call_s:.3g} s")
                os._exit(0)


def tell(stage: str, outcome: str, text: str, samples: tuple[float, ...] = ()) -> None:
    """Write what came of a stage, whole or not at all."""
    made = Path(f"{stage}.part")
    made.write_text(json.dumps({"outcome": outcome, "text": text, "samples_s": samples}))
    made.replace(f"{stage}.json")


def check(job: Job, number: int, patience: Patience) -> bool:
    """Run the kernel on one set of inputs; tell whether more is worth the while."""
    patience.stage = str(number)
    ran = run_on_gpu(job.emitted, job.library, job.inputs[number], patience)
    for a in job.emitted.arguments if ran.outcome == "ok" else ():
        if a.role != "in":
            Path(f"{number}.{a.name}").write_bytes(to_memory(a, ran.outputs[a.name]).tobytes())
    tell(str(number), ran.outcome, ran.text)
    return ran.outcome == "ok"


def measure(job: Job, patience: Patience) -> bool:
    """Time it on the first inputs; tell whether it is not far behind."""
    patience.stage = TIME
    m = measure_on_gpu(job.emitted, job.library, job.inputs[0], job.budget_s, "hot", job.most_s, patience)
    tell(TIME, m.outcome, m.text, m.samples_s)
    return m.outcome == "ok" and (job.most_s is None or m.median_s <= job.most_s)


def main() -> None:
    """Do all of a job."""
    job: Job = pickle.loads(Path(JOB).read_bytes())
    patience = Patience(job.call_s)
    try:
        if check(job, 0, patience) and (not job.budget_s or measure(job, patience)):
            all(check(job, n, patience) for n in range(1, len(job.inputs)))
    except Exception as error:  # of CuPy's own classes, which cannot be named without it
        memory = "OutOfMemory" in type(error).__name__
        tell(patience.stage, "out-of-memory" if memory else "crash", f"the GPU reports {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
