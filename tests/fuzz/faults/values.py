"""Faults in the moves on values: what is computed elsewhere, in another order, or with fewer roundings."""

from __future__ import annotations

from tests.fuzz.faults.fault import Fault, fault

FAULTS: tuple[Fault, ...] = (
    fault(
        "transforms.inline",
        "what the value loads may have changed",
        "    for read in reads:\n",
        "    for read in reads[:0]:\n",
    ),
    fault(
        "transforms.inline",
        "the offset of a write has the wrong sign",
        "self._minus(index, form.const)",
        "self._minus(index, -form.const)",
    ),
    fault(
        "transforms.inline",
        "a read of shared storage sees its own element",
        "if program.buffer(buffer).reuse:",
        "if False:",
    ),
    fault(
        "transforms.inline",
        "one of several writers is the value",
        "if len(writes) != 1:",
        "if not writes:",
    ),
    fault(
        "transforms.recompute",
        "strides of what is read are ignored",
        "{slot: extent.stride} if slot",
        "{slot: 1} if slot",
    ),
    fault(
        "transforms.recompute",
        "the producer may stand behind the scope",
        "if write.position >= known.extent_in_text[self.scope][0]:",
        "if False:",
    ),
    fault(
        "transforms.hoist",
        "what the scope writes is hoisted",
        "load.buffer not in self.written and (not lazy or self._is_always_inside(load))",
        "not lazy or self._is_always_inside(load)",
    ),
    fault(
        "transforms.hoist",
        "what may not be evaluated is hoisted",
        "load.buffer not in self.written and (not lazy or self._is_always_inside(load))",
        "load.buffer not in self.written",
    ),
    fault(
        "transforms.split_reduction",
        "accumulators start at 0",
        "neutral(s.op, p.dtype)",
        'neutral("+=", p.dtype)',
    ),
    fault(
        "transforms.split_reduction",
        "the combination overwrites",
        "s.target, s.op, partial)",
        's.target, "=", partial)',
    ),
    fault(
        "transforms.split_reduction",
        "others may access the sum meanwhile",
        "if other := _other_access(known, outer, self.statement, name):",
        'if other := "":',
    ),
    fault(
        "transforms.base",
        "sums of floats may be reordered at contract",
        'return not dtype.is_float or self.allows("reassoc")',
        'return not dtype.is_float or self.allows("contract")',
    ),
    fault(
        "lowering.target",
        "each level allows what the next one does",
        "return FP_LEVELS.index(level) >= FP_LEVELS.index(needed)",
        "return FP_LEVELS.index(level) + 1 >= FP_LEVELS.index(needed)",
    ),
    fault(
        "transforms.contract_fma",
        "what is subtracted is added",
        'right if e.op == "add" else _negative(right)',
        "right",
    ),
    fault(
        "transforms.contract_fma",
        "a product that is subtracted is added",
        'a if e.op == "add" else _negative(a)',
        "a",
    ),
    fault(
        "transforms.contract_fma",
        "the sign of a literal stays",
        "Literal(-e.value, e.dtype)",
        "Literal(e.value, e.dtype)",
    ),
    fault(
        "transforms._decided",
        "a bound that is reached counts as never reached",
        "False if high < 0 else None",
        "False if high <= 0 else None",
    ),
    fault(
        "transforms._decided",
        "the condition holds in both branches",
        "then, other = (*held, (condition, True)), (*held, (condition, False))",
        "then, other = (*held, (condition, True)), (*held, (condition, True))",
    ),
    fault(
        "transforms._decided",
        "an undecided conjunct is lost",
        "left.append(self._expr(condition, held, True))",
        "left[:] = [self._expr(condition, held, True)]",
    ),
    fault(
        "transforms.simplify_conditions",
        "a reduction may become the first to write",
        "for _, statement in implicit_starts(after):",
        "for _, statement in implicit_starts(program):",
    ),
)
