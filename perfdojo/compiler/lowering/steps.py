"""Steps of a reduction that @unroll writes out become one loop that the compiler unrolls.

    k:64 u:4@unroll s[] += x[{k} * 4 + {u}]   ->   for k = 0 to 256 unroll 4 { s = s + x[k] }

Written out here, each step would give its accumulators new names, and register allocation would have to find
out that they are one register each: with twelve of them, gcc 12 moves them about and loads operands anew for
every use, which took a third of the speed of a matrix product. A loop that is unrolled behind register
allocation's back keeps the code of one step.
"""

from __future__ import annotations

from perfdojo.compiler.analysis.affine import Affine, Division
from perfdojo.compiler.dtypes import I64
from perfdojo.compiler.ir import Cast, Expr, Load, Node, Op, Scope, Statement
from perfdojo.compiler.lowering.context import Context
from perfdojo.compiler.walk import const_int, iterators


def steps_of(scope: Scope, context: Context) -> Scope | None:
    """Return the @unroll scope whose iterations and those of `scope` can be numbered through; None if not.

    Conditions: (1) it is all that `scope` holds; (2) a reduction in it adds to an element that depends on
    neither; (3) their iteration numbers occur in linear forms alone, as {scope} * extent + {inner}.
    """
    if scope.mark or len(scope.body) != 1:
        return None
    inner = scope.body[0]
    if not isinstance(inner, Scope) or inner.mark != "unroll" or const_int(inner.extent) == 1:
        return None
    names = {scope.name, inner.name}
    found = _statements(inner.body)
    if not any(s.op != "=" and names.isdisjoint(_used(s.target)) for s in found):
        return None
    through = _Through(scope.name, inner.name, const_int(inner.extent), context)
    values = [e for s in found for e in (*s.target.indices, s.value, s.guard) if e is not None]
    return inner if all(map(through.numbered, values)) else None


def _statements(nodes: tuple[Node, ...]) -> list[Statement]:
    found: list[Statement] = []
    for n in nodes:
        found += [n] if isinstance(n, Statement) else _statements(n.body)
    return found


def _used(load: Load) -> set[str]:
    return set().union(*map(iterators, load.indices))


class _Through:
    """Decides condition 3 for expressions."""

    def __init__(self, outer: str, inner: str, extent: int, context: Context) -> None:
        self.outer, self.inner, self.extent, self.context = outer, inner, extent, context

    def numbered(self, e: Expr) -> bool:
        """Tell whether an expression depends on the two numbers as on {outer} * extent + {inner} alone."""
        if {self.outer, self.inner}.isdisjoint(iterators(e)):
            return True
        if self.context.dtype(e) == I64:
            form = self.context.affine(e)
            if form is not None and tuple(form.terms) != (e,):
                return self._form(form)
        if isinstance(e, Op):
            return all(map(self.numbered, e.args))
        if isinstance(e, Load):
            return all(map(self.numbered, e.indices))
        return isinstance(e, Cast) and self.numbered(e.arg)

    def _form(self, form: Affine) -> bool:
        if form.terms.get(self.outer, 0) != self.extent * form.terms.get(self.inner, 0):
            return False
        return all(self._atom(a) for a in form.terms if not isinstance(a, str))

    def _atom(self, atom: Division | Load | Op | Cast) -> bool:
        return self._form(atom.arg) if isinstance(atom, Division) else self.numbered(atom)
