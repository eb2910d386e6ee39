"""Types of raw expressions: inference from the leaves up, then typed IR with literals from the context."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from perfdojo.compiler import ir
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.dtypes import BOOL, DTYPES, F64, I64, DType
from perfdojo.compiler.ops import CALLS, OPS
from perfdojo.compiler.text.raw import Raw


@dataclass(frozen=True, slots=True)
class Names:
    """What an expression may refer to: sizes, buffers, and the scopes around it, outermost first."""

    source: ir.Source
    sizes: frozenset[str]
    buffers: Mapping[str, ir.Buffer]
    scopes: tuple[str, ...] = ()

    def error(self, message: str, span: ir.Span, hint: str = "") -> PerfDojoError:
        """Return the error at `span` of the source."""
        return PerfDojoError(message, self.source, span, hint)


def infer(raw: Raw, names: Names) -> DType | None:
    """Return the type of `raw` by itself; None for literals and sizes, which take the context's."""
    if not raw.inferred:
        raw.dtype = _infer(raw, names)
        raw.inferred = True
    return raw.dtype


def _infer(raw: Raw, names: Names) -> DType | None:
    if raw.kind in ("int", "float"):
        return None
    if raw.kind == "name":
        return BOOL if raw.value in ("true", "false") else None
    if raw.kind == "iter":
        return I64
    if raw.kind == "load":
        return _buffer(raw, names).dtype
    if raw.kind == "call":
        if raw.value in DTYPES:
            return DTYPES[raw.value]
        if raw.value not in CALLS:
            known = CALLS | DTYPES.keys()
            raise names.error(
                f"no function '{raw.value}'", raw.span, nearest(raw.value, known) or _functions()
            )
        _check_arity(raw, names)
        return _common(raw.args, names)
    rule = OPS[raw.value].rule
    if rule in ("compare", "logic"):
        return BOOL
    return _common(raw.args[1:] if rule == "select" else raw.args, names)


def _functions() -> str:
    return "functions are " + " ".join(sorted(CALLS)) + " and conversions such as f32(...)"


def _buffer(raw: Raw, names: Names) -> ir.Buffer:
    if raw.value in names.buffers:
        return names.buffers[raw.value]
    hint = nearest(raw.value, names.buffers) or "declare it in the header"
    raise names.error(f"no buffer '{raw.value}'", raw.span, hint)


def _check_arity(raw: Raw, names: Names) -> None:
    arity = OPS[raw.value].arity
    if len(raw.args) != arity:
        raise names.error(f"{raw.value} takes {_count(arity, 'argument')}, not {len(raw.args)}", raw.span)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def _common(args: tuple[Raw, ...], names: Names) -> DType | None:
    for a in args:
        dtype = infer(a, names)
        if dtype is not None:
            return dtype
    return None


def build(raw: Raw, expected: DType | None, names: Names) -> ir.Expr:
    """Return the typed expression; `expected` types what has no type of its own and must match the rest.

    Raises:
        PerfDojoError: unknown name, wrong rank, mixed types, a literal outside its type.
    """
    found = infer(raw, names)
    if found is not None and expected is not None and found != expected:
        raise names.error(
            f"this is {found} where {expected} is needed", raw.span, f"convert it: {expected}(...)"
        )
    dtype = found or expected or (F64 if _has_point(raw) else I64)
    if raw.kind in ("int", "float"):
        return _literal(raw, dtype, names)
    if raw.kind == "name":
        return _name(raw, dtype, names)
    if raw.kind == "iter":
        return ir.Iter(_scope(raw, names), raw.span)
    if raw.kind == "load":
        return load(raw, names)
    if raw.kind == "call" and raw.value in DTYPES:
        if len(raw.args) != 1:
            raise names.error(f"{raw.value}(...) converts 1 value, not {len(raw.args)}", raw.span)
        return ir.Cast(dtype, build(raw.args[0], None, names), raw.span)
    return _operation(raw, dtype, names)


def _has_point(raw: Raw) -> bool:
    stack = [raw]
    while stack:
        top = stack.pop()
        if top.kind == "float":
            return True
        if top.kind == "op" or (top.kind == "call" and top.value in CALLS):
            # the type of a select does not hang on its condition
            stack.extend(top.args[1:] if top.value == "select" else top.args)
    return False


def _operation(raw: Raw, dtype: DType, names: Names) -> ir.Expr:
    info = OPS[raw.value]
    if info.rule == "logic":
        return ir.Op(raw.value, tuple(build(a, BOOL, names) for a in raw.args), raw.span)
    if info.rule == "select":
        condition = build(raw.args[0], BOOL, names)
        branches = tuple(build(a, dtype, names) for a in raw.args[1:])
        return ir.Op("select", (condition, *branches), raw.span)
    operand = dtype
    if info.rule == "compare":
        operand = _common(raw.args, names) or (F64 if any(map(_has_point, raw.args)) else I64)
    _check_rule(raw, operand, names)
    return ir.Op(raw.value, tuple(build(a, operand, names) for a in raw.args), raw.span)


def _check_rule(raw: Raw, operand: DType, names: Names) -> None:
    info = OPS[raw.value]
    sign = info.symbol or info.name
    if info.rule == "integer" and not operand.is_integer:
        hint = "for floats write floor(a / b)" if raw.value == "floordiv" else ""
        raise names.error(f"'{sign}' works on integers, not on {operand}", raw.span, hint)
    if info.rule == "float" and not operand.is_float:
        hint = (
            f"'//' divides integers, or convert: f32(...) {sign} ..."
            if raw.value == "div"
            else "convert: f32(...)"
        )
        raise names.error(f"'{sign}' works on floats, not on {operand}", raw.span, hint)
    if operand == BOOL and raw.value not in ("eq", "ne"):
        raise names.error(
            f"'{sign}' does not work on bool", raw.span, "convert it: i32(...), or use and, or, not"
        )


def _literal(raw: Raw, dtype: DType, names: Names) -> ir.Expr:
    if dtype == BOOL:
        raise names.error(f"'{raw.value}' is a number where bool is needed", raw.span, "write true or false")
    if raw.kind == "float":
        if not dtype.is_float:
            raise names.error(f"'{raw.value}' is not an integer, but {dtype} is needed", raw.span)
        return ir.Literal(math.nan if raw.value.endswith("nan") else float(raw.value), dtype, raw.span)
    if len(raw.value) > 400:
        raise names.error("an integer literal has at most 400 digits", raw.span)
    value = int(raw.value)
    if dtype.is_float:
        try:
            return ir.Literal(float(value), dtype, raw.span)
        except OverflowError:
            raise names.error(f"the literal does not fit {dtype}", raw.span, "write inf") from None
    if not dtype.smallest <= value <= dtype.largest:
        raise names.error(
            f"{value} does not fit {dtype} ({dtype.smallest} to {dtype.largest})",
            raw.span,
            "use a wider type",
        )
    return ir.Literal(value, dtype, raw.span)


def _name(raw: Raw, dtype: DType, names: Names) -> ir.Expr:
    if raw.value in ("true", "false"):
        return ir.Literal(raw.value == "true", BOOL, raw.span)
    if raw.value in names.sizes:
        if dtype == BOOL:
            raise names.error(f"size '{raw.value}' is a number where bool is needed", raw.span)
        return ir.SizeRef(raw.value, dtype, raw.span)
    if raw.value in names.buffers:
        raise names.error(
            f"buffer '{raw.value}' needs indices",
            raw.span,
            f"write {raw.value}[...], or {raw.value}[] for rank 0",
        )
    hint = f"write {{{raw.value}}}" if raw.value in names.scopes else nearest(raw.value, names.sizes)
    raise names.error(f"no size '{raw.value}'", raw.span, hint)


def _scope(raw: Raw, names: Names) -> str:
    open_ = names.scopes
    if raw.value in open_:
        return raw.value
    listed = ", ".join(f"{{{i}}} {s}" for i, s in enumerate(open_)) or "none"
    if not raw.value.isdigit():
        raise names.error(
            f"no scope '{raw.value}' is open here",
            raw.span,
            nearest(raw.value, open_) or f"open scopes: {listed}",
        )
    if len(raw.value) > 4 or int(raw.value) >= len(open_):
        what = _count(len(open_), "scope")
        verb = "is" if len(open_) == 1 else "are"
        raise names.error(f"{{{raw.value}}}: {what} {verb} open here", raw.span, f"open scopes: {listed}")
    return open_[int(raw.value)]


def load(raw: Raw, names: Names) -> ir.Load:
    """Return the access `raw`, its rank and the types of its indices checked."""
    buffer = _buffer(raw, names)
    rank = len(buffer.shape)
    if len(raw.args) != rank:
        given = "1 index is" if len(raw.args) == 1 else f"{len(raw.args)} indices are"
        raise names.error(f"'{raw.value}' has {_count(rank, 'dimension')}, but {given} given", raw.span)
    indices = []
    for a in raw.args:
        dtype = infer(a, names) or I64
        if not dtype.is_integer:
            raise names.error(f"an index is an integer, not {dtype}", a.span, "convert it: i64(...)")
        indices.append(build(a, dtype, names))
    return ir.Load(raw.value, tuple(indices), raw.span)
