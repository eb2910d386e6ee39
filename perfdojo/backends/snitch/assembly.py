"""A stream nest as lines of assembly: registers of its caller, its pointers, loops, what ends it."""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.backends.snitch.configure import configure
from perfdojo.backends.snitch.loops import Body, loops_in
from perfdojo.backends.snitch.spelling import FP_NAMES
from perfdojo.backends.snitch.writer import Text, Writer
from perfdojo.compiler.lowering.nests.limits import SAVED
from perfdojo.compiler.lowering.nests.nest import StreamNest, registers


@dataclass(frozen=True, slots=True)
class Routine:
    """A nest and what is around it.

    Attributes:
        arguments: integer register of each argument of the nest.
        spare: integer registers besides t1 to t6 that it may use.
        label: what its labels begin with.
        called: by C code, which may read and write the same memory right before and after.
        shared: the registers of the arguments are needed behind it.
        waits: for the FPU, and for the last word that it writes to be in memory.
        first, last: of a function that C code calls: stores of the caller are done before its streams begin,
            and its results are in memory when it returns.
    """

    nest: StreamNest
    arguments: tuple[str, ...]
    spare: tuple[str, ...]
    label: str
    called: bool = False
    shared: bool = False
    waits: bool = False
    first: bool = False
    last: bool = False


def written(r: Routine) -> Writer:
    """Return the lines of a nest, without a return, and the constants that they load."""
    nest = r.nest
    w = Writer(r.label, [*r.spare, *(f"t{k}" for k in range(6, 0, -1))])
    saved = sorted(registers(nest) & SAVED)
    _save(w, saved)
    if r.called:
        w.say("fmv.x.w t0, ft3", "the caller's FP stores have been issued")
        w.say("mv t0, t0")
        w.say("fence", "and done: streams do not wait for them")
    issued = w.free.pop() if r.first else ""
    if issued:
        w.say(f"fmv.x.w {issued}, ft3", "streams do not wait for the caller's FP stores:")
    _place_pointers(w, r)
    body = configure(w, nest)
    if issued:
        start = next((k for k, line in enumerate(w.lines) if "PTR" in line.code), len(w.lines))
        w.lines.insert(start, Text(f"mv {issued}, {issued}", "they have been issued"))
        w.free.append(issued)
    Body(w, nest).items(body, top=True)
    _close(w, r)
    _restore(w, saved)
    return w


def _save(w: Writer, saved: list[int]) -> None:
    if saved:
        w.say(f"addi sp, sp, -{_frame(saved)}")
        for k, r in enumerate(saved):
            w.say(f"fsd {FP_NAMES[r]}, {8 * k}(sp)")


def _restore(w: Writer, saved: list[int]) -> None:
    if saved:
        for k, r in enumerate(saved):
            w.say(f"fld {FP_NAMES[r]}, {8 * k}(sp)")
        w.say(f"addi sp, sp, {_frame(saved)}")


def _frame(saved: list[int]) -> int:
    return -(-8 * len(saved) // 16) * 16


def _place_pointers(w: Writer, r: Routine) -> None:
    """Give each pointer a register: its argument's where nothing else starts from that."""
    moving = {p for loop in loops_in(r.nest.body) for p, _ in loop.steps}
    for number, (argument, base) in enumerate(r.nest.pointers):
        register = r.arguments[argument]
        alone = sum(a == argument for a, _ in r.nest.pointers) == 1 and not r.shared
        if not alone and (base or number in moving):
            own = w.free.pop()
            w.add(own, register, base)
            register = own
        elif base:
            w.add(register, register, base)
        w.pointers.append(register)


def _close(w: Writer, r: Routine) -> None:
    w.say("csrrci x0, SSR, 1", "in the order of FP instructions, like the start")
    if not (r.called or r.waits or r.last):
        return
    w.say("fmv.x.w t0, ft3", "the FPU has issued everything")
    w.say("mv t0, t0")
    for m in r.nest.movers:
        # a function that is nothing but nests returns later than its last word arrives
        if m.write and (r.called or r.waits):
            label = w.label()
            w.say(f"li t0, {m.number}")
            w.say(f"{label}:", "until the last word is in memory")
            w.say("scfgr t1, t0")
            w.say(f"bgez t1, {label}")
