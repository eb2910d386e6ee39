"""The record of an operation on vectors: its C text on one machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_INTRINSIC = re.compile(r"\b(?:_(?:mm\d*|k\w+?)_\w+|v[a-z]+\d*q?_\w+)")
"""x86 and Arm name theirs so."""
_CALL = re.compile(r"\b\w+(?=\()")
_HELPER = re.compile(r"\bpd_\w+(?=\()")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One operation on vectors as C text.

    It is printed in place when it is short, else as a static inline function; `inline` tells which.

    Attributes:
        op: an operation of `lir.Call`; `load`, `store`, `gather:<type of the offsets>` and their masked forms
            `masked_load`, ...; `cast:<from>`; or one that only other records use (see `instructions.py`).
        dtype: element type: of the result of a cast, of the operands of everything else; bool for a mask.
        format: C expression of the result with the operands {0}, {1}, ...
        setup: C statements before it, when it does not fit into one expression.
        parameters: C types of the operands.
        result: C type of the result, `void` for a store.
        why: a comment for the reader of the emitted code.
        needs: CPU feature that it needs beside those of its target, as /proc/cpuinfo spells it.
    """

    op: str
    dtype: str
    lanes: int
    format: str
    parameters: tuple[str, ...]
    result: str
    setup: tuple[str, ...] = ()
    why: str = ""
    needs: str = ""

    @property
    def name(self) -> str:
        """Name of the function, when it becomes one: `pd_max_f32x16`."""
        return f"pd_{self.op.replace(':', '_')}_{self.dtype}x{self.lanes}"

    @property
    def text(self) -> str:
        """All C text of the record."""
        return "\n".join((*self.setup, self.format))

    @property
    def intrinsics(self) -> tuple[str, ...]:
        """The intrinsics in the order in which they are written."""
        return tuple(_INTRINSIC.findall(self.text))

    @property
    def helpers(self) -> tuple[str, ...]:
        """Names of the functions of other records that it calls."""
        return tuple(dict.fromkeys(_HELPER.findall(self.text)))

    @property
    def inline(self) -> bool:
        """Whether it is written in place: one expression, each operand once, two calls at most."""
        once = all(self.format.count(f"{{{k}}}") == 1 for k in range(len(self.parameters)))
        return not self.setup and once and len(_CALL.findall(self.format)) <= 2 and "?" not in self.format

    def apply(self, *operands: str) -> str:
        """Return the expression that applies it to C expressions of operands."""
        assert len(operands) == len(self.parameters), (self, operands)
        if self.inline:
            return self.format.format(*operands)
        return f"{self.name}({', '.join(operands)})"

    def function(self) -> str:
        """Return the C function, for a record that is not `inline`."""
        letters = "abcdefgh"[: len(self.parameters)]
        arguments = ", ".join(
            f"{t}{'' if t.endswith('*') else ' '}{x}" for t, x in zip(self.parameters, letters, strict=True)
        )
        last = self.format.format(*letters)
        lines = [line.format(*letters) for line in self.setup]
        lines.append(last if self.result == "void" else f"return {last}")
        return c_function(f"{self.result} {self.name}({arguments or 'void'})", lines, self.why)


def c_function(head: str, lines: Sequence[str], comment: str = "") -> str:
    """Return a static inline C function; `lines` are statements without their semicolon, or blocks."""
    text = [f"/* {comment} */"] if comment else []
    text.append(f"static inline {head} {{")
    for line in lines:
        text += _wrapped(line if line.endswith(("{", "}", "*/")) else f"{line};")
    return "\n".join([*text, "}"])


def _wrapped(line: str, width: int = 100) -> list[str]:
    """Break a long statement behind its outermost commas."""
    pieces, indent = [], "  "
    while len(indent) + len(line) > width:
        places = [k + 2 for k in range(width - len(indent) - 1) if line.startswith(", ", k)]
        if not places:
            break
        depth = {k: line[:k].count("(") - line[:k].count(")") for k in places}
        place = max(k for k in places if depth[k] == min(depth.values()))
        pieces.append(indent + line[:place].rstrip())
        line, indent = line[place:], "      "
    return [*pieces, indent + line]
