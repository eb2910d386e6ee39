"""Faults in what makes code of a transformed program: tails, sums over lanes, registers for memory."""

from __future__ import annotations

from tests.fuzz.faults.fault import Fault, fault

FAULTS: tuple[Fault, ...] = (
    fault(
        "lowering.vectors",
        "the mask of a tail is one short",
        "self._first(rest, lanes)",
        "self._first(max(1, rest - 1), lanes)",
    ),
    fault(
        "lowering.statements",
        "a tail forgets the guard",
        "mask = expressions.both(mask, condition)",
        "mask = mask or condition",
    ),
    fault(
        "lowering.accumulators",
        "sums over lanes start at 0",
        "arena.const(neutral(op, var.type.dtype).value, var.type)",
        'arena.const(neutral("+=", var.type.dtype).value, var.type)',
    ),
    fault(
        "lowering.accumulators",
        "a sum over lanes overwrites",
        "self.expressions.operate(op, (old, total), total.type.dtype)",
        "total",
    ),
    fault(
        "lowering.lanes",
        "sums of floats in lanes at any level",
        'if dtype.is_float and not context.allows("reassoc"):',
        "if False:",
    ),
    fault(
        "lowering.promote",
        "elements that may be the same are two registers",
        "if any(f.terms != forms[0].terms for f in forms):",
        "if False:",
    ),
    fault(
        "lowering.known",
        "a store changes no other index",
        "if (name != buffer or apart(e.where, e.span, where, span)) and all(",
        "if all(",
    ),
    fault(
        "lowering.known",
        "a loop changes no element",
        "            if buffer in gone:\n                self.memory[buffer] = {}",
        "            if buffer in gone:\n                pass",
    ),
    fault(
        "lowering.hoist",
        "what the loop writes is hoisted",
        "return arena.variables(v).isdisjoint(self.effects.defined) and arena.buffers(v).isdisjoint(\n            self.effects.written\n        )",
        "return arena.variables(v).isdisjoint(self.effects.defined)",
    ),
    fault(
        "lowering.dead",
        "a store that is read before the next one goes",
        "if s.buffer not in effects.read and all(",
        "if all(",
    ),
)
