"""Faults in the moves on buffers: copies that lack something, storage that is shared too early."""

from __future__ import annotations

from tests.fuzz.faults.fault import Fault, fault

FAULTS: tuple[Fault, ...] = (
    fault(
        "transforms.create_temporary",
        "what is written may be copied as if it were only read",
        "if writing is not None and not self.writes:",
        "if False:",
    ),
    fault(
        "transforms.create_temporary",
        "the copy is filled one short",
        "node = Scope(names[slot], Literal(extent, I64), (node,))",
        "node = Scope(names[slot], Literal(max(1, extent - 1), I64), (node,))",
    ),
    fault("transforms.create_temporary", "nothing is written back", "if staging.copied_out:", "if False:"),
    fault(
        "transforms._staging",
        "indices of a copy in alphabetical order",
        "{load: tuple(map(Iter, layout))}",
        "{load: tuple(map(Iter, sorted(layout)))}",
    ),
    fault(
        "transforms._staging",
        "sums are not copied in",
        'copied_in = next(a for a in accesses if a.writes).kind != "write" or is_read_before(known, place, name)',
        "copied_in = is_read_before(known, place, name) and not accesses[0].writes",
    ),
    fault(
        "transforms._staging",
        "whatever is accessed counts as written",
        "    if box.exact:\n",
        "    if True:\n",
    ),
    fault(
        "transforms._bordered",
        "the border is 0",
        "(condition, value, found[0].border))",
        "(condition, value, Literal(found[0].border.value * 0, found[0].border.dtype)))",
    ),
    fault(
        "transforms._bordered",
        "the border is one wide too much",
        'yield Op("ge", (index, Literal(limits[0], I64)))',
        'yield Op("ge", (index, Literal(limits[0] + 1, I64)))',
    ),
    fault(
        "transforms._bordered",
        "a copy has the border of the first read",
        "if len({repr(one.border) for one in found}) > 1:",
        "if False:",
    ),
    fault("transforms.reuse_dims", "lifetimes are not asked", "if found is not None:", "if False:"),
    fault("transforms.reuse_buffers", "lifetimes are not asked", "if found is not None:", "if False:"),
    fault(
        "transforms.reuse_buffers",
        "one buffer need not be private",
        "return all(is_private(",
        "return any(is_private(",
    ),
    fault(
        "transforms.materialize_dims",
        "the flow through shared storage is not asked",
        "yield from self._flow(result)",
        "pass",
    ),
    fault(
        "transforms.expand_buffer",
        "values may cross iterations",
        "if not is_private(known, self.scope, self.buffer):",
        "if False:",
    ),
    fault(
        "transforms.expand_buffer",
        "reused dimensions keep their numbers",
        "reuse=tuple(d + 1 for d in b.reuse)",
        "reuse=b.reuse",
    ),
    fault(
        "transforms.split_dims",
        "reused dimensions keep their numbers",
        "reuse=tuple(e + (e > d) for e in b.reuse)",
        "reuse=b.reuse",
    ),
    fault(
        "transforms._forms",
        "a quotient is taken of the form without its constant",
        "return Op(name, (spelled_form(atom.arg), Literal(atom.by, I64)))",
        "return Op(name, (spelled_form(Affine(0, atom.arg.terms)), Literal(atom.by, I64)))",
    ),
)
