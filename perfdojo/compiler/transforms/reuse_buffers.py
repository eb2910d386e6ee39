"""Reuse buffers: one buffer lives in the storage of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.analysis.accesses import Model, common_scopes, model
from perfdojo.compiler.analysis.dependence import is_private
from perfdojo.compiler.analysis.lifetimes import Intruder, remembered, sharing_buffers
from perfdojo.compiler.analysis.undecided import Undecided
from perfdojo.compiler.ir import Buffer, Load, Program
from perfdojo.compiler.transforms._storage import (
    UNDECIDED,
    broken_mark,
    common_of,
    map_accesses,
    marked_around,
    with_buffers,
)
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, legal, no_buffer
from perfdojo.compiler.transforms.spelling import arg


@dataclass(frozen=True, slots=True)
class ReuseBuffers(Transform):
    """Let a buffer use the storage of another one, whose values are dead by then.

        reuse_buffers a b
        tmp a: f32[N]                        tmp a: f32[N]
        tmp b: f32[N]
        N a[{0}] = e; b[{0}] = exp(a[{0}])   ->   N a[{0}] = e; a[{0}] = exp(a[{0}])

    0. a and b are buffers.
    1. They are two, and both are tmp.
    2. Type, extents and the dimensions that are not materialised are the same.
    3. (D) No read sees another value: lifetimes of elements with the same indices do not overlap.
    4. Scopes marked as concurrent stay so.
    """

    aliases = ("share_storage", "reuse_buffer")

    kept: str = arg("buffer")
    gone: str = arg("buffer")

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[Transform]:
        known = model(program)
        alike: dict[tuple[object, ...], list[str]] = {}
        for b in program.buffers:
            if b.role == "tmp" and b.name in known.by_buffer:
                alike.setdefault(_kind(b), []).append(b.name)
        for names in alike.values():
            for n, a in enumerate(names):
                for b_ in names[n + 1 :]:
                    if _one_after_the_other(known, a, b_) or not sharing_buffers(known, a, b_, exact=False):
                        yield from legal((cls(a, b_),), program, setting)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.kept, self.gone)
        known = model(program)
        a, b = program.buffer(self.kept), program.buffer(self.gone)
        if a is b:
            yield Violation(1, f"{self.kept} is named twice")
        for buffer in (a, b):
            if buffer.role != "tmp":
                yield Violation(1, f"{buffer.name} is an '{buffer.role}' buffer, not a tmp")
        if _kind(a) != _kind(b):
            yield Violation(2, f"{a.name} and {b.name} differ in type, extents or reused dimensions")
        try:
            found = shared(known, a.name, b.name)
        except Undecided:
            yield Violation(3, f"whether {a.name} and {b.name} live at once is open: {UNDECIDED}")
            return
        if found is not None:
            yield Violation(3, f"with one storage for {a.name} and {b.name}, {found}")
        marked = marked_around(known, a.name, b.name)
        if marked and (reason := broken_mark(self.rewrite(program), marked)):
            yield Violation(4, reason)

    def rewrite(self, program: Program) -> Program:
        def moved(load: Load) -> Load:
            return replace(load, buffer=self.kept)

        return with_buffers(program, gone=self.gone, body=map_accesses(program.body, self.gone, moved))


def _kind(b: Buffer) -> tuple[object, ...]:
    return (b.dtype, b.shape, b.reuse)


def shared(known: Model, a: str, b: str) -> Intruder | None:
    """Return a read that would see another value if two buffers shared storage; None when none would.

    Raises:
        Undecided: the sets are too complicated.
    """

    def answer() -> Intruder | None:
        return None if _one_after_the_other(known, a, b) else sharing_buffers(known, a, b)

    return remembered(known, ("shared", a, b), answer)


def _one_after_the_other(known: Model, a: str, b: str) -> bool:
    """True when the text is done with one before it begins with the other, in each iteration around both."""
    xs, ys = known.by_buffer.get(a, []), known.by_buffer.get(b, [])
    if not xs or not ys:
        return True
    first, second = (xs, ys) if xs[0].position < ys[0].position else (ys, xs)
    if first[-1].position >= second[0].position:
        return False
    common = [s for s, t in zip(common_of(known, a), common_of(known, b), strict=False) if s.name == t.name]
    if common_scopes(first[-1], second[0]) > len(common):
        return False  # a scope repeats both
    if not common:
        return True
    return all(is_private(known, common[-1].name, name, exact=False) for name in (a, b))


TRANSFORM = ReuseBuffers
