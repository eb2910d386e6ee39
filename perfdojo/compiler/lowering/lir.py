"""The target IR: loops, registers, loads, stores, lanes. Lowering decides it, a backend prints it.

Values are typed by element type and number of lanes; one lane is a scalar. An f16 or bf16 value is an f32
that has been rounded to its type after each operation; only loads and stores see the 16 bits. Offsets are
scalar i64 expressions, in elements. A bool value with several lanes is a mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from perfdojo.compiler.dtypes import BOOL, I64, DType

if TYPE_CHECKING:
    from perfdojo.compiler.lowering.nests.nest import StreamNest


@dataclass(frozen=True, slots=True)
class VType:
    """Element type and lanes of a value."""

    dtype: DType
    lanes: int = 1


INDEX = VType(I64)
FLAG = VType(BOOL)

# ---------------------------------------------------------------- values


@dataclass(frozen=True, slots=True)
class Var:
    """A local variable or loop counter."""

    name: str
    type: VType


@dataclass(frozen=True, slots=True)
class Const:
    """A constant, the same in every lane."""

    value: int | float | bool
    type: VType


@dataclass(frozen=True, slots=True)
class Load:
    """`lanes` neighbouring elements from `offset` on; lanes outside `mask` are 0 and not touched in memory.

    With `lane_offset` (a vector of i64 or i32, elements) lane k reads `offset + lane_offset[k]`: a gather.
    """

    buffer: str
    offset: Value
    type: VType
    mask: Value | None = None
    lane_offset: Value | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on values of equal lanes.

    `op` is a name of `ops.OPS`, or one of:
        splat(scalar)               the scalar in every lane
        cast(value)                 conversion to `type` by the rules of the language
        iota()                      0, 1, 2, ... (i64 or i32 lanes)
        first(count)                mask of the lanes below the scalar i64 `count`
        reduce_add reduce_mul reduce_max reduce_min(vector)    a scalar from all lanes, pairwise
        warp_add warp_max ...(value)    from the values of all threads of a warp of a GPU, pairwise, in each
        zip_low:d(a, b)             lane k is lane k of a where bit d of k is clear, else lane k - d of b
        zip_high:d(a, b)            lane k is lane k + d of a where bit d of k is clear, else lane k of b
        cycle:n()                   0, 1, .. n-1, 0, 1, ...: only as the `lane_offset` of a load
        dot:i8(sum, a, b)           lane k is lane k of sum, plus the products of lanes 4k to 4k+3 of a and b;
                                    dot:u8: those of a are u8; dot:bf16: of lanes 2k and 2k+1, i16 lanes that
                                    are the bits of bf16, into f32, see `interpret/bound_tensor.py`
        biased(a)                   u8 lanes, i8 lanes plus 128
        evens(a, b) odds(a, b)      every second lane of a and then of b, from the first or the second one on
        fma(a, b, c)                also made from mul and add at level `contract` and above, with neg around
                                    a or c for subtractions (several lanes)
        mad(a, b, c)                the same in one lane: a * b + c, fused or not, whichever is faster; in
                                    several where the target `accumulates`
        iadd isub imul ineg         index arithmetic that is known not to overflow (one lane)
        idiv imod                   quotient and remainder of an index that is known not to be negative by a
                                    positive constant (one lane)

    `select` takes a mask (both values are computed) or a one-lane condition (only the chosen one is).
    and, or, not work on masks too. Integers wrap.
    """

    op: str
    args: tuple[Value, ...]
    type: VType


Value = Var | Const | Load | Call


def children(value: Value) -> tuple[Value, ...]:
    """Return the direct operands of a value."""
    if isinstance(value, Call):
        return value.args
    if isinstance(value, Load):
        return tuple(v for v in (value.offset, value.mask, value.lane_offset) if v is not None)
    return ()


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class For:
    """`for (var = start; var < stop; var += step)`; `parallel` spreads iterations over threads.

    Each thread has its own copy of the temporaries in `private`; their `Allocate` says how many there are.
    With `fenced` each of the threads ends with a `Fence`. The compiler is to write out `unroll` iterations,
    1: none but the loop's own, 0: as it thinks best. `frep`: the FPU is to repeat it, inside of a `Stream`.
    With `cores` over 1 a parallel loop is one of a cluster: core h runs iterations h, h + cores, ...
    """

    var: Var
    start: Value
    stop: Value
    step: int
    body: tuple[Stmt, ...]
    parallel: bool = False
    private: tuple[str, ...] = ()
    fenced: bool = False
    unroll: int = 0
    frep: bool = False
    cores: int = 1


@dataclass(frozen=True, slots=True)
class Let:
    """Defines a variable; `mutable` ones are registers that `Set` changes later."""

    var: Var
    value: Value
    mutable: bool = False


@dataclass(frozen=True, slots=True)
class Set:
    """A register gets a new value."""

    var: Var
    value: Value


@dataclass(frozen=True, slots=True)
class Store:
    """Writes the lanes of `value` to neighbouring elements from `offset` on, those inside `mask` only.

    `streamed`: past the caches where the elements lie on the boundaries that the hardware wants;
    `stream_line`: only where they are a whole line, as the rest of it may come much later.
    """

    buffer: str
    offset: Value
    value: Value
    mask: Value | None = None
    streamed: Literal["", "stream", "stream_line"] = ""


@dataclass(frozen=True, slots=True)
class If:
    """`body` runs where the scalar bool holds."""

    condition: Value
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Allocate:
    """A temporary for the rest of the block: `elems` elements in `space` (stack or heap), 64-byte aligned.

    In space `fragment` they are matrices, which the threads of a warp hold together.

    One on the heap stands at the beginning of the function; with `copies` there is one for each thread.
    """

    buffer: str
    dtype: DType
    elems: int
    space: str
    copies: int = 1


@dataclass(frozen=True, slots=True)
class Comment:
    """A line for the reader of the emitted code, such as the statement of the kernel that follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Fetches the cache line of an element; `offset` may lie outside the buffer, nothing happens then."""

    buffer: str
    offset: Value


@dataclass(frozen=True, slots=True)
class Fence:
    """Streamed stores before it are seen by other threads before whatever this one does after it."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A nest of loops that data movers feed.

    Attributes:
        scope: the scope that it was.
        pointers: offset in elements of each argument of the nest in its buffer.
        read, written: buffers.
        otherwise: what is to be run, after the nest, where this tells that it met a NaN.
    """

    scope: str
    nest: StreamNest
    pointers: tuple[Value, ...]
    read: frozenset[str]
    written: frozenset[str]
    otherwise: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """What some harts of a cluster do, where all of them run the function; the others go on behind it.

    Attributes:
        who: `first`, the first core alone; `cores`, each of them its own iterations of the `For` with `cores`
            in it; `dma`, the hart of the DMA engine.
        private: temporaries of which each core has a copy; their `Allocate` says how many there are.
    """

    who: Literal["first", "cores", "dma"]
    body: tuple[Stmt, ...]
    private: tuple[str, ...] = ()


def thread_number(dimension: str) -> str:
    """Return the name of the variable that is the number of a thread along a dimension of its block."""
    return f"thread_{dimension.removeprefix('block_')}"


@dataclass(frozen=True, slots=True)
class Threads:
    """What some threads of a GPU block do; the others go on behind it.

    Attributes:
        below: dimensions of the block, each with a number that those of the threads are below.
    """

    below: tuple[tuple[str, int], ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of a GPU; the next one begins when all its blocks are done.

    In its body `thread_number` names the variables that are the numbers of the thread.

    Attributes:
        blocks: (counter, dimension of the grid, iterations).
        threads: of a block along x, y and z.
        shared: temporaries of which each block has one, in its shared memory.
        each: the same in memory of the device; their `Allocate` says how many there are.
    """

    blocks: tuple[tuple[Var, str, int], ...]
    threads: tuple[int, int, int]
    shared: tuple[Allocate, ...]
    each: tuple[Allocate, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A matrix in memory: rows (else columns) of neighbouring elements, `step` elements apart."""

    buffer: str
    offset: Value
    by_rows: bool
    step: int


@dataclass(frozen=True, slots=True)
class Tensor:
    """What the threads of a warp do together on matrices that they hold.

    Attributes:
        kind: fill (with `value`), load, store, product: the matrix becomes itself + left * right; left or
            right: a factor is loaded.
        fragment: the array, in space `fragment`, of the matrix; `number` says which one of it.
        memory: what is loaded, or stored to.
        factors: array and number of the factors of a product.
        depth: columns of a left factor, rows of a right one.
    """

    kind: Literal["fill", "load", "store", "product", "left", "right"]
    fragment: str
    number: Value
    memory: tuple[Stored, ...] = ()
    value: float = 0.0
    factors: tuple[tuple[str, Value], ...] = ()
    depth: int = 0

    @property
    def read(self) -> frozenset[str]:
        """Buffers that it reads."""
        held = {self.fragment} if self.kind in ("store", "product") else set()
        held |= {name for name, _ in self.factors}
        return frozenset(held | {m.buffer for m in self.memory if self.kind != "store"})

    @property
    def written(self) -> frozenset[str]:
        """Buffers that it writes."""
        return frozenset({m.buffer for m in self.memory} if self.kind == "store" else {self.fragment})


@dataclass(frozen=True, slots=True)
class Barrier:
    """All harts of the cluster, or threads of the block, are here, and what each did before is done."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The DMA engine is given `rows` rows of `bytes` bytes to copy; it works through such orders one by one.

    On a GPU a thread copies one row by one access.

    Attributes:
        asynchronous: it goes on meanwhile, where it copies into shared memory.
        to_step, from_step: bytes from the start of one row to that of the next.
    """

    to: str
    to_offset: Value
    source: str
    from_offset: Value
    bytes: int
    rows: int = 1
    to_step: int = 0
    from_step: int = 0
    asynchronous: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """The DMA engine has done all that it was given; what this thread began to copy is done."""


Stmt = (
    For
    | Let
    | Set
    | Store
    | If
    | Allocate
    | Comment
    | Prefetch
    | Fence
    | Stream
    | Share
    | Threads
    | Kernel
    | Tensor
    | Barrier
    | Copy
    | Wait
)


@dataclass(frozen=True, slots=True)
class Function:
    """A lowered kernel. `element_types` maps every buffer, temporaries included, to its element type."""

    name: str
    body: tuple[Stmt, ...]
    element_types: tuple[tuple[str, DType], ...]
    lanes: tuple[tuple[str, int], ...] = ()
    """Scopes that became vector code and their lanes, for reports."""
    notes: tuple[str, ...] = ()
    """What was not done and why (`scope k: not vectorised, strict keeps the order of +=`)."""
