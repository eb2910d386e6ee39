"""Faults to plant: each changes one place of what makes code for GPUs into something wrong."""

from __future__ import annotations

from tests.fuzz.faults.fault import FileFault as Fault

ANALYSIS = "perfdojo/compiler/analysis/"
BACKEND = "perfdojo/backends/cuda/"
LOWERING = "perfdojo/compiler/lowering/"
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
        "for axis in BLOCK\n",
        "for axis in BLOCK[:1]\n",
    ),
    Fault(
        "the first thread meets nobody",
        ANALYSIS + "block.py",
        "if not one.scopes and not two.scopes:",
        "if not one.scopes or not two.scopes:",
    ),
    Fault(
        "other blocks are asked for, the own one is not",
        ANALYSIS + "block.py",
        'f"a{d} = b{d}" for d',
        'f"a{d} != b{d}" for d',
    ),
    Fault(
        "guards of other accesses hold for all",
        ANALYSIS + "meeting.py",
        "key = (a.load, a.writes, a.conditions, tuple(s.name for s in a.scopes))",
        "key = (a.load.buffer, a.writes)",
    ),
    Fault("barriers are left out", LOWERING + "gpu.py", "out.append(Barrier())", "pass"),
    Fault(
        "the next iteration asks nothing of the one before",
        LOWERING + "gpu.py",
        "[*opened, *self._settle(item.items, last)]",
        "[*opened, *last]",
    ),
    Fault(
        "only the part right before is asked",
        LOWERING + "gpu.py",
        "opened = [*opened, item]",
        "opened = [item]",
    ),
    Fault(
        "threads along an axis share what only those along another one need copies of",
        LOWERING + "gpu.py",
        "if all(self._could_own(s, n) for s in several)",
        "if all(n in private_buffers(self.known, s.name) for s in several)",
    ),
    Fault(
        "temporaries that threads need copies of are one",
        LOWERING + "gpu.py",
        "private & used)",
        "frozenset())",
    ),
    Fault(
        "blocks along an axis share what only those along another one need copies of",
        LOWERING + "gpu.py",
        "return all(self._could_own(s, name) for s in self.grid if",
        "return all(name in private_buffers(self.known, s.name) for s in self.grid if",
    ),
    Fault(
        "kernels have copies of what they share",
        LOWERING + "gpu.py",
        "if len(users) > 1 or not inside[name].keeps(name):",
        "if not inside[name].keeps(name):",
    ),
    Fault(
        "the last part says how many threads a block has",
        LOWERING + "gpu.py",
        "max(self.threads[n.mark], const_int(n.extent))",
        "const_int(n.extent)",
    ),
    Fault(
        "what other parts read is dead",
        LOWERING + "gpu.py",
        "alive(code, context, others | elsewhere)",
        "alive(code, context, elsewhere)",
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
    Fault("threads that are too many run too", BACKEND + "printer.py", "if needed < there:", "if False:"),
    Fault(
        "all threads along z run what the first one does",
        BACKEND + "printer.py",
        'zip("xyz", self.size, strict=True)',
        'zip("xy", self.size, strict=False)',
    ),
    Fault(
        "one thread too many",
        BACKEND + "printer.py",
        'f"threadIdx.{axis} < {needed}"',
        'f"threadIdx.{axis} <= {needed}"',
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
