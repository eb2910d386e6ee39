"""TVM with MetaSchedule: a search that builds and runs candidates, done before, its records in the cache.

    python -m benchmarks.peers --tune [--only NAME] [--trials 64]

which runs this file in TVM's environment. Kernels of one pass over their arrays have one candidate or a few,
however many trials are allowed.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.peers.peer import Peer, Prepared, Task, Unsupported
from benchmarks.peers.systems.tvm_kernels import primitive_function
from benchmarks.suite import Benchmark, named

RECORDS = "database_tuning_record.json"


class Tuned(Peer):
    """The best record of a kernel; one that was not tuned is a gap, as TVM does not schedule it well then."""

    modules = ("tvm",)
    distribution = "apache-tvm"

    def __init__(self) -> None:
        self.tvm: Any = import_module("tvm")

    def prepare(self, task: Task, threads: int) -> Prepared:
        place = records(task.benchmark)
        if not (place / RECORDS).exists():
            raise Unsupported("not tuned; `python -m benchmarks.peers --tune` does that")
        tvm, search = self.tvm, import_module("tvm.s_tir.meta_schedule")
        database = search.database.JSONDatabase(work_dir=str(place))
        made = search.tir_integration.compile_tir(database, primitive_function(task.benchmark), target(tvm))
        if made is None:
            raise Unsupported("no candidate of its search was right")
        kernel = tvm.compile(made.mod, target=target(tvm))["main"]
        arrays = [tvm.runtime.tensor(a, tvm.cpu()) for a in (*task.inputs.values(), task.output)]
        return Prepared(lambda: kernel(*arrays), lambda: arrays[-1].numpy())


def records(b: Benchmark) -> Path:
    """Return the folder of a kernel's records."""
    return Path(os.environ["PERFDOJO_PEERS"]) / "tvm-records" / b.name


def target(tvm: Any) -> Any:
    """Return this machine as TVM describes it."""
    cpu = tvm.target.codegen.llvm_get_system_cpu()
    return tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": os.cpu_count()})


def tune(names: list[str], trials: int) -> None:
    """Tune these kernels; one that has records keeps them, those that cannot be tuned are told."""
    tvm, search = import_module("tvm"), import_module("tvm.s_tir.meta_schedule")
    timing = search.runner.EvaluatorConfig(number=1, repeat=1, min_repeat_ms=20, enable_cpu_cache_flush=False)
    runner = search.runner.LocalRunner(timeout_sec=30, evaluator_config=timing)
    out = os.fdopen(os.dup(1), "w")
    log = Path(os.environ["PERFDOJO_PEERS"]) / "logs" / "tuning.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:  # hundreds of lines a kernel
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    builder = search.builder.LocalBuilder(max_workers=os.cpu_count(), timeout_sec=60)
    for b in map(named, names):
        if (records(b) / RECORDS).exists():
            continue
        start = time.monotonic()
        part = records(b).with_name(f"{b.name}.part")  # of a search that was stopped nothing is taken
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            search.tune_tir(
                primitive_function(b),
                target(tvm),
                str(part),
                max_trials_global=trials,
                num_trials_per_iter=min(16, trials),
                builder=builder,
                runner=runner,
                seed=1,
            )
            part.replace(records(b))
            told = "tuned"
        except Exception as failure:  # a search may fail in any way
            told = f"not tuned: {' '.join(str(failure).split())[-200:]}"
        print(f"{b.name}: {told}, {time.monotonic() - start:.0f} s", file=out, flush=True)


if __name__ == "__main__":
    tune(sys.argv[2:], int(sys.argv[1]))
