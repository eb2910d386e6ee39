"""The assembly file of a kernel: a function for each nest, or one that is the kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perfdojo.backends.emission import environment, nested
from perfdojo.backends.names import Names
from perfdojo.backends.snitch.assembly import Routine, written
from perfdojo.backends.snitch.encodings import PACKED, PACKED_ONE, WORDS
from perfdojo.backends.snitch.writer import Text
from perfdojo.compiler.emitted import C_TYPES, Argument
from perfdojo.compiler.lowering.lir import Comment, Const, Function, Stream

MAX_ARGUMENTS = 8
"""Pointers that are passed in registers."""
COMMENT_COLUMN = 40


@dataclass(frozen=True, slots=True)
class NestFunction:
    """A nest with the name and the C declaration of the function that runs it."""

    stream: Stream
    name: str
    prototype: str
    label: str


def streams_of(function: Function) -> list[Stream]:
    """Return the nests of a function, in the order of the text."""
    return [s for s in nested(function.body) if isinstance(s, Stream)]


def whole_kernel(function: Function, arguments: Sequence[Argument]) -> bool:
    """Tell whether nests are all that a kernel consists of, so that it needs no C."""
    body = [s for s in function.body if not isinstance(s, Comment)]
    names = {a.name for a in arguments}
    return (
        bool(body)
        and len(arguments) <= MAX_ARGUMENTS
        and all(
            isinstance(s, Stream)
            and not s.nest.checks
            and all(isinstance(p, Const) and p.value == 0 for p in s.pointers)
            and {a.buffer for a in s.nest.arguments} <= names
            for s in body
        )
    )


def functions_of(
    function: Function, symbol: str, names: Names, whole: bool, prototype: str
) -> list[NestFunction]:
    """Return the functions of the nests of a kernel; where they are the kernel, all have its name."""
    types = dict(function.element_types)
    found = []
    for number, s in enumerate(streams_of(function)):
        if whole:
            found.append(NestFunction(s, symbol, prototype, f"{symbol}{number}"))
            continue
        name = names.give("function", f"{symbol}_nest{number}")
        parameters = ", ".join(
            f"{'' if a.buffer in s.written else 'const '}{C_TYPES[types[a.buffer].name]} *"
            for a in s.nest.arguments
        )
        result = "int" if s.nest.checks else "void"
        found.append(NestFunction(s, name, f"{result} {name}({parameters})", name))
    return found


def assembly_file(
    file: str, nests: Sequence[NestFunction], whole: bool, frame: dict[str, object], arguments: Sequence[str]
) -> str:
    """Return the text of the assembly file; `arguments`: names of the buffers that the kernel is passed."""
    pool: list[tuple[str, str]] = []
    functions = []
    groups = [list(nests)] if whole else [[n] for n in nests]
    for group in groups:
        lines: list[str] = []
        for number, n in enumerate(group):
            after = [g.stream for g in group[number + 1 :]]
            waits = any(_depend(n.stream, other) for other in after)
            ends = (number == 0, number == len(group) - 1) if whole else (False, False)
            made = written(_routine(n, whole, waits, len(group) > 1, arguments, ends))
            lines += [_line(t) for t in made.lines]
            pool += made.pool
        if any(n.stream.nest.checks for n in group):
            lines.append(_line(Text("xori a0, a0, 1", "whether it met a NaN")))
        lines += ["    li a0, 0", "    ret"] if whole else ["    ret"]
        functions.append({"name": group[0].name, "prototype": group[0].prototype, "lines": lines})
    text = "\n".join(line for f in functions for line in f["lines"])
    used = set(re.findall(r"^ +(\w+)", text, re.MULTILINE))
    return (
        environment("snitch")
        .get_template("kernel.S.j2")
        .render(
            **frame,
            file=file,
            functions=functions,
            pool=pool,
            words=[w for w in WORDS if re.search(rf"\b{w[0]}\b", text)],
            macros=used,
            packed=[p for p in PACKED if p[0] in used],
            packed_one=[p for p in PACKED_ONE if p[0] in used],
        )
    )


def _depend(first: Stream, second: Stream) -> bool:
    """Tell whether a nest has to wait for one before it.

    Its streams would read what is not written yet, or a mover would turn round while it still works, or
    deliver elements more often than the instructions before it expect.
    """
    before = {m.number: m for m in first.nest.movers}
    changed = any(
        m.number in before and (before[m.number].write, before[m.number].repeat) != (m.write, m.repeat)
        for m in second.nest.movers
    )
    return changed or not first.written.isdisjoint(second.read | second.written)


def _routine(
    n: NestFunction,
    whole: bool,
    waits: bool,
    several: bool,
    arguments: Sequence[str],
    ends: tuple[bool, bool],
) -> Routine:
    own = [a.buffer for a in n.stream.nest.arguments]
    registers = tuple(f"a{arguments.index(b) if whole else k}" for k, b in enumerate(own))
    passed = len(arguments) if whole else len(own)
    # registers of arguments that this nest does not have are free where no other one follows
    taken = {f"a{k}" for k in range(passed)} if several else set(registers)
    spare = tuple(r for r in (f"a{k}" for k in range(7, -1, -1)) if r not in taken)
    return Routine(n.stream.nest, registers, spare, n.label, not whole, several, waits, *ends)


def _line(t: Text) -> str:
    if not t.code:
        return f"    # {t.comment}"
    code = t.code if t.code.endswith(":") else f"    {t.code}"
    return f"{code:<{COMMENT_COLUMN}}# {t.comment}" if t.comment else code
