"""What may wait in the FPU's buffer when one of its loops begins: some loops have to find it empty.

The sequencer looks for the start of an inner loop from the cycle on in which the outer one works. If both
begin with the same instruction, and older ones are still in front of it, the first run of the inner loop is a
single pass (seen in the source of the sequencer, snitch_cluster). A loop that begins while the buffer is full
repeats what is in it.
"""

from __future__ import annotations

from perfdojo.compiler.lowering.nests.limits import MAX_INSTRUCTIONS
from perfdojo.compiler.lowering.nests.nest import Compute, Item, Loop, Transfer

Items = tuple[Item, ...]


def must_be_empty(loop: Loop, waiting: int) -> bool:
    """Tell whether `waiting` instructions in the buffer have to be issued before an FPU loop begins."""
    return waiting >= MAX_INSTRUCTIONS or (waiting > 0 and isinstance(loop.body[0], Loop))


def behind(items: Items, waiting: int) -> int:
    """Return how many instructions may wait behind items that begin with so many; a full buffer at most.

    A loop of the FPU begins when those before are done, so only what follows it waits.
    """
    for item in items:
        if isinstance(item, Compute | Transfer):
            waiting += 1
        elif isinstance(item, Loop):
            waiting = 0 if item.frep else behind(item.body, at_start(item, waiting))
    return min(waiting, MAX_INSTRUCTIONS)


def at_start(loop: Loop, waiting: int) -> int:
    """Return how many instructions may wait when an iteration of a loop of the integer core begins."""
    for _ in range(min(loop.count - 1, MAX_INSTRUCTIONS)):
        again = max(waiting, behind(loop.body, waiting))
        if again == waiting:
            break
        waiting = again
    return waiting
