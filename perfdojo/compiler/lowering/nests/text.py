"""A stream nest as text, for people: part of the target IR's."""

from __future__ import annotations

from collections.abc import Iterator

from perfdojo.compiler.lowering.nests.nest import Compute, Item, Launch, Loop, Mover, StreamNest, Transfer


def lines(nest: StreamNest) -> Iterator[str]:
    """Yield one line for each mover, constant and instruction, those in loops indented."""
    for m in nest.movers:
        yield mover(m)
    for c in nest.setup:
        lanes = "" if c.type.lanes == 1 else f" in {c.type.lanes} lanes"
        yield f"f{c.register} = {c.value}{lanes}"
    yield from _items(nest.body, nest, "")


def mover(m: Mover) -> str:
    """Return what a mover does: its loops, innermost first."""
    loops = ", ".join(f"{n} x {s}" for n, s in zip(m.bounds, m.strides, strict=True))
    times = f", each {m.repeat} times" if m.repeat > 1 else ""
    return f"f{m.number} {'->' if m.write else '<-'} {m.buffer}: {loops} bytes{times}"


def _items(items: tuple[Item, ...], nest: StreamNest, pad: str) -> Iterator[str]:
    for item in items:
        match item:
            case Compute():
                kind = f"{item.type.dtype}" + (f"x{item.type.lanes}" if item.type.lanes > 1 else "")
                yield f"{pad}f{item.dest} = {item.op} {kind} {', '.join(f'f{a}' for a in item.args)}"
            case Transfer():
                place = f"{_pointer(item.pointer, nest)} + {item.offset}"
                yield f"{pad}{place} = f{item.register}" if item.store else f"{pad}f{item.register} = {place}"
            case Launch():
                yield f"{pad}launch f{item.mover} at {_pointer(item.pointer, nest)} + {item.offset}"
            case Loop():
                word = "frep" if item.frep else "loop"
                yield f"{pad}{word} {' '.join(item.names)}: {item.count}"
                yield from _items(item.body, nest, pad + "  ")
                for pointer, amount in item.steps:
                    yield f"{pad}  {_pointer(pointer, nest)} += {amount}"


def _pointer(number: int, nest: StreamNest) -> str:
    argument, base = nest.pointers[number]
    return f"p{number}({nest.arguments[argument].buffer}{f' + {base}' if base else ''})"
