"""What stands before the loops of a nest: settings of the movers, first launches, constants, counts."""

from __future__ import annotations

from perfdojo.backends.snitch.constants import load_constant
from perfdojo.backends.snitch.loops import launch, loops_in
from perfdojo.backends.snitch.movers import Setting, settings
from perfdojo.backends.snitch.writer import Writer
from perfdojo.compiler.lowering.nests.nest import Item, Launch, Mover, StreamNest


def configure(w: Writer, nest: StreamNest) -> tuple[Item, ...]:
    """Set and launch what is read, then the rest while the first elements are on the way.

    Returns:
        the body without the launches that it begins with, which are written here.
    """
    launches = _first_launches(nest)
    reads = {m.number for m in nest.movers if not m.write}
    for m in nest.movers:
        w.say("", describe(m))
    kept = {loop.count - 1 for loop in loops_in(nest.body) if loop.frep}
    wanted = settings(nest.movers)
    early = [s for s in wanted if not reads or s.movers & reads]
    _write(w, early, kept)
    for item in launches:
        if item.mover in reads:
            launch(w, nest, item)
    _write(w, [s for s in wanted if s not in early], kept)
    for item in launches:
        if item.mover not in reads:
            launch(w, nest, item)
    for constant in nest.setup:
        load_constant(w, constant)
    for count in sorted(kept, reverse=True):
        w.passes(count)
    w.say("csrrsi x0, SSR, 1", "ft0, ft1 and ft2 are streams from here on")
    return nest.body[len(launches) :]


def _first_launches(nest: StreamNest) -> list[Launch]:
    found = []
    for item in nest.body:
        if not isinstance(item, Launch):
            break
        found.append(item)
    return found


def _write(w: Writer, wanted: list[Setting], kept: set[int]) -> None:
    """Write settings, those of one value after each other; `kept` are values that loops need, too."""
    for value in dict.fromkeys(s.value for s in wanted):
        register = "x0" if value == 0 else "t0"
        if value in kept and value:
            register = w.passes(value)
        elif value:
            w.say(f"li t0, {value}")
        for s in wanted:
            if s.value == value:
                w.say(f"scfgwi {register}, {s.word}, {s.target}")


def describe(m: Mover) -> str:
    """Return what a stream carries, in words."""
    loops = " in ".join(f"{n} every {s} bytes" for n, s in zip(m.bounds, m.strides, strict=True))
    times = f", each {m.repeat} times" if m.repeat > 1 else ""
    return f"ft{m.number} {'to' if m.write else 'from'} {m.buffer}: {loops}{times}"
