"""Faults in the moves on scopes: conditions dropped, ranges off by one, marks that are no longer true."""

from __future__ import annotations

from tests.fuzz.faults.fault import Fault, fault

_MARKS = "if reason := why_dependent(program, name):"

FAULTS: tuple[Fault, ...] = (
    fault(
        "transforms.tile_scope",
        "the tail is one short",
        "Literal(const_int(s.extent) - start, I64)",
        "Literal(max(1, const_int(s.extent) - start - 1), I64)",
    ),
    fault(
        "transforms.tile_scope",
        "the tail starts one early",
        "iteration(tail, 1, start)",
        "iteration(tail, 1, start - 1)",
    ),
    fault("transforms.tile_scope", "no mask", "body = guarded(body, inside)", "pass"),
    fault(
        "transforms.tile_scope",
        "the mask is one short",
        'Op("lt", (expression(index), Literal(extent, I64)))',
        'Op("lt", (expression(index), Literal(extent - 1, I64)))',
    ),
    fault(
        "transforms.tile_scope",
        "the step of blocks",
        "iteration(outer, f).plus",
        "iteration(outer, max(1, f - 1)).plus",
    ),
    fault(
        "transforms.tile_scope",
        "a remainder is forgotten",
        'extent % self.factor and self.remainder == "exact"',
        "False",
    ),
    fault("transforms.reorder", "the order of accesses is not asked", "if clash is not None:", "if False:"),
    fault(
        "transforms.reorder",
        "sums of floats may be exchanged at any level",
        'self.outer, setting.allows("reassoc"))',
        "self.outer, True)",
    ),
    fault(
        "transforms.reorder",
        "the mark of the inner scope is believed",
        'reason = untrue_mark(self.rewrite(program), self.inner) if inner else ""',
        'reason = ""',
    ),
    fault(
        "transforms.join_scopes",
        "the second scope misses its first iteration",
        'Op("ge", (Iter(scope), Literal(start, I64)))',
        'Op("gt", (Iter(scope), Literal(start, I64)))',
    ),
    fault(
        "transforms.join_scopes",
        "the mark of joined scopes is believed",
        "untrue_mark(self.rewrite(program), *(self.names or (self.first,)))",
        '""',
    ),
    fault(
        "transforms.fission_scope",
        "the order of accesses is not asked",
        "if clash is not None:",
        "if False:",
    ),
    fault(
        "transforms.fission_scope",
        "sums of floats may be parted at any level",
        'position, setting.allows("reassoc"))',
        "position, True)",
    ),
    fault(
        "transforms.swap_siblings", "the order of accesses is not asked", "if clash is not None:", "if False:"
    ),
    fault(
        "transforms.swap_siblings",
        "a reduction may come first",
        "if started is not None:",
        "if False:",
    ),
    fault(
        "transforms.collapse_scopes",
        "quotient and remainder change places",
        "((_QUOTIENT, i), (_REMAINDER, j))",
        "((_QUOTIENT, j), (_REMAINDER, i))",
    ),
    fault(
        "transforms.collapse_scopes",
        "coefficients that divide count as flat",
        "if i == j * self.m:",
        "if i and j and i % j == 0:",
    ),
    fault(
        "transforms.collapse_scopes",
        "the quotient is rounded up",
        'Op("floordiv", (one, m))',
        'Op("floordiv", (Op("add", (one, Literal(1, I64))), m))',
    ),
    fault(
        "transforms.peel_scope",
        "the tail starts one early",
        "iteration(tail, 1, start)",
        "iteration(tail, 1, start - 1)",
    ),
    fault(
        "analysis.touches",
        "a reduction may run again",
        'node.op == "=" and node.guard is None',
        "node.guard is None",
    ),
    fault(
        "analysis.touches",
        "what is written elsewhere may be read again",
        "if load.buffer in changed and load.indices != anew[load.buffer]:",
        "if False:",
    ),
    fault(
        "transforms._kept",
        "what is private is copied with its scope",
        "        if found:",
        "        if False:",
    ),
    fault("transforms.drop_scope", "two iterations count as one", "if extent != 1:", "if extent > 2:"),
    fault(
        "transforms.parallelize",
        "iterations that depend run on threads",
        _MARKS,
        'if reason := "":',
    ),
    fault(
        "transforms.vectorize",
        "iterations that depend run in lanes",
        "if reason := why_dependent(program, name, lanes=True):",
        'if reason := "":',
    ),
    fault("transforms.grid", "iterations that depend run in blocks", _MARKS, 'if reason := "":'),
    fault("transforms.block", "iterations that depend run on GPU threads", _MARKS, 'if reason := "":'),
    fault("transforms.core", "iterations that depend run on cores", _MARKS, 'if reason := "":'),
)
