"""Reuse dims: dimensions of a buffer that share one storage (contraction, folding)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import Model, model
from perfdojo.compiler.analysis.dependence import is_private
from perfdojo.compiler.analysis.lifetimes import Intruder, remembered, sharing_dims
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Program
from perfdojo.compiler.transforms._storage import (
    UNDECIDED,
    broken_mark,
    common_of,
    marked_around,
    with_buffers,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_buffer
from perfdojo.compiler.transforms.spelling import arg

_FEW = 4
"""Accesses to a buffer up to which candidates may be decided by integer sets; a pair takes about 1 ms."""


@dataclass(frozen=True, slots=True)
class ReuseDims(Transform):
    """Let all indices along some dimensions of a buffer share one storage, where none outlives the next.

        reuse_dims t [0]
        tmp t: f32[B, N]   ->   tmp t: f32[B, N] reuse(0)

    0. t is a buffer.
    1. t is a tmp.
    2. The dimensions are materialised ones of t, each named once.
    3. (D) No read sees another value: between a write of an element and its last read nothing else writes to
       the same storage.
    4. Scopes marked as concurrent stay so.
    """

    aliases = ("fold_buffer", "contract_array")

    buffer: str = arg("buffer")
    dims: tuple[int, ...] = arg("ints")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        known = model(program)
        found = (
            cls(b.name, (d,))
            for b in program.buffers
            if b.role == "tmp"
            for d in known.stored(b.name)
            if per_iteration(known, b.name, (d,), exact=False) or _rolls(known, b.name, d)
        )
        yield from legal(found, program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        known, buffer = model(program), program.buffer(self.buffer)
        if buffer.role != "tmp":
            yield Violation(1, f"{self.buffer} is an '{buffer.role}' buffer, whose elements all count")
        yield from wrong_dims(self.buffer, self.dims, known.stored(self.buffer), "materialised")
        try:
            found = reused(known, self.buffer, self.dims)
        except Undecided:
            yield Violation(3, f"whether {self.buffer} can do without them is open: {UNDECIDED}")
            return
        if found is not None:
            shown = " ".join(map(str, self.dims))
            yield Violation(3, f"without dimension {shown} of {self.buffer}, {found}")
        if reason := broken_mark(self.rewrite(program), marked_around(known, self.buffer)):
            yield Violation(4, reason)

    def rewrite(self, program: Program) -> Program:
        buffer = program.buffer(self.buffer)
        return with_buffers(program, (replace(buffer, reuse=tuple(sorted({*buffer.reuse, *self.dims}))),))


def wrong_dims(name: str, dims: Sequence[int], among: Sequence[int], kind: str) -> Iterator[Violation]:
    """Yield condition 2, that dimensions are distinct ones of some, where it does not hold."""
    if not dims:
        yield Violation(2, f"no dimension of {name} is named")
    for n, d in enumerate(dims):
        if d not in among:
            listed = " ".join(map(str, among)) or "none"
            yield Violation(2, f"dimension {d} of {name} is not a {kind} one; these are {listed}")
        if d in dims[:n]:
            yield Violation(2, f"dimension {d} is named twice")


def reused(known: Model, buffer: str, dims: Sequence[int]) -> Intruder | None:
    """Return a read that would see another value if dimensions were reused; None when none would.

    Raises:
        Undecided: the sets are too complicated.
    """

    def answer() -> Intruder | None:
        return None if per_iteration(known, buffer, dims) else sharing_dims(known, buffer, dims)

    return remembered(known, ("reused", buffer, tuple(dims)), answer)


def _rolls(known: Model, buffer: str, d: int) -> bool:
    """True when few accesses move along a dimension with scopes around all of them, as those of a scan do."""
    accesses = known.by_buffer.get(buffer, ())
    around = {s.name for s in common_of(known, buffer)}
    return len(accesses) <= _FEW and all(around.issuperset(a.indices[d].scopes()) for a in accesses)


def per_iteration(known: Model, buffer: str, dims: Sequence[int], exact: bool = True) -> bool:
    """True when dimensions are indexed alike everywhere, by scopes whose iterations write before they read.

    Then each read sees the value of the element that it names whether the dimensions are storage or not.
    """
    accesses = known.by_buffer.get(buffer, [])
    if not accesses:
        return True
    forms = [accesses[0].indices[d] for d in dims]
    if any(
        not f.quasi_affine or a.indices[d] != f for f, d in zip(forms, dims, strict=True) for a in accesses
    ):
        return False
    common = [s.name for s in common_of(known, buffer)]
    used = {s for f in forms for s in f.scopes()}
    if not used:
        return True
    if not used.issubset(common):
        return False
    innermost = max(used, key=common.index)
    try:
        return is_private(known, innermost, buffer, exact)
    except Undecided:
        return False


TRANSFORM = ReuseDims
