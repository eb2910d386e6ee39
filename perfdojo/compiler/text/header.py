"""The header: sizes, buffers and their attributes, from raw to IR."""

from __future__ import annotations

from collections.abc import Mapping

from perfdojo.compiler import ir
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.dtypes import DTYPES, I64
from perfdojo.compiler.ops import CALLS
from perfdojo.compiler.text import raw
from perfdojo.compiler.text.typing import Names, build

_WORDS = frozenset(
    ["kernel", "size", "in", "out", "inout", "tmp", "if", "and", "or", "not", "true", "false", "inf", "nan"]
)
RESERVED = _WORDS | CALLS | DTYPES.keys()
_NOT_IN_C = frozenset(("sigmoid", "rsqrt"))
"""Functions that C's library lacks: a kernel, which becomes a C function, may have their names."""
_ATTRIBUTES = ("nontemporal", "order", "pad", "prefetch", "reuse", "space", "values")


def reserved(name: raw.RawName, source: ir.Source, what: str) -> None:
    """Refuse a name that the language uses itself."""
    if name.text in (RESERVED - _NOT_IN_C if what == "kernel" else RESERVED):
        raise PerfDojoError(
            f"'{name.text}' is a word of the language and cannot name a {what}",
            source,
            name.span,
            "choose another",
        )


def sizes(raws: tuple[raw.RawSize, ...], source: ir.Source) -> tuple[ir.Size, ...]:
    """Return the sizes; each may use those above it."""
    found: dict[str, ir.Size] = {}
    for r in raws:
        reserved(r.name, source, "size")
        if r.name.text in found:
            raise PerfDojoError(
                f"two sizes are called '{r.name.text}'", source, r.name.span, "names are unique"
            )
        value = build(r.value, I64, Names(source, frozenset(found), {}))
        found[r.name.text] = ir.Size(r.name.text, value, r.fixed, span=r.span)
    return tuple(found.values())


def buffer(b: raw.RawBuffer, names: Names, before: Mapping[str, ir.Buffer]) -> ir.Buffer:
    """Return the buffer of one header line."""
    reserved(b.name, names.source, "buffer")
    if b.name.text in before:
        raise names.error(f"two buffers are called '{b.name.text}'", b.name.span, "names are unique")
    if b.name.text in names.sizes:
        raise names.error(f"'{b.name.text}' is a size already", b.name.span, "choose another name")
    if b.dtype.text not in DTYPES:
        hint = nearest(b.dtype.text, DTYPES) or "types are " + " ".join(DTYPES)
        raise names.error(f"no type '{b.dtype.text}'", b.dtype.span, hint)
    shape = tuple(build(e, I64, names) for e in b.shape)
    given: dict[str, raw.RawAttribute] = {}
    for a in b.attributes:
        if a.name.text not in _ATTRIBUTES:
            hint = nearest(a.name.text, _ATTRIBUTES) or "attributes are " + " ".join(_ATTRIBUTES)
            raise names.error(f"no attribute '{a.name.text}'", a.name.span, hint)
        if a.name.text in given:
            raise names.error(f"'{a.name.text}' is given twice", a.name.span)
        given[a.name.text] = a
    built = ir.Buffer(
        b.name.text,
        b.role,  # type: ignore[arg-type]
        DTYPES[b.dtype.text],
        shape,
        _space(given.get("space"), b, names),
        _order(given.get("order"), len(shape), names),
        _pad(given.get("pad"), len(shape), names),
        _reuse(given.get("reuse"), b, names),
        _values(given.get("values"), b, names),
        b.span,
        _nontemporal(given.get("nontemporal"), b, names),
        _prefetch(given.get("prefetch"), names),
    )
    return built


def _integers(a: raw.RawAttribute, names: Names) -> tuple[int, ...]:
    for e in a.args:
        if e.kind != "int" or e.value.startswith("-") or len(e.value) > 12:
            raise names.error(f"{a.name.text}(...) takes integers", e.span)
    return tuple(int(e.value) for e in a.args)


def _order(a: raw.RawAttribute | None, rank: int, names: Names) -> tuple[int, ...]:
    if a is None:
        return ()
    order = _integers(a, names)
    if sorted(order) != list(range(rank)):
        raise names.error(
            f"order names each of the {rank} dimensions once", a.name.span, "for instance order(1, 0)"
        )
    return () if order == tuple(range(rank)) else order


def _pad(a: raw.RawAttribute | None, rank: int, names: Names) -> tuple[int, ...]:
    if a is None:
        return ()
    pad = _integers(a, names)
    if len(pad) != rank:
        raise names.error(f"pad takes a number for each of the {rank} dimensions", a.name.span)
    return pad if any(pad) else ()


def _reuse(a: raw.RawAttribute | None, b: raw.RawBuffer, names: Names) -> tuple[int, ...]:
    if a is None:
        return ()
    if b.role != "tmp":
        raise names.error(
            "reuse is for tmp buffers", a.name.span, "all elements of an argument exist in memory"
        )
    dims = _integers(a, names)
    for d in dims:
        if d >= len(b.shape):
            raise names.error(f"'{b.name.text}' has no dimension {d}", a.name.span, f"it has {len(b.shape)}")
    return tuple(sorted(set(dims)))


def _space(a: raw.RawAttribute | None, b: raw.RawBuffer, names: Names) -> str:
    if a is None:
        return ""
    if b.role != "tmp":
        raise names.error("space is for tmp buffers", a.name.span, "the caller decides where arguments lie")
    if len(a.args) != 1 or a.args[0].value not in ir.SPACES:
        found = a.args[0].value if a.args else ""
        hint = nearest(found, ir.SPACES) or "spaces are " + " ".join(sorted(ir.SPACES))
        raise names.error(f"no memory space '{found}'", a.name.span, hint)
    return a.args[0].value


def _values(a: raw.RawAttribute | None, b: raw.RawBuffer, names: Names) -> tuple[ir.Expr, ir.Expr] | None:
    if a is None:
        return None
    if b.role != "in" or not DTYPES[b.dtype.text].is_integer:
        raise names.error("values is a promise about an integer 'in' buffer", a.name.span)
    if len(a.args) != 2:
        raise names.error(
            "values takes the first value and the one behind the last", a.name.span, "values(0, V)"
        )
    return build(a.args[0], I64, names), build(a.args[1], I64, names)


def _nontemporal(a: raw.RawAttribute | None, b: raw.RawBuffer, names: Names) -> bool:
    if a is None:
        return False
    if a.args:
        raise names.error("nontemporal takes no arguments", a.args[0].span)
    if b.role == "in":
        raise names.error("nontemporal is for buffers that are written", a.name.span, "an 'in' is only read")
    return True


def _prefetch(a: raw.RawAttribute | None, names: Names) -> int:
    if a is None:
        return 0
    distance = _integers(a, names)
    if len(distance) != 1 or distance[0] == 0:
        hint = "for instance prefetch(512)"
        raise names.error("prefetch takes a number of elements, 1 or more", a.name.span, hint)
    return distance[0]
