"""The body of a nest: loops of the FPU and of the integer core, and what they repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perfdojo.backends.snitch.buffer import at_start, must_be_empty
from perfdojo.backends.snitch.spelling import FP_NAMES, instruction
from perfdojo.backends.snitch.writer import IMMEDIATE, Writer
from perfdojo.compiler.lowering.nests.nest import Compute, Item, Launch, Loop, StreamNest, Transfer

POINTER_WORDS = {False: "RPTR", True: "WPTR"}


class Body:
    """Writes items of a nest, and counts what may wait in the FPU's buffer meanwhile."""

    def __init__(self, w: Writer, nest: StreamNest) -> None:
        self.w, self.nest = w, nest
        self._waiting = 0
        """FP instructions that may be in the buffer."""

    def items(self, items: Sequence[Item], top: bool = False) -> None:
        """Write items; those of the whole nest are at its `top`."""
        for item in items:
            match item:
                case Compute():
                    self.w.say(instruction(item))
                    self._waiting += 1
                case Transfer():
                    self._transfer(item)
                    self._waiting += 1
                case Launch():
                    launch(self.w, self.nest, item)
                case Loop():
                    if item.frep:
                        self._repeat(item)
                    else:
                        self._loop(item, top)

    def _repeat(self, item: Loop, outermost: bool = True) -> None:
        """A loop of the FPU, or one in it."""
        if outermost and must_be_empty(item, self._waiting):
            self.w.say("csrrsi x0, SSR, 1", "waits until all before it is issued: loops need an empty buffer")
        self.w.say(f"frep_o {self.w.passes(item.count - 1)}, {_size(item.body)}", _told(item))
        for inner in item.body:
            if isinstance(inner, Loop):
                self._repeat(inner, outermost=False)
            else:
                self.items((inner,))
        self._waiting = 0

    def _transfer(self, t: Transfer) -> None:
        register, pointer = FP_NAMES[t.register], self.w.pointers[t.pointer]
        offset = t.offset
        if not -IMMEDIATE <= offset < IMMEDIATE:
            self.w.add("t0", pointer, offset)
            pointer, offset = "t0", 0
        name = {8: "d", 4: "w", 2: "h"}[t.bytes]
        what = f"fs{name}" if t.store else f"fl{name}"
        self.w.say(f"{what} {register}, {offset}({pointer})")

    def _loop(self, item: Loop, top: bool) -> None:
        """A loop of the integer core: up to the end of a pointer where it is outermost, else counted."""
        w = self.w
        label = w.label()
        counter = w.free.pop()
        # a pointer that loops inside move too does not tell how far this one is
        inner = {p for loop in loops_in(item.body) for p, _ in loop.steps}
        own = [s for s in item.steps if s[0] not in inner]
        ended = own[0] if top and own else None
        if ended is not None:
            w.add(counter, w.pointers[ended[0]], ended[1] * item.count)
        else:
            w.say(f"li {counter}, {item.count}")
        w.say(f"{label}:", _told(item))
        self._waiting = at_start(item, self._waiting)
        self.items(item.body)
        for pointer, amount in item.steps:
            w.add(w.pointers[pointer], w.pointers[pointer], amount)
        if ended is not None:
            w.say(f"bne {w.pointers[ended[0]]}, {counter}, {label}")
        else:
            w.say(f"addi {counter}, {counter}, -1")
            w.say(f"bnez {counter}, {label}")
        w.free.append(counter)


def launch(w: Writer, nest: StreamNest, item: Launch) -> None:
    """Write the pointer that a mover starts with."""
    register = w.pointers[item.pointer]
    mover = next(m for m in nest.movers if m.number == item.mover)
    if item.offset:
        w.add("t0", register, item.offset)
        register = "t0"
    w.say(f"scfgwi {register}, {POINTER_WORDS[mover.write]}{len(mover.bounds) - 1}, {item.mover}")


def loops_in(items: Sequence[Item]) -> Iterator[Loop]:
    """Yield all loops, outer ones first."""
    for item in items:
        if isinstance(item, Loop):
            yield item
            yield from loops_in(item.body)


def _size(items: Sequence[Item]) -> int:
    """Return the instructions of the body of an FPU loop; a loop inside counts none for itself."""
    return sum(_size(i.body) if isinstance(i, Loop) else 1 for i in items)


def _told(item: Loop) -> str:
    return f"{' '.join(item.names)}: {item.count} times"
