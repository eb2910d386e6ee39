"""Sums, products, minima and maxima of any number of operands as one term, operands sorted."""

from __future__ import annotations

from collections import Counter
from math import inf, nan
from typing import Protocol

from perfdojo.compiler.dtypes import DTYPES, DType
from perfdojo.compiler.validate.draws import REDUCING
from perfdojo.compiler.validate.groups import Groups
from perfdojo.compiler.validate.integers import operation, wrap
from perfdojo.compiler.validate.terms import Terms


class Forms(Protocol):
    """What this needs of `Normal`."""

    terms: Terms
    groups: Groups

    def known(self, term: int) -> int | None:
        """See `Normal`."""
        ...

    def build(self, op: str, args: list[int]) -> int:
        """See `Normal`."""
        ...


def gather(forms: Forms, root: int, group: str) -> int:
    """Return the normal form of the sum, product, ... that ends with the step `root`."""
    found: Counter[int] = Counter()
    todo = [(root, 1)]
    seen = set[int]()
    is_set = not group.startswith(("sum.", "prod."))
    while todo:
        term, sign = todo.pop()
        if is_set and term in seen:  # m = max(m, m), again and again, has paths without number
            continue
        seen.add(term)
        normal = None if term == root else forms.known(term)
        if normal is None:
            todo += [(o, s * sign) for o, s in operands(forms, term, found, sign)]
        else:
            _collect(forms.terms, normal, group, sign, found)
    return _term(forms.terms, group, found)


def operands(forms: Forms, term: int, found: Counter[int], sign: int) -> list[tuple[int, int]]:
    """Return the operands of a step that are to be looked into, with their signs.

    What a step makes of its operands (a product in an fma, a negation, a guarded value) goes into `found`.
    """
    op, *args = forms.terms.nodes[term]
    name, _, kind = op.partition(".")
    if name == "neg":
        return [(args[0], -1)]
    if name == "sub" and not DTYPES[kind].is_float:
        return [(args[0], 1), (args[1], -1)]
    if name == "sub":
        found[forms.build(f"neg.{kind}", [_normal(forms, args[1])])] += sign
        return [(args[0], 1)]
    if name == "fma":
        found[forms.build(f"mul.{kind}", [_normal(forms, a) for a in args[:2]])] += sign
        return [(args[2], 1)]
    if name == "select":
        parts = [_normal(forms, a) for a in forms.groups.guarded(term) or ()]
        value = parts[0] if len(parts) == 1 else forms.build(f"mul.{kind}", parts)
        found[forms.terms[(f"when.{kind}", _normal(forms, args[0]), value)]] += sign
        return [(args[2], 1)]
    if name in REDUCING and len(args) == 3:
        found[forms.terms[(f"when.{kind}", _normal(forms, args[2]), _normal(forms, args[1]))]] += sign
        return [(args[0], 1)]
    return [(a, 1) for a in args]


def _normal(forms: Forms, term: int) -> int:
    found = forms.known(term)
    assert found is not None, "operands come before what is made of them"
    return found


def _collect(terms: Terms, term: int, group: str, sign: int, found: Counter[int]) -> None:
    """Count a normal operand; one of the same group is taken apart."""
    todo = [(term, sign)]
    while todo:
        top, s = todo.pop()
        op, *args = terms.nodes[top]
        if op == group:
            todo += [(c, s) for c in args]
        elif op.startswith("neg.") and group.startswith("sum.") and not _is_float(group):
            todo.append((args[0], -s))
        else:
            found[top] += s


def _term(terms: Terms, group: str, found: Counter[int]) -> int:
    kind, _, name = group.partition(".")
    dtype = DTYPES[name]
    operands = _floats(terms, kind, dtype, found) if dtype.is_float else _integers(terms, kind, dtype, found)
    if len(operands) == 1:
        return operands[0]
    return terms[(group, *sorted(operands))]


_NEUTRAL = {"sum": -0.0, "prod": 1.0, "max*": -inf, "min*": inf, "maxnum*": nan, "minnum*": nan}
_SETS = frozenset(("max*", "min*", "maxnum*", "minnum*"))
"""Groups in which an operand counts once."""


def _floats(terms: Terms, kind: str, dtype: DType, found: Counter[int]) -> list[int]:
    neutral = _NEUTRAL[kind]
    dropped = found.pop(terms.constant(dtype, neutral), 0)
    zero = terms.constant(dtype, 0.0)
    if kind == "sum" and zero in found:
        found[zero] = 1
    if not found and dropped:
        return [terms.constant(dtype, neutral)]
    return list(found) if kind in _SETS else list(found.elements())


def _integers(terms: Terms, kind: str, dtype: DType, found: Counter[int]) -> list[int]:
    if kind in ("and*", "or*"):
        return list(found)
    plain = {"sum": "add", "prod": "mul", "max*": "max", "min*": "min"}[kind]
    fold = operation(plain, dtype)
    assert fold is not None
    neutral = {"sum": 0, "prod": 1, "max*": int(dtype.smallest), "min*": int(dtype.largest)}[kind]
    total, operands = neutral, list[int]()
    for term, count in found.items():
        value = terms.ints.get(term)
        if kind in ("max*", "min*"):
            operands += [term] if value is None else []
            total = total if value is None else fold(total, value)
            continue
        if value is not None:
            for _ in range(abs(count)):
                total = fold(total, wrap(value if count > 0 else -value, dtype))
            continue
        operands += [term if count > 0 else terms[(f"neg.{dtype.name}", term)]] * abs(count)
    absorbing = {"prod": 0, "max*": int(dtype.largest), "min*": int(dtype.smallest)}.get(kind)
    if total == absorbing:
        return [terms.constant(dtype, total)]
    if total != neutral or not operands:
        operands.append(terms.constant(dtype, total))
    return operands


def _is_float(group: str) -> bool:
    return DTYPES[group.partition(".")[2]].is_float
