"""isl text of the conditions and indices of one statement instance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perfdojo.compiler.analysis.accesses import Condition
from perfdojo.compiler.analysis.affine import Affine, Atom, Division, Forms
from perfdojo.compiler.analysis.ranges import TRUTH
from perfdojo.compiler.dtypes import BOOL
from perfdojo.compiler.ir import Cast, Expr, Literal, Load, Op, Scope
from perfdojo.compiler.walk import const_int

_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=", "ne": "!="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}


class Formula:
    """Writes conditions and indices of one statement instance as isl text.

    Attributes:
        variables: names of the extra variables, in the order of their making.
        facts: what is known of the extra variables; part of every set that uses them.
        unknown: those variables that the iteration does not determine, with what they stand for.
    """

    def __init__(self, forms: Forms, scopes: Sequence[Scope], prefix: str = "i") -> None:
        self.forms = forms
        self.names = {s.name: f"{prefix}{d}" for d, s in enumerate(scopes)}
        self.domain = [f"0 <= {self.names[s.name]} < {const_int(s.extent)}" for s in scopes]
        self.prefix = prefix
        self.variables: list[str] = []
        self.facts: list[str] = []
        self.unknown: dict[str, Expr] = {}
        self._known: dict[tuple[Expr, bool], str] = {}

    def affine(self, form: Affine) -> str:
        """Return the text of a linear form."""
        text = str(form.const)
        for atom, coefficient in form.terms.items():
            text += (
                f" + {coefficient}*{self._atom(atom)}"
                if coefficient >= 0
                else f" - {-coefficient}*{self._atom(atom)}"
            )
        return text

    def condition(self, condition: Condition) -> str:
        """Return the text of a condition, with its extra variables where it has no quasi-affine form."""
        expr, value = condition
        match expr:
            case Literal(value=known):
                return "1 = 1" if bool(known) == value else "1 = 0"
            case Op(op="not", args=(a,)):
                return self.condition((a, not value))
            case Op(op="and" | "or" as op, args=(a, b)):
                word = "and" if (op == "and") == value else "or"
                return f"({self.condition((a, value))} {word} {self.condition((b, value))})"
            case Op(op="select", args=(c, a, b)):
                return self._either(c, self.condition((a, value)), self.condition((b, value)))
            case Op(op="eq" | "ne" as op, args=(a, b)) if self._is_bool(a):
                return self._either(
                    a, self.condition((b, (op == "eq") == value)), self.condition((b, (op == "ne") == value))
                )
            case Op(op=op, args=(a, b)) if op in _SIGNS:
                left, right = self.forms.form(a), self.forms.form(b)
                if left is not None and right is not None:
                    sign = _SIGNS[op] if value else _OPPOSITE[_SIGNS[op]]
                    return f"{self.affine(left.plus(right, -1))} {sign} 0"
            case Cast(dtype=dtype, arg=arg) if dtype == BOOL:
                if self._is_bool(arg):
                    return self.condition((arg, value))
                inner = self.forms.form(arg)
                if inner is not None:
                    return f"{self.affine(inner)} {'!=' if value else '='} 0"
        return f"{self._unknown(expr, TRUTH, truth=True)} = {int(value)}"

    def _is_bool(self, expr: Expr) -> bool:
        return self.forms.value(expr).dtype == BOOL

    def _either(self, c: Expr, chosen: str, other: str) -> str:
        return f"(({self.condition((c, True))} and {chosen}) or ({self.condition((c, False))} and {other}))"

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, str):
            return self.names[atom]
        if isinstance(atom, Division):
            inner = self.affine(atom.arg)
            return f"floor(({inner})/{atom.by})" if atom.op == "//" else f"(({inner}) mod {atom.by})"
        known = self._known.get((atom, False))
        return known if known is not None else self._piecewise(atom)

    def _piecewise(self, atom: Load | Op | Cast) -> str:
        """A variable that a fact determines for min, max, abs, selects and conversions of a bool."""
        found = self.forms.atom_range(atom)
        match atom:
            case Op(op="min" | "max" as op, args=(a, b)):
                x, y = self._form(a), self._form(b)
                if x is None or y is None:
                    return self._unknown(atom, found)
                sign = "<=" if op == "min" else ">="
                pieces = [(f"{x} {sign} {y}", x), (f"{y} {sign} {x}", y)]
            case Op(op="abs", args=(a,)):
                x = self._form(a)
                if x is None or found[0] < 0:
                    return self._unknown(atom, found)
                pieces = [(f"{x} >= 0", x), (f"{x} <= 0", f"0 - ({x})")]
            case Op(op="select", args=(c, a, b)):
                x, y = self._form(a), self._form(b)
                if x is None or y is None:
                    return self._unknown(atom, found)
                pieces = [(self.condition((c, True)), x), (self.condition((c, False)), y)]
            case Cast(arg=arg) if self._is_bool(arg):
                pieces = [(self.condition((arg, True)), "1"), (self.condition((arg, False)), "0")]
            case _:
                return self._unknown(atom, found)
        name = self._new(atom, truth=False)
        self.facts.append("(" + " or ".join(f"({when} and {name} = {what})" for when, what in pieces) + ")")
        return name

    def _form(self, expr: Expr) -> str | None:
        form = self.forms.form(expr)
        return None if form is None else self.affine(form)

    def _unknown(self, expr: Expr, found: tuple[int, int], truth: bool = False) -> str:
        known = self._known.get((expr, truth))
        if known is not None:
            return known
        name = self._new(expr, truth)
        self.unknown[name] = expr
        self.facts.append(f"{found[0]} <= {name} <= {found[1]}")
        return name

    def _new(self, expr: Expr, truth: bool) -> str:
        name = f"{self.prefix}v{len(self.variables)}"
        self.variables.append(name)
        self._known[expr, truth] = name
        return name

    def text(self, head: str, conditions: Iterable[str], inner: Iterable[str] = ()) -> str:
        """Return `{ head : conditions }` with the extra variables, and those of `inner`, quantified."""
        body = " and ".join([*self.domain, *self.facts, *conditions]) or "1 = 1"
        hidden = [*inner, *self.variables]
        return f"{{ {head} : exists ({', '.join(hidden)}: {body}) }}" if hidden else f"{{ {head} : {body} }}"


def point(names: Iterable[str]) -> str:
    """Return the isl text of a tuple."""
    return f"[{', '.join(names)}]"
