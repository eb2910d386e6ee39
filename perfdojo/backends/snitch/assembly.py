"""A stream nest as lines of assembly: settings of the movers, loops, what ends it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from perfdojo.backends.snitch.buffer import at_start, must_be_empty
from perfdojo.backends.snitch.movers import Setting, settings
from perfdojo.backends.snitch.spelling import FP_NAMES, instruction
from perfdojo.compiler.lowering.nests.limits import SAVED
from perfdojo.compiler.lowering.nests.nest import (
    Compute,
    Constant,
    Item,
    Launch,
    Loop,
    Mover,
    StreamNest,
    Transfer,
    registers,
)

IMMEDIATE = 2048
POINTER_WORDS = {False: "RPTR", True: "WPTR"}

_ZEROS = {"f64": "fcvt.d.w", "f32": "fmv.w.x"}
"""Instructions that make 0 of x0, by element type."""


@dataclass(frozen=True, slots=True)
class Text:
    """A line: an instruction or a label, and what is said about it."""

    code: str
    comment: str = ""


@dataclass(slots=True)
class Routine:
    """The text of one nest.

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
    lines: list[Text] = field(default_factory=list)
    pool: list[tuple[str, str]] = field(default_factory=list)
    """Constants that are loaded: label, and value as hexadecimal digits of 64 bits."""
    _free: list[str] = field(default_factory=list)
    _pointers: list[str] = field(default_factory=list)
    _counts: dict[int, str] = field(default_factory=dict)
    _labels: int = 0
    _waiting: int = 0
    """FP instructions that may be in the FPU's buffer."""

    def written(self) -> list[Text]:
        """Return the lines of the nest, without a return."""
        nest = self.nest
        self._free = [*self.spare, *(f"t{k}" for k in range(6, 0, -1))]
        saved = sorted(registers(nest) & SAVED)
        self._save(saved)
        if self.called:
            self._say("fmv.x.w t0, ft3", "the caller's FP stores have been issued")
            self._say("mv t0, t0")
            self._say("fence", "and done: streams do not wait for them")
        issued = self._free.pop() if self.first else ""
        if issued:
            self._say(f"fmv.x.w {issued}, ft3", "streams do not wait for the caller's FP stores:")
        self._place_pointers()
        self._configure()
        if issued:
            start = next((k for k, line in enumerate(self.lines) if "PTR" in line.code), len(self.lines))
            self.lines.insert(start, Text(f"mv {issued}, {issued}", "they have been issued"))
            self._free.append(issued)
        self._items(nest.body, top=True, skip=self._launched())
        self._close()
        self._restore(saved)
        return self.lines

    def _say(self, code: str, comment: str = "") -> None:
        self.lines.append(Text(code, comment))

    # ------------------------------------------------------------ registers

    def _save(self, saved: list[int]) -> None:
        if saved:
            self._say(f"addi sp, sp, -{_frame(saved)}")
            for k, r in enumerate(saved):
                self._say(f"fsd {FP_NAMES[r]}, {8 * k}(sp)")

    def _restore(self, saved: list[int]) -> None:
        if saved:
            for k, r in enumerate(saved):
                self._say(f"fld {FP_NAMES[r]}, {8 * k}(sp)")
            self._say(f"addi sp, sp, {_frame(saved)}")

    def _place_pointers(self) -> None:
        """Give each pointer a register: its argument's where nothing else starts from that."""
        moving = {p for loop in _loops(self.nest.body) for p, _ in loop.steps}
        for number, (argument, base) in enumerate(self.nest.pointers):
            register = self.arguments[argument]
            alone = sum(a == argument for a, _ in self.nest.pointers) == 1 and not self.shared
            if (number in moving and not alone) or (base and not alone):
                own = self._free.pop()
                self._add(own, register, base)
                register = own
            elif base:
                self._add(register, register, base)
            self._pointers.append(register)

    def _add(self, to: str, register: str, amount: int) -> None:
        """Add a number to a register; t0 holds one that is too large for the instruction."""
        if amount == 0:
            self._say(f"mv {to}, {register}")
        elif -IMMEDIATE <= amount < IMMEDIATE:
            self._say(f"addi {to}, {register}, {amount}")
        else:
            self._say(f"li t0, {amount}")
            self._say(f"add {to}, {register}, t0")

    # ------------------------------------------------------------ before the loops

    def _launched(self) -> int:
        """Return how many items at the start of the body are launches; they are part of the settings."""
        count = 0
        for item in self.nest.body:
            if not isinstance(item, Launch):
                break
            count += 1
        return count

    def _configure(self) -> None:
        """Write settings and launch what is read, then the rest while the first elements are on the way."""
        nest = self.nest
        first = [item for item in nest.body[: self._launched()] if isinstance(item, Launch)]
        reads = {m.number for m in nest.movers if not m.write}
        for m in nest.movers:
            self._say("", describe(m))
        kept = {loop.count - 1 for loop in _loops(nest.body) if loop.frep}
        wanted = settings(nest.movers)
        early = [s for s in wanted if not reads or s.movers & reads]
        late = [s for s in wanted if s not in early]
        self._settings(early, kept)
        for item in first:
            if item.mover in reads:
                self._launch(item)
        self._settings(late, kept)
        for item in first:
            if item.mover not in reads:
                self._launch(item)
        for constant in nest.setup:
            self._constant(constant)
        for count in sorted(kept - self._counts.keys(), reverse=True):
            self._count(count)
        self._say("csrrsi x0, SSR, 1", "ft0, ft1 and ft2 are streams from here on")

    def _settings(self, wanted: list[Setting], kept: set[int]) -> None:
        """Write settings, those of one value after each other."""
        values = list(dict.fromkeys(s.value for s in wanted))
        for value in values:
            register = "x0" if value == 0 else "t0"
            if value in kept and value:
                register = self._count(value)
            elif value:
                self._say(f"li t0, {value}")
            for s in wanted:
                if s.value == value:
                    self._say(f"scfgwi {register}, {s.word}, {s.target}")

    def _count(self, value: int) -> str:
        """Return a register that holds the number of additional passes of an FPU loop."""
        if value == 0:
            return "x0"
        if value not in self._counts:
            register = self._counts[value] = self._free.pop()
            self._say(f"li {register}, {value}")
        return self._counts[value]

    def _constant(self, c: Constant) -> None:
        name = FP_NAMES[c.register]
        packed = c.type.lanes > 1
        zero = c.value == 0 and c.value.hex() == "0x0.0p+0"
        if zero and (packed or c.type.dtype.name in _ZEROS):
            # a narrow zero has ones above it, else it is a NaN
            self._say(f"{_ZEROS['f64' if packed else c.type.dtype.name]} {name}, x0", "0")
            return
        if not packed and c.type.dtype.name == "f64" and c.value == int_or_none(c.value):
            self._say(f"li t0, {int(c.value)}")
            self._say(f"fcvt.d.w {name}, t0", f"{c.value}")
            return
        label = f".L{self.label}_c{len(self.pool)}"
        self.pool.append((label, bits(c)))
        self._say(f"la t0, {label}")
        self._say(f"fld {name}, 0(t0)", f"{c.value}" + (f" in {c.type.lanes} lanes" if packed else ""))

    # ------------------------------------------------------------ loops

    def _items(self, items: tuple[Item, ...], top: bool = False, skip: int = 0) -> None:
        for item in items[skip:]:
            match item:
                case Compute():
                    self._say(instruction(item))
                    self._waiting += 1
                case Transfer():
                    self._transfer(item)
                    self._waiting += 1
                case Launch():
                    self._launch(item)
                case Loop():
                    if item.frep:
                        self._repeat(item)
                    else:
                        self._loop(item, top)

    def _repeat(self, item: Loop, outermost: bool = True) -> None:
        """A loop of the FPU, or one in it."""
        if outermost and must_be_empty(item, self._waiting):
            self._say("csrrsi x0, SSR, 1", "waits until all before it is issued: loops need an empty buffer")
        self._say(f"frep_o {self._count(item.count - 1)}, {_size(item.body)}", _passes(item))
        for inner in item.body:
            if isinstance(inner, Loop):
                self._repeat(inner, outermost=False)
            else:
                self._items((inner,))
        self._waiting = 0

    def _transfer(self, t: Transfer) -> None:
        register, pointer = FP_NAMES[t.register], self._pointers[t.pointer]
        offset = t.offset
        if not -IMMEDIATE <= offset < IMMEDIATE:
            self._add("t0", pointer, offset)
            pointer, offset = "t0", 0
        name = {8: "d", 4: "w", 2: "h"}[t.bytes]
        what = f"fs{name}" if t.store else f"fl{name}"
        self._say(f"{what} {register}, {offset}({pointer})")

    def _launch(self, item: Launch) -> None:
        register = self._pointers[item.pointer]
        mover = next(m for m in self.nest.movers if m.number == item.mover)
        if item.offset:
            self._add("t0", register, item.offset)
            register = "t0"
        self._say(f"scfgwi {register}, {POINTER_WORDS[mover.write]}{len(mover.bounds) - 1}, {item.mover}")

    def _loop(self, item: Loop, top: bool) -> None:
        """A loop of the integer core: up to the end of a pointer where it is outermost, else counted."""
        self._labels += 1
        label = f".L{self.label}_{self._labels}"
        counter = self._free.pop()
        # a pointer that loops inside move too does not tell how far this one is
        inner = {p for loop in _loops(item.body) for p, _ in loop.steps}
        own = [s for s in item.steps if s[0] not in inner]
        ended = own[0] if top and own else None
        if ended is not None:
            self._add(counter, self._pointers[ended[0]], ended[1] * item.count)
        else:
            self._say(f"li {counter}, {item.count}")
        self._say(f"{label}:", _passes(item))
        self._waiting = at_start(item, self._waiting)
        self._items(item.body)
        for pointer, amount in item.steps:
            self._add(self._pointers[pointer], self._pointers[pointer], amount)
        if ended is not None:
            self._say(f"bne {self._pointers[ended[0]]}, {counter}, {label}")
        else:
            self._say(f"addi {counter}, {counter}, -1")
            self._say(f"bnez {counter}, {label}")
        self._free.append(counter)

    # ------------------------------------------------------------ behind the loops

    def _close(self) -> None:
        self._say("csrrci x0, SSR, 1", "in the order of FP instructions, like the start")
        if not (self.called or self.waits or self.last):
            return
        self._say("fmv.x.w t0, ft3", "the FPU has issued everything")
        self._say("mv t0, t0")
        for m in self.nest.movers:
            # a function that is nothing but nests returns later than its last word arrives
            if m.write and (self.called or self.waits):
                self._labels += 1
                label = f".L{self.label}_{self._labels}"
                self._say(f"li t0, {m.number}")
                self._say(f"{label}:", "until the last word is in memory")
                self._say("scfgr t1, t0")
                self._say(f"bgez t1, {label}")


def _frame(saved: list[int]) -> int:
    return -(-8 * len(saved) // 16) * 16


def _loops(items: tuple[Item, ...]) -> Iterator[Loop]:
    for item in items:
        if isinstance(item, Loop):
            yield item
            yield from _loops(item.body)


def _size(items: tuple[Item, ...]) -> int:
    """Return the instructions of the body of an FPU loop; a loop inside counts none for itself."""
    return sum(_size(i.body) if isinstance(i, Loop) else 1 for i in items)


def _passes(item: Loop) -> str:
    return f"{' '.join(item.names)}: {item.count} times"


def int_or_none(value: float) -> int | None:
    """Return a float as the integer of 32 bits that is converted to it; None if there is none."""
    if value != value or abs(value) >= 2.0**31 or value != int(value) or value.hex() == "-0x0.0p+0":
        return None
    return int(value)


def bits(c: Constant) -> str:
    """Return the 64 bits of a constant in hexadecimal: all lanes, or one value below a box of ones."""
    letter = {"f64": "d", "f32": "f", "f16": "e"}[c.type.dtype.name]
    one = struct.pack("<" + letter, c.value)
    whole = one * c.type.lanes
    return "0x" + whole.ljust(8, b"\xff")[::-1].hex()


def describe(m: Mover) -> str:
    """Return what a stream carries, in words."""
    loops = " in ".join(f"{n} every {s} bytes" for n, s in zip(m.bounds, m.strides, strict=True))
    times = f", each {m.repeat} times" if m.repeat > 1 else ""
    return f"ft{m.number} {'to' if m.write else 'from'} {m.buffer}: {loops}{times}"
