"""Nests that are one instruction of a GPU's tensor cores, which the 32 threads of a warp do together.

    i:16@mma j:16 r[{i},{j}] = 0.0                                             fill
    i:16@mma j:16 r[{i},{j}] = c[{i},{j}]                                      load
    i:16@mma j:16 k:16 r[{i},{j}] += f32(a[{i},{k}]) * f32(b[{k},{j}])         product
    i:16@mma j:16 c[{i},{j}] = r[{i},{j}]                                      store

r lies in space `fragment`: its elements are numbers of matrices and, as the lowest digits of two indices, of
rows and columns in one. The threads of a warp hold each matrix together, which does not say who has what.
Source: CUDA C++ Programming Guide, Warp Matrix Functions, Element Types and Matrix Sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import NamedTuple

from perfdojo.compiler.analysis.accesses import Access, Model
from perfdojo.compiler.analysis.affine import Affine
from perfdojo.compiler.dtypes import BF16, F16, F32, DType
from perfdojo.compiler.ir import Cast, Expr, Literal, Load, Op, Scope, Statement
from perfdojo.compiler.walk import const_int

SIDE = 16
"""Rows and columns of a sum."""
DEPTH = {F16: 16, BF16: 16, F32: 8}
"""Steps of a product by the type of its factors; those in f32 are rounded to tf32, 11 bits."""
ROW_BYTES, FIRST_BYTES = 16, 32
"""Neighbouring rows of a matrix in memory are a multiple of that apart, its first element is at one."""

Kind = OneOf["fill", "load", "store", "product"]


class Why(NamedTuple):
    """What keeps a nest from being an instruction: number of a condition of the move `mma`, a sentence."""

    condition: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Elements that an instruction accesses: `rows` and `columns` are scopes of its nest.

    Attributes:
        sides: dimensions of a fragment whose lowest digits they are; () in memory.
    """

    access: Access
    rows: str
    columns: str
    sides: tuple[int, ...] = ()

    @property
    def buffer(self) -> str:
        """The buffer that it is in."""
        return self.access.load.buffer


@dataclass(frozen=True, slots=True, eq=False)
class TensorOp:
    """One instruction.

    Attributes:
        fragment: the matrix that the warp holds: the sum of a product.
        memory: the matrix that is loaded or stored; the left and the right factor of a product.
        value: what a matrix is filled with.
        factors: type of the factors of a product.
    """

    kind: Kind
    scope: Scope
    statement: Statement
    fragment: Matrix
    memory: tuple[Matrix, ...] = ()
    value: float = 0.0
    factors: DType | None = None


class Lines(NamedTuple):
    """How a matrix lies in memory: rows (else columns) of neighbouring elements, `step` apart."""

    by_rows: bool
    step: int


def tensor_op(known: Model, scope: Scope) -> TensorOp | Why:
    """Return the instruction that a nest means, whatever its marks; where its memory lies aside."""
    extents: dict[str, int] = {}
    node: Scope | Statement = scope
    while isinstance(node, Scope):
        extents[node.name] = const_int(node.extent)
        if len(node.body) > 1:
            return Why(5, f"scope {node.name} holds more than one statement")
        node = node.body[0]
    s = node
    if s.guard is not None:
        return Why(5, f"{s.name} has a guard")
    accesses = next(group for group in known.accesses if group[-1].statement.name == s.name)
    target, read = accesses[-1], [a for a in accesses if a.kind == "read"]
    kind = _kind(known, s)
    if kind is None:
        what = "no fill, load or store of a matrix in space(fragment), and no sum of products into one"
        return Why(5, f"{s.name} is {what}")
    held = read[0] if kind == "store" else target
    factors = known.buffers[read[0].load.buffer].dtype if kind == "product" else None
    why = _types(known, s, kind, held, read, target)
    if why is not None:
        return why
    wanted = [SIDE, SIDE] if factors is None else [SIDE, SIDE, DEPTH[factors]]
    if sorted(extents.values()) != sorted(wanted):
        found = " ".join(map(str, extents.values()))
        return Why(6, f"the scopes have {found} iterations, not {' '.join(map(str, wanted))}")
    fragment = _fragment(known, held, extents)
    if isinstance(fragment, Why):
        return fragment
    if kind == "fill":
        assert isinstance(s.value, Literal)
        return TensorOp(kind, scope, s, fragment, value=float(s.value.value))
    rows, columns = fragment.rows, fragment.columns
    if kind != "product":
        memory = target if kind == "store" else read[0]
        return TensorOp(kind, scope, s, fragment, (Matrix(memory, rows, columns),))
    (depth,) = extents.keys() - {rows, columns}
    left, right = read if rows in _scopes(read[0]) else read[::-1]
    matrices = Matrix(left, rows, depth), Matrix(right, depth, columns)
    for m, other in zip(matrices, (columns, rows), strict=True):
        if other in _scopes(m.access):
            return Why(
                8, f"{m.buffer} is indexed by all of {' '.join(extents)}: {s.name} is no product of matrices"
            )
    return TensorOp(kind, scope, s, fragment, matrices, factors=factors)


def _kind(known: Model, s: Statement) -> Kind | None:
    """Return what a statement could be, by its shape and where its buffers lie."""
    fragment = _in_fragment(known, s.target)
    if s.op == "=" and fragment and isinstance(s.value, Literal):
        return "fill"
    if s.op == "=" and isinstance(s.value, Load) and fragment != _in_fragment(known, s.value):
        return "load" if fragment else "store"
    product = isinstance(s.value, Op) and s.value.op == "mul" and all(map(_factor, s.value.args))
    return "product" if s.op == "+=" and fragment and product else None


def _in_fragment(known: Model, load: Load) -> bool:
    return known.buffers[load.buffer].space == "fragment"


def _factor(e: Expr) -> bool:
    return isinstance(e.arg if isinstance(e, Cast) and e.dtype == F32 else e, Load)


def _types(
    known: Model, s: Statement, kind: Kind, held: Access, read: Sequence[Access], target: Access
) -> Why | None:
    """Return why tensor cores have no instruction of that kind for these types."""
    types = {a.load.buffer: known.buffers[a.load.buffer].dtype for a in (*read, target)}
    if len(read) != {"fill": 0, "product": 2}.get(kind, 1):
        return Why(8, f"other elements say where {s.name} has its matrices")
    if types[held.load.buffer] != F32:
        return Why(7, f"{held.load.buffer} is {types[held.load.buffer]}, and sums are f32")
    if kind != "product":
        return None
    one, two = (types[a.load.buffer] for a in read)
    if one != two or one not in DEPTH:
        return Why(7, f"{s.name} multiplies {one} by {two}; factors are both f16, both bf16 or both f32")
    for a in read:
        if _in_fragment(known, a.load):
            return Why(7, f"{a.load.buffer} is a factor, which lies in memory, not in fragment")
    return None


def _scopes(access: Access) -> set[str]:
    return {s for form in access.indices for s in form.scopes()}


def _fragment(known: Model, access: Access, extents: dict[str, int]) -> Matrix | Why:
    """Return the matrix that an access is in: two indices end in iterations of the nest."""
    name = access.load.buffer
    sides: dict[int, str] = {}
    for d in known.stored(name):
        form = access.indices[d]
        here = [s for s in form.scopes() if s in extents]
        if not here:
            continue
        (scope, *more) = here
        rest = [form.const, *(c for t, c in form.terms.items() if t != scope)]
        if more or form.terms.get(scope) != 1 or any(n % SIDE for n in rest) or extents[scope] != SIDE:
            return Why(8, f"index {d} of {name} is no multiple of {SIDE} plus an iteration of 16")
        sides[d] = scope
    if len(sides) != 2 or len(set(sides.values())) != 2:
        return Why(8, f"{name} is not indexed by the iterations of two scopes, each in an index of its own")
    (d, rows), (e, columns) = sides.items()
    return Matrix(access, rows, columns, (d, e))


def lines_of(known: Model, m: Matrix, form: Affine) -> Lines | Why:
    """Return how a matrix in memory lies, given its offset in elements as a linear form."""
    name, size = m.buffer, known.buffers[m.buffer].dtype.bytes
    found = {s: form.terms.get(s, 0) for s in (m.rows, m.columns)}
    for s, step in found.items():
        if sum(1 for other in form.scopes() if other == s) != 1 or step <= 0:
            return Why(9, f"{name} does not move evenly with scope {s}")
    if 1 not in found.values():
        return Why(9, f"neither rows nor columns of {name} are neighbours in memory")
    by_rows = found[m.columns] == 1
    across, along = (m.rows, m.columns) if by_rows else (m.columns, m.rows)
    step, kind = found[across], "rows" if by_rows else "columns"
    if step < const_int(known.scopes[along].extent):
        return Why(9, f"{kind} of {name} lie over each other, {step} elements apart")
    if step * size % ROW_BYTES:
        return Why(9, f"{kind} of {name} are {step * size} bytes apart, no multiple of {ROW_BYTES}")
    for number in (form.const, *(c for t, c in form.terms.items() if t not in found)):
        if number * size % FIRST_BYTES:
            begin = f"begin at multiples of {abs(number) * size} bytes, not of {FIRST_BYTES}"
            return Why(9, f"matrices of {name} {begin}")
    return Lines(by_rows, step)


def misplaced(known: Model, op: TensorOp, offset: Callable[[Access], Affine]) -> Why | None:
    """Return why matrices in memory do not lie as an instruction takes them."""
    for m in op.memory:
        found = lines_of(known, m, offset(m.access))
        if isinstance(found, Why):
            return found
    return None
