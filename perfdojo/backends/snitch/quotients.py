"""Functions of arrays that end in a quotient: tanh and sigmoid of f32, in three passes, as assembly.

  first    x -> t, r     t has k in its low bits, x = k c + r
  shift    t -> s        the integer core makes 2^k of t
  second   r, s -> d, n  the function is n / d
  guess    d -> g        the integer core subtracts the bits of d from a constant: 1 / d, 5 % off
  third    d, n, g -> y  iterations, and a last step that rounds correctly

The bits are those of the scalar routine (`compiler/elementary/describe.py`) for every argument: the slow
tests compare them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from perfdojo.backends.emission import environment
from perfdojo.backends.snitch.encodings import F7
from perfdojo.backends.snitch.passes import Pass, Step, laid_out, parsed
from perfdojo.backends.snitch.quotient_steps import FUNCTIONS, f32_word
from perfdojo.compiler.emitted import MARKER

REGISTERS = 29
"""FP registers that are no streams."""
KEPT = (8, 9, *range(18, 28))
"""Those that a callee leaves as they were."""
GUESS = 0x7EF311C7
"""Minus the bits of an f32 d, those of about 1 / d (Lomont 2003 has the like for inverse roots)."""


def assembly(name: str) -> str:
    """Return the assembly of `snitch_<name>_blocks`."""
    q = FUNCTIONS[name]
    constants = q.constants
    pairs = (REGISTERS - len(constants)) // 2
    passes = [laid_out(parsed(text), pairs) for text in q.passes]
    used = max(max(p.registers.values()) for p in passes) + 1
    free = [f"f{k}" for k in (*range(3, 8), *range(10, 18), *range(28, 32), *KEPT)]
    values = free[len(constants) :]
    registers = {f"${n}": register for n, register in zip(constants, free, strict=False)}
    return (
        environment("snitch")
        .get_template("snitch_quotient.S.j2")
        .render(
            marker=MARKER,
            file=f"snitch_{name}.S",
            name=name,
            passes=[
                {
                    "begin": _lines(p.begin(), p, registers, values),
                    "loop": _lines(p.steps, p, registers, values),
                    "end": _lines(p.end(), p, registers, values),
                    "depth": p.depth,
                    "uses": [sum(f"<{m}" in s.args for s in p.steps) for m in (0, 1)],
                }
                for p in passes
            ],
            constants=[(n, registers[f"${n}"], f32_word(v)) for n, v in constants.items()],
            saved=[r for r in (*registers.values(), *values[: 2 * used]) if int(r[1:]) in KEPT],
            limit=q.limit,
            guess=f"{GUESS:#010x}",
        )
    )


def _lines(steps: Iterable[Step], p: Pass, constants: Mapping[str, str], values: Sequence[str]) -> list[str]:
    """Return two instructions for each step, one for each pair of elements.

    Args:
        constants: register of each.
        values: registers for the values of a pass, two for each.
    """

    def registers(word: str) -> tuple[str, str]:
        if word == "":
            return "f2", "f2"
        if word[0] == "<":
            return f"f{word[1]}", f"f{word[1]}"
        if word[0] == "$":
            return constants[word], constants[word]
        first = 2 * p.registers[word]
        return values[first], values[first + 1]

    found = []
    for s in steps:
        words = [registers(w) for w in (s.dest, *s.args)]
        found += [f"packed {F7[s.op]:#x}, {', '.join(w[side] for w in words)}" for side in (0, 1)]
    return found
