"""Faults to plant: each changes one place of what makes code for GPUs into something wrong."""

from __future__ import annotations

from tests.fuzz.faults.fault import FileFault as Fault

ANALYSIS = "perfdojo/compiler/analysis/"
BACKEND = "perfdojo/backends/cuda/"
LOWERING = "perfdojo/compiler/lowering/"
GPU = LOWERING + "gpu/"
MOVES = "perfdojo/compiler/transforms/"

FAULTS: tuple[Fault, ...] = (
    Fault(
        "threads never meet",
        ANALYSIS + "block.py",
        "return bool(apart) and can_meet(",
        "return False and can_meet(",
    ),
    Fault(
        "a read asks for no barrier before a write",
        ANALYSIS + "block.py",
        "(write & (also_read | also_write)) | (read & also_write)",
        "write & (also_read | also_write)",
    ),
    Fault(
        "a write asks for no barrier before a read",
        ANALYSIS + "block.py",
        "(write & (also_read | also_write)) | (read & also_write)",
        "(write & also_write) | (read & also_write)",
    ),
    Fault(
        "threads that differ along y or z are one",
        ANALYSIS + "block.py",
        "for axis in BLOCK:\n",
        "for axis in BLOCK[:1]:\n",
    ),
    Fault(
        "guards of other accesses hold for all",
        ANALYSIS + "meeting.py",
        "key = (a.load, a.writes, a.conditions, tuple(s.name for s in a.scopes))",
        "key = (a.load.buffer, a.writes)",
    ),
    Fault(
        "parts that all threads do meet nobody",
        ANALYSIS + "block.py",
        "            if x is None or y is None:\n                return can_meet(self.known, a, b, order)\n",
        "            if x is None or y is None:\n                continue\n",
    ),
    Fault(
        "what is private to threads is shared along all axes but one",
        ANALYSIS + "kept.py",
        "axes |= private or set()",
        "axes |= set(sorted(private or ())[:1])",
    ),
    Fault(
        "threads that hold no element write it",
        ANALYSIS + "kept.py",
        "return (part.axes.keys() & self._active) <= set(axes)",
        "return True",
    ),
    Fault(
        "what only one thread may write is written by all",
        ANALYSIS + "kept.py",
        "yield from (n for n in written & self.held.keys() if self.held[n].lasting)",
        "yield from ()",
    ),
    Fault(
        "digits of blocks need not be the highest ones",
        ANALYSIS + "digits.py",
        "if low >= 0 and high < ordered[0][0] else None",
        "if low >= 0 else None",
    ),
    Fault(
        "kernels have copies of what they share",
        GPU + "__init__.py",
        "not (len(users) == 1 and users[0].takes(name))",
        "not users[0].takes(name)",
    ),
    Fault(
        "threads share what is to lie in shared memory",
        GPU + "memory.py",
        'return self._space(name) not in ("heap", "shared") or self._is_of_each_thread(name)',
        'return self._space(name) not in ("heap", "shared")',
    ),
    Fault(
        "scopes are spread over parts that pass values on",
        GPU + "kernel.py",
        "            whole |= more\n",
        "            break\n",
    ),
    Fault("barriers are left out", GPU + "kernel.py", "if item.barrier and not code.single:", "if False:"),
    Fault(
        "the next iteration asks nothing of the one before",
        ANALYSIS + "waiting.py",
        "last = self.settle(loop.items, [Open(part, loop.depth, each) for part in _unique(last)])",
        "pass",
    ),
    Fault(
        "only the part right before is asked",
        ANALYSIS + "waiting.py",
        "opened = [*opened, Open(item)]",
        "opened = [Open(item)]",
    ),
    Fault(
        "the last part says how many threads a block has",
        GPU + "kernel.py",
        "max(self.threads[n.mark], const_int(n.extent))",
        "const_int(n.extent)",
    ),
    Fault(
        "what other parts read is dead",
        GPU + "part.py",
        "if n in others or n not in self.context.splits)",
        "if n not in self.context.splits)",
    ),
    Fault(
        "what a thread does not write is written back",
        LOWERING + "promote.py",
        "if shared and written[key] and not certainly_written[key]:",
        "if False:",
    ),
    Fault(
        "what nobody has written may be kept in a register",
        LOWERING + "promote.py",
        "if shared and context.on_gpu and not a.certain:",
        "if False:",
    ),
    Fault(
        "what nothing asks for is loaded before a loop",
        LOWERING + "hoist.py",
        'if self.context.on_gpu and self.context.buffers[v.buffer].role != "in":',
        "if False:",
    ),
    Fault("threads that are too many run too", BACKEND + "printer.py", "if n < there[d]", "if False"),
    Fault(
        "a thread uses at once what it copies later",
        GPU + "part.py",
        "self.context.at_once = _used_at_once(item)",
        "self.context.at_once = frozenset()",
    ),
    Fault(
        "copies out of shared memory are asynchronous",
        BACKEND + "printer.py",
        "and s.source not in self.near:",
        "and True:",
    ),
    Fault(
        "one thread too many",
        BACKEND + "printer.py",
        'f"threadIdx.{d[-1]} < {n}"',
        'f"threadIdx.{d[-1]} <= {n}"',
    ),
    Fault(
        "y and z of the grid change places",
        BACKEND + "emission.py",
        'grid.get(f"grid_{axis}", 1) for axis in "xyz"',
        'grid.get(f"grid_{axis}", 1) for axis in "xzy"',
    ),
    Fault(
        "workspaces take a byte for each element",
        BACKEND + "emission.py",
        "total += -(-a.copies * a.elems * a.dtype.bytes // ALIGNMENT) * ALIGNMENT",
        "total += a.copies * a.elems",
    ),
    Fault(
        "a launcher leaves its workspace",
        "perfdojo/templates/cuda/kernel.cu.j2",
        "const cudaError_t freed = cudaFreeAsync(memory, stream);",
        "const cudaError_t freed = cudaSuccess;",
    ),
    Fault(
        "nested threads may take one dimension twice",
        MOVES + "block.py",
        "for other in (around(program, name, (mark,)), inside(program, name, (mark,))):",
        "for other in ():",
    ),
    Fault(
        "nested blocks may take one dimension twice",
        MOVES + "grid.py",
        "for other in (around(program, name, (mark,)), inside(program, name, (mark,))):",
        "for other in ():",
    ),
    Fault(
        "threads may depend on each other",
        MOVES + "block.py",
        "if reason := why_dependent(program, name):",
        'if reason := "":',
    ),
    Fault(
        "blocks may depend on each other",
        MOVES + "grid.py",
        "if reason := why_dependent(program, name):",
        'if reason := "":',
    ),
)
