"""A stream nest as data: what `backends/snitch` prints and nothing else decides.

Registers are numbers of FP registers; 0, 1 and 2 are streams: reading one takes its next element, writing one
appends to it. A pointer is an argument of the nest, at first, and moves with the loops that say so.
"""

from __future__ import annotations

from dataclasses import dataclass

from perfdojo.compiler.lowering.lir import VType


@dataclass(frozen=True, slots=True)
class Mover:
    """One data mover: what it reads or writes each time that it is launched.

    Attributes:
        number: of the register that it is bound to.
        repeat: times that each element is delivered, 1 to 16; 1 when it writes.
        bounds, strides: iterations and distance in bytes of 1 to 4 loops, innermost first. A distance is
            that between neighbours of its own loop; the hardware's excludes what the inner loops have moved.
    """

    number: int
    buffer: str
    write: bool
    repeat: int
    bounds: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Words of 64 bits of one launch, repetitions not counted."""
        count = 1
        for n in self.bounds:
            count *= n
        return count


@dataclass(frozen=True, slots=True)
class Compute:
    """An FP instruction: `dest = op(args)`.

    `op`: copy neg abs add sub mul minnum maxnum sqrt div; multiply-adds with signs, `fma` a*b+c, `fms` a*b-c,
    `nfma` -(a*b)-c, `nfms` -(a*b)+c; in several lanes also mac (dest += a*b), msub (dest -= a*b), splat,
    reduce_add (neighbouring lanes of a are added to the lower lanes of dest), pack (a and b, scalars). One
    that ends in `:r` takes the first lane of its last operand for all. `nan` asks whether a is none: the
    last instruction of its nest, whose result is in a0.
    """

    op: str
    type: VType
    dest: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Transfer:
    """A load or store by the FPU's own port: `bytes` bytes at `offset` from a pointer."""

    store: bool
    register: int
    pointer: int
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A register gets a value, the same in all lanes of its type."""

    register: int
    value: float
    type: VType


@dataclass(frozen=True, slots=True)
class Launch:
    """A mover starts its pattern at `offset` bytes from a pointer, or queues it behind the one that runs."""

    mover: int
    pointer: int
    offset: int


@dataclass(frozen=True, slots=True)
class Loop:
    """`body`, `count` times: by the FPU from its buffer when `frep`, else by the integer core.

    `steps`: (pointer, bytes) that move at the end of each iteration. `names`: the scopes, outermost first.
    """

    names: tuple[str, ...]
    count: int
    frep: bool
    body: tuple[Item, ...]
    steps: tuple[tuple[int, int], ...] = ()


Item = Compute | Transfer | Launch | Loop


@dataclass(frozen=True, slots=True)
class Argument:
    """A pointer that the caller passes: to a buffer, or some elements behind its start."""

    buffer: str
    terms: tuple[tuple[str, int], ...] = ()
    """Counters of loops around the nest, or arithmetic on them (`Arena.outer`), and elements for each."""


@dataclass(frozen=True, slots=True)
class StreamNest:
    """One nest.

    Attributes:
        arguments: what the caller passes, in this order.
        pointers: (number of an argument, bytes behind it) that each pointer starts as.
        movers: in the order of their numbers.
        setup: constants in front of the loops.
        body: the rest.
    """

    arguments: tuple[Argument, ...]
    pointers: tuple[tuple[int, int], ...]
    movers: tuple[Mover, ...]
    setup: tuple[Constant, ...]
    body: tuple[Item, ...]

    @property
    def checks(self) -> bool:
        """Whether it tells if a NaN was among what maxima and minima were given, and its results are none."""
        return any(isinstance(item, Compute) and item.op == "nan" for item in self.body)


def issued(items: tuple[Item, ...]) -> int:
    """Return the FP instructions that a body issues, FREP repetitions counted."""
    total = 0
    for item in items:
        if isinstance(item, Loop):
            total += item.count * issued(item.body)
        elif not isinstance(item, Launch):
            total += 1
    return total


def registers(nest: StreamNest) -> frozenset[int]:
    """Return the FP registers that a nest changes, those of streams aside."""
    found = {c.register for c in nest.setup}

    def look(items: tuple[Item, ...]) -> None:
        for item in items:
            if isinstance(item, Loop):
                look(item.body)
            elif isinstance(item, Compute):
                found.add(item.dest)
            elif isinstance(item, Transfer) and not item.store:
                found.add(item.register)

    look(nest.body)
    return frozenset(found - {0, 1, 2})
