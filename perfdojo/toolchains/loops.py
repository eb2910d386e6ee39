"""Innermost loops in the assembly that gcc makes: how many instructions of which kind."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"^([.\w$]+):")
_INSTRUCTION = re.compile(r"^\s+([a-z][\w.]*)(?:\s+(.*))?$")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the assembly of an instruction set is read; patterns are of a line without blanks in front.

    Attributes:
        comment: what begins one.
        branch: mnemonics that end straight code.
        arithmetic: floating-point operations.
        fused: those of them that multiply and add.
        product: products of vectors of integers.
        vector: names of vector registers, in any place.
        stack: an access to the stack.
    """

    comment: str
    branch: re.Pattern[str]
    arithmetic: re.Pattern[str]
    fused: re.Pattern[str]
    product: re.Pattern[str]
    vector: re.Pattern[str]
    stack: re.Pattern[str]


AARCH64 = Dialect(
    "//",
    re.compile(r"b[lr]?|blr|ret|b\.?(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)|[ct]bn?z"),
    re.compile(r"f(?:n?m(?:la|ls|add|sub)|mul|add|sub|div|sqrt)\b"),
    re.compile(r"fn?m(?:la|ls|add|sub)\b"),
    re.compile(r"(?:[su]?ml[as]l?2?|[su]?mull?2?|[su]dot)\s+v"),
    re.compile(r"\b[vq]\d"),
    re.compile(r"(?:ld|st)\S+\s.*\[sp"),
)
X86 = Dialect(
    "#",
    re.compile(r"j[a-z]+|call|ret"),
    re.compile(r"v(?:fn?m(?:add|sub)(?:132|213|231)|mul|add|sub|div|sqrt|max|min|scalef)[ps][shd]\b"),
    re.compile(r"vfn?m(?:add|sub)(?:132|213|231)[ps][shd]\b"),
    re.compile(r"vp(?:mul|madd|dpb)\w+\s"),
    re.compile(r"%[yz]mm\d"),
    re.compile(r"v?mov\S*\s.*\(%r[sb]p"),
)


@dataclass(frozen=True, slots=True)
class Loop:
    """An innermost loop of a function in assembly.

    Attributes:
        arithmetic: how many of its instructions are floating-point operations.
        products: how many multiply vectors of integers.
        vectors: how many name a vector register, loads and stores too.
        fused: how many multiply and add.
        spills: how many move something to or from the stack.
    """

    label: str
    lines: tuple[str, ...]
    arithmetic: int
    products: int
    vectors: int
    fused: int = 0
    spills: int = 0


def innermost_loops(assembly: str, dialect: Dialect = AARCH64) -> tuple[Loop, ...]:
    """Return the loops of gcc's assembly that jump back over nothing but straight code."""
    found: list[Loop] = []
    label = ""
    body: list[str] = []
    for line in assembly.splitlines():
        text = line.split(dialect.comment)[0].rstrip()
        if named := _LABEL.match(text):
            label, body = named[1], []
        elif (said := _INSTRUCTION.match(text)) and not said[1].startswith("."):
            body.append(text.strip())
            if not dialect.branch.fullmatch(said[1]):
                continue
            if label and (said[2] or "").split(",")[-1].strip() == label:
                found.append(_loop(label, body, dialect))
            label = ""
    return tuple(found)


def _loop(label: str, body: list[str], d: Dialect) -> Loop:
    def count(pattern: re.Pattern[str]) -> int:
        return sum(bool(pattern.match(line)) for line in body)

    vectors = sum(bool(d.vector.search(line)) for line in body)
    return Loop(
        label, tuple(body), count(d.arithmetic), count(d.product), vectors, count(d.fused), count(d.stack)
    )


def main_loop(assembly: str, dialect: Dialect = AARCH64) -> Loop | None:
    """Return the innermost loop with the most arithmetic, products of integers too; of equal ones that with
    the most vectors.
    """
    loops = innermost_loops(assembly, dialect)
    return max(loops, key=lambda n: (n.arithmetic + n.products, n.vectors, len(n.lines)), default=None)


def spills_of(assembly: str, dialect: Dialect) -> int:
    """Return how many instructions of a text move vectors to or from the stack."""
    lines = (line.split(dialect.comment)[0].strip() for line in assembly.splitlines())
    return sum(bool(dialect.vector.search(line) and dialect.stack.match(line)) for line in lines)
