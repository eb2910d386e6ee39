"""Faults in the analyses that moves ask: directions, bounds and shared storage that are forgotten."""

from __future__ import annotations

from tests.fuzz.faults.fault import Fault, fault

FAULTS: tuple[Fault, ...] = (
    fault(
        "analysis.order",
        "interchange asks for the pairs that stay in order",
        "windows = ((1 - _extent(known, outer), -1), (1,",
        "windows = ((1, _extent(known, outer) - 1), (1,",
    ),
    fault(
        "analysis.order",
        "fission forgets neighbouring iterations",
        "((1 - _extent(known, scope), -1),)",
        "((1 - _extent(known, scope), -2),)",
    ),
    fault(
        "analysis.order",
        "the least shift is one short",
        "least = least if found is None else found",
        "least = least if found is None else max(least, found - 1)",
    ),
    fault(
        "analysis.order",
        "a join may be shifted one short",
        "((shift + 1, _extent(known, first) - 1),)",
        "((shift + 2, _extent(known, first) - 1),)",
    ),
    fault(
        "analysis.order",
        "reductions of floats always commute",
        "commute and (reductions or not known.buffers[x.load.buffer].dtype.is_float)",
        "commute",
    ),
    fault(
        "analysis.order",
        "reductions with different signs commute",
        'x.kind == y.kind == "reduce" and x.statement.op == y.statement.op',
        'x.kind == y.kind == "reduce"',
    ),
    fault(
        "analysis.order",
        "reads have no order",
        "if not (x.writes or y.writes):",
        "if not (x.writes and y.writes):",
    ),
    fault(
        "analysis.systems",
        "shared storage is forgotten",
        "for d in known.stored(x.load.buffer)]",
        "for d in range(len(x.indices))]",
    ),
    fault(
        "analysis.systems",
        "a condition that is false counts as true",
        "op = expr.op if value else _NEGATED[expr.op]",
        "op = expr.op",
    ),
    fault(
        "analysis.systems",
        "a strict comparison leaves out one more",
        "else Affine(form.const - 1, form.terms)), False",
        "else Affine(form.const - 2, form.terms)), False",
    ),
    fault(
        "analysis.systems",
        "an equation that holds at a bound is refuted",
        "if most < 0 or (equal and least > 0):",
        "if most < 0 or (equal and least >= 0):",
    ),
    fault(
        "analysis.systems",
        "a variable that occurs twice counts once",
        "row[v] = row.get(v, 0) + factor * coefficient",
        "row[v] = factor * coefficient",
    ),
    fault(
        "analysis.solve",
        "a lower bound is one too high",
        "start = b - most // c\n",
        "start = b - most // c + 1\n",
    ),
    fault(
        "analysis.solve",
        "the middle is left out",
        "(first + 1, b), (first, first))",
        "(first + 1, b))",
    ),
    fault(
        "analysis.frames",
        "inner scopes only run ahead",
        "if is_window else (-last_y, last_x)",
        "if is_window else (0, last_x)",
    ),
    fault(
        "analysis.lifetimes",
        "any earlier write is overwritten",
        "pairs.subtract(seen.apply_range(_earlier(known, write, other)))",
        "pairs.subtract(seen.apply_range(_earlier(known, write, other)).union(_earlier(known, read, other)))",
    ),
    fault(
        "analysis.lifetimes",
        "what stands above in the text is over",
        "if write.position < producer.position and all(apart(known, load, write, n) for n in levels):",
        "if write.position < producer.position:",
    ),
    fault(
        "analysis.lifetimes",
        "one level keeps accesses apart at all",
        "if not all(apart(known, read, other, level, dims=same) for level in range(common)):",
        "if not any(apart(known, read, other, level, dims=same) for level in range(common)):",
    ),
    fault(
        "analysis.dependence",
        "what is accessed inside a scope only is private",
        "    if found:\n        walk",
        "    if not found:\n        walk",
    ),
    fault(
        "analysis.dependence",
        "what is accessed behind a scope may be private",
        "and first <= known.by_buffer[name][0].position <= known.by_buffer[name][-1].position <= last",
        "and first <= known.by_buffer[name][0].position <= last",
    ),
    fault(
        "analysis.dependence",
        "an access never meets itself",
        "for b in accesses[i:]:",
        "for b in accesses[i + 1 :]:",
    ),
    fault(
        "analysis.dependence",
        "any sums share lanes",
        'return len({(a.kind, a.statement.op) for a in accesses}) == 1 and accesses[0].kind == "reduce"',
        'return any(a.kind == "reduce" for a in accesses)',
    ),
    fault(
        "analysis.conflicts",
        "neighbours that touch are apart",
        "if x[0] == y[0] and -abs(x[0]) < low and high < abs(x[0]):",
        "if x[0] == y[0] and -abs(x[0]) <= low and high <= abs(x[0]):",
    ),
    fault(
        "analysis.conflicts",
        "ends that touch are apart",
        "if low + min(corners) > 0 or high + max(corners) < 0:",
        "if low + min(corners) >= 0 or high + max(corners) < 0:",
    ),
    fault(
        "analysis.conflicts",
        "all are apart when the last ones touch",
        "if high - low >= abs(parts[0]):",
        "if high - low > abs(parts[0]):",
    ),
    fault(
        "analysis.conflicts",
        "iterations meet in one direction only",
        "for x, y in ((a, b), (b, a)):",
        "for x, y in ((a, b),):",
    ),
    fault(
        "analysis.boxes",
        "strides that leave a gap of one fill",
        "abs(ordered[0][0]) <= high - low + 1 or",
        "abs(ordered[0][0]) <= high - low + 2 or",
    ),
    fault(
        "analysis.coverage",
        "a statement has written what it reads",
        "above = write.position < read.position",
        "above = write.position <= read.position",
    ),
    fault(
        "analysis.coverage",
        "a bound that is one short is one",
        "total.const - (extent - 1) >= 0",
        "total.const - (extent - 2) >= 0",
    ),
    fault(
        "analysis.footprint",
        "a diagonal fills its box",
        "if len(moved) != len(set(moved)):",
        "if False:",
    ),
    fault(
        "analysis.affine",
        "a division that crosses a block vanishes",
        "if low // by == high // by:",
        "if low // by == (high - 1) // by:",
    ),
    fault(
        "analysis.affine",
        "a scaled remainder loses its constant",
        "return Affine(scaled.const + rest.const % common, scaled.terms)",
        "return scaled",
    ),
    fault(
        "analysis.ranges",
        "promised values end one early",
        "min(const_int(high) - 1, largest)",
        "min(const_int(high) - 2, largest)",
    ),
    fault(
        "analysis.ranges",
        "the range of a difference",
        '"sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),',
        '"sub": lambda a, b: (a[0] - b[0], a[1] - b[1]),',
    ),
    fault(
        "analysis.ranges",
        "less or equal is less",
        "return a[1] < b[0]\n\n\ndef _not_above",
        "return a[1] <= b[0]\n\n\ndef _not_above",
    ),
)
