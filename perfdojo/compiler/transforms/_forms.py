"""Linear forms of the analyses, spelled as index expressions."""

from __future__ import annotations

from collections.abc import Iterator

from perfdojo.compiler.analysis.affine import Affine, Atom, Division
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Expr, Iter, Literal, Op


def spelled_form(form: Affine) -> Expr:
    """Return the i64 expression that spells a quasi-affine form: `{i} * 4 + {j} // 3 - 1`."""
    result: Expr | None = None
    for term, sign in _terms(form):
        if result is None:
            result = term if sign == "add" else Op("neg", (term,))
        else:
            result = Op(sign, (result, term))
    if result is None:
        return Literal(form.const, I64)
    if form.const == 0:
        return result
    return Op("add" if form.const > 0 else "sub", (result, Literal(abs(form.const), I64)))


def _terms(form: Affine) -> Iterator[tuple[Expr, str]]:
    for atom, c in form.terms.items():
        term = _atom(atom)
        if abs(c) != 1:
            term = Op("mul", (term, Literal(abs(c), I64)))
        yield term, "add" if c > 0 else "sub"


def _atom(atom: Atom) -> Expr:
    if isinstance(atom, str):
        return Iter(atom)
    assert isinstance(atom, Division), "the form is not quasi-affine"
    name = "floordiv" if atom.op == "//" else "mod"
    return Op(name, (spelled_form(atom.arg), Literal(atom.by, I64)))


def over(form: Affine, by: int) -> Affine:
    """Return form / by, where `by` divides every coefficient and the constant."""
    if by == 1:
        return form
    assert not any(c % by for c in (form.const, *form.terms.values())), form
    return Affine(form.const // by, {a: c // by for a, c in form.terms.items()})
