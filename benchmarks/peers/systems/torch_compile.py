"""torch.compile: the kernels of `torch_eager` through Inductor, shapes fixed, code cached between runs."""

from __future__ import annotations

from benchmarks.peers.peer import Prepared, Task, returned
from benchmarks.peers.systems.torch_eager import Eager, functions


class Compiled(Eager):
    """It has no way to be given its output; a call costs about 15 us."""

    def prepare(self, task: Task, threads: int) -> Prepared:
        self.torch.set_num_threads(threads)
        self.torch.compiler.reset()
        given = [self.torch.from_numpy(a) for a in task.inputs.values()]
        function = functions(self.torch)[task.benchmark.kernel]
        compiled = self.torch.compile(function, dynamic=False, fullgraph=True)
        call, kept = returned(compiled, *given)
        return Prepared(call, lambda: kept[0].numpy())  # type: ignore[attr-defined]
