"""Target IR -> files for Snitch: C for the integer core, the header, what both need at run time."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.backends.contract import contract, made_by
from perfdojo.backends.emission import (
    EmitOptions,
    argument,
    declaration,
    environment,
    nested,
    unused,
    workspace,
)
from perfdojo.backends.helpers import helper_text
from perfdojo.backends.names import Names
from perfdojo.backends.scalar import ScalarPrinter
from perfdojo.backends.snitch.counters import narrow
from perfdojo.backends.snitch.runtime import runtime_files
from perfdojo.backends.statements import lines
from perfdojo.compiler.emitted import C_TYPES, MARKER, Argument, EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import layouts
from perfdojo.compiler.lowering.lir import Allocate, Function
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.walk import const_int
from perfdojo.compiler.work import work

ALIGNMENT = 8
"""Bytes that pointers are multiples of: data movers ignore the low three bits of addresses."""


def emitted(program: Program, target: Target, fp: FpLevel, options: EmitOptions) -> EmittedSource:
    """Return the source of a bound, verified and scheduled program."""
    function = lower(program, target, fp)
    placed = layouts(program)
    names = Names()
    symbol = names.give("function", program.name)
    arguments = tuple(argument(placed[b.name]) for b in program.arguments)
    prototype = declaration(symbol, arguments, names)
    for name, _ in function.element_types:
        names.give("buffer", name)
    done = work(options.origin or program)
    source, helpers = _source(function, arguments, names)
    made = EmittedSource(
        kernel=program.name,
        target=target.name,
        symbol=symbol,
        arguments=arguments,
        files=(),
        sizes=tuple((s.name, const_int(s.value)) for s in program.sizes),
        fp=fp,
        flags=options.flags,
        links=("-lgcc",),
        workspace=tuple(w.replace("on the heap", "of static memory") for w in workspace(function.body)),
        alignment=ALIGNMENT,
        flops=done.flops,
        integer_ops=done.integer_ops,
        bytes=done.bytes,
    )
    runtime = runtime_files("\n".join((helpers, *source)))
    files = [f"{program.name}.c", *(name for name, _ in runtime if name.endswith((".c", ".S")))]
    comment = made_by(options.origin or program, made, target, 1, options.scheduled, _command(files, made))
    text = {"marker": MARKER, "comment": comment, "prototype": prototype}
    header = f"{program.name}.h"
    header_text = (
        environment()
        .get_template("kernel.h.j2")
        .render(
            **{**text, "prototype": prototype.replace("restrict", "PERFDOJO_RESTRICT")},
            file=header,
            guard=f"PERFDOJO_{program.name.upper()}_H",
            contract=contract(program, made, placed),
        )
    )
    source_text = (
        environment("snitch")
        .get_template("kernel.c.j2")
        .render(
            **text,
            file=f"{program.name}.c",
            headers=(header, *(name for name, _ in runtime if name.endswith(".h"))),
            helpers=helpers,
            body=source,
        )
    )
    return replace(made, files=((f"{program.name}.c", source_text), (header, header_text), *runtime))


def _command(files: list[str], made: EmittedSource) -> tuple[str, ...]:
    """Return the lines that tell how the files are compiled."""
    flags = " ".join(("-O3", "-std=c11", "-ffp-contract=off", "-frounding-math", *made.flags))
    return (
        "Compile with (Debian: gcc-riscv64-unknown-elf)",
        f"  riscv64-unknown-elf-gcc {flags} -c {' '.join(files)}",
        f"and link with {' '.join(made.links)}; -O2 is fine too, -ffast-math is not.",
    )


def _source(function: Function, arguments: tuple[Argument, ...], names: Names) -> tuple[list[str], str]:
    """Return the lines between the braces of the C function, and the helpers that they call."""
    printer = ScalarPrinter(names, dict(function.element_types), None)
    printer.counter = "int32_t" if narrow(function.body) else "int64_t"
    static = [s for s in nested(function.body) if isinstance(s, Allocate) and s.space == "heap"]
    body = [
        *unused(function, arguments, names),
        *(_static(s, names) for s in static),
        *lines(function.body, printer, 1),
    ]
    return body, helper_text(printer.helpers)


def _static(s: Allocate, names: Names) -> str:
    name = names.give("buffer", s.buffer)
    return f"  static _Alignas({ALIGNMENT}) {C_TYPES[s.dtype.name]} {name}[{s.elems}];"
