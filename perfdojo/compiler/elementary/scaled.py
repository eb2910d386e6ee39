"""Routines for machines that multiply by a power of two in one instruction: `scale`, a * 2^b rounded once."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.compiler.elementary import coefficients as c
from perfdojo.compiler.elementary.routine import Routine, Step


def scaled(routine: Routine) -> Routine:
    """Return a routine that gives the same bits with `scale` where it multiplies by 2^k twice.

        s = 2^k, made of the bits of k + BIAS        k2 = k + k
        half = p * s                            ->   y = scale(p, k2)
        y = half * s

    The first product is exact there, so that both round once.
    """
    steps = {s.name: s for s in routine.steps}
    out: list[Step] = []
    for step in routine.steps:
        found = _twice(step, steps)
        if found is None:
            out.append(step)
            continue
        p, k = found
        out.append(Step(f"{k}2", "add", (k, k)))
        out.append(replace(step, op="scale", args=(p, f"{k}2")))
    return replace(routine, steps=_used(out, routine.result))


def _twice(y: Step, steps: dict[str, Step]) -> tuple[str, str] | None:
    """The operands p and k of y = (p * 2^k) * 2^k, None where y is something else."""
    if y.op != "mul" or y.args[0] not in steps:
        return None
    half = steps[y.args[0]]
    if half.op != "mul" or half.args[1] != y.args[1]:
        return None
    k = _exponent(steps[y.args[1]], steps)
    return None if k is None else (half.args[0], k)


def _exponent(s: Step, steps: dict[str, Step]) -> str | None:
    """The step k with s = 2^k: k = t - magic, s has the bits of t shifted to the exponent."""
    chain = [s]
    for op in ("bitcast_i32_f32", "shl_i32", "bitcast_f32_i32"):
        if chain[-1].op != op or chain[-1].args[0] not in steps:
            return None
        chain.append(steps[chain[-1].args[0]])
    t = chain[-1]
    for k in steps.values():
        if k.op == "sub" and k.args[0] == t.name and steps[k.args[1]].value == c.ROUND + c.BIAS:
            return k.name
    return None


def _used(steps: list[Step], result: str) -> tuple[Step, ...]:
    """The steps that the result needs."""
    needed = {result}
    for step in reversed(steps):
        if step.name in needed:
            needed.update(step.args)
    return tuple(s for s in steps if s.name in needed)
