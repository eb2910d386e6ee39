"""Terms in the notation of the language, cut to what fits a message."""

from __future__ import annotations

from collections.abc import Mapping

from perfdojo.compiler.dtypes import DTYPES
from perfdojo.compiler.ops import OPS
from perfdojo.compiler.validate.draws import REDUCING
from perfdojo.compiler.validate.terms import NOTHING, UNWRITTEN, Terms, element_name, round_to

CUT = "…"
SHOWN = 3
"""Operands of a long sum that are shown."""

GROUPS = {"sum": "add", "prod": "mul", "max*": "max", "min*": "min", "and*": "and", "or*": "or"}
GROUPS |= {"maxnum*": "maxnum", "minnum*": "minnum"}
"""Operations of any number of operands, and those of two that they are made of."""

_ATOM = 100


Shown = tuple[str, int]
"""Text, and precedence of its outermost operation."""


def show(terms: Terms, term: int, depth: int, given: Mapping[int, Shown]) -> Shown:
    """Return the text of a term, operations nested deeper than `depth` cut.

    Args:
        given: texts of some terms, to be used in their place.
    """
    if term in given:
        return given[term]
    if term == UNWRITTEN:
        return "nothing", _ATOM
    if term < terms.symbols:
        return element_name(*terms.element(term)), _ATOM
    if term in terms.floats:
        text = _shortest(terms, term)
        return text, OPS["neg"].precedence if text.startswith("-") else _ATOM
    op, *args = terms.nodes[term]
    name, _, kind = op.partition(".")
    if not args:
        text = kind.partition(" ")[2]
        if kind.startswith("bool") and name != NOTHING:
            return ("true" if text == "1" else "false"), _ATOM
        return text, OPS["neg"].precedence if text.startswith("-") else _ATOM
    if depth == 0:
        return CUT, _ATOM
    name = REDUCING.get(name, name)
    if name == "when":
        value, guard = (show(terms, a, depth - 1, given)[0] for a in reversed(args))
        return f"({value} if {guard})", _ATOM
    if name == "cast":
        return f"{kind}({show(terms, args[0], depth - 1, given)[0]})", _ATOM
    if name in GROUPS:
        first = args if len(args) <= SHOWN else [a for a in args if a in given][:1] or args[:SHOWN]
        return join(terms, terms.nodes[term][0], first, len(args) - len(first), depth, given)
    return _operation(terms, name, args, depth, given)


def _operation(terms: Terms, name: str, args: list[int], depth: int, given: Mapping[int, Shown]) -> Shown:
    info = OPS[name]
    shown = [show(terms, a, depth - 1, given) for a in args]
    if not info.symbol:
        return f"{name}({', '.join(text for text, _ in shown)})", _ATOM
    p = info.precedence
    texts = [text if inner > p else f"({text})" for text, inner in shown]
    if name == "select":
        return f"{texts[0]} ? {texts[1]} : {texts[2]}", p
    if info.arity == 1:
        return f"{info.symbol}{' ' if info.symbol.isalpha() else ''}{texts[0]}", p
    if shown[0][1] == p and info.rule != "compare":
        texts[0] = shown[0][0]
    return f"{texts[0]} {info.symbol} {texts[1]}", p


def join(
    terms: Terms, group: str, operands: list[int], hidden: int, depth: int, given: Mapping[int, Shown]
) -> Shown:
    """Return the text of a sum, product, ... of the operands and `hidden` others."""
    plain = GROUPS[group.partition(".")[0]]
    info = OPS[plain]
    shown = [show(terms, o, depth - 1, given) for o in operands]
    rest = [f"{CUT} ({hidden} more)"] if hidden > 0 else []
    if not info.symbol:
        return f"{plain}({', '.join([text for text, _ in shown] + rest)})", _ATOM
    p = info.precedence
    texts = [t if inner > p or (inner == p and n == 0) else f"({t})" for n, (t, inner) in enumerate(shown)]
    return f" {info.symbol} ".join(texts + rest), p


def _shortest(terms: Terms, term: int) -> str:
    """Return the shortest decimal that rounds to a constant."""
    value = terms.floats[term]
    dtype = DTYPES[terms.nodes[term][0].partition(".")[2].partition(" ")[0]]
    for digits in range(1, 17):
        text = repr(float(f"{value:.{digits}g}"))
        if round_to(dtype, float(text)) == value:
            return text
    return repr(value)
