"""Target IR -> files for Snitch: C for the integer core, the header, what both need at run time."""

from __future__ import annotations

from dataclasses import replace

from perfdojo.backends.contract import contract, made_by
from perfdojo.backends.counters import narrow
from perfdojo.backends.emission import (
    EmitOptions,
    argument,
    declaration,
    described,
    environment,
    nested,
    unused,
    workspace,
)
from perfdojo.backends.helpers import helper_text
from perfdojo.backends.names import Names
from perfdojo.backends.snitch.arrays import array_call
from perfdojo.backends.snitch.cluster import (
    HEADER,
    ClusterPrinter,
    header_text,
    shares_of,
    target_for,
)
from perfdojo.backends.snitch.nests import assembly_file, functions_of, streams_of, whole_kernel
from perfdojo.backends.snitch.runtime import helpers_for_snitch, runtime_files
from perfdojo.backends.statements import lines
from perfdojo.compiler.emitted import MARKER, RACELESS, Argument, EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import layouts
from perfdojo.compiler.lowering.lir import Allocate, Function
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.nests.found import DIVIDER
from perfdojo.compiler.lowering.target import FpLevel, Target

ALIGNMENT = 8
"""Bytes that pointers are multiples of: data movers ignore the low three bits of addresses."""


def emitted(program: Program, target: Target, fp: FpLevel, options: EmitOptions) -> EmittedSource:
    """Return the source of a bound, verified and scheduled program."""
    function = lower(program, target_for(program, target), fp, cores=options.cores)
    placed = layouts(program)
    names = Names()
    symbol = names.give("function", program.name)
    arguments = tuple(argument(placed[b.name]) for b in program.arguments)
    prototype = declaration(symbol, arguments, names)
    for name, _ in function.element_types:
        names.give("buffer", name)
    whole = whole_kernel(function, arguments)
    made = _described(program, function, target, fp, options)
    made = replace(made, symbol=symbol, arguments=arguments, waits=whole)
    nests = functions_of(function, symbol, names, whole, prototype)
    called = {id(n.stream): n.name for n in nests}
    body, helpers = ([], "") if whole else _source(function, arguments, names, called, made)
    runtime = () if whole else runtime_files("\n".join((prototype, helpers, *body)), DIVIDER in made.requires)
    if shares_of(function):
        runtime = ((HEADER, header_text(made.dma)), *runtime)
    written = ([] if whole else [f"{program.name}.c"]) + ([f"{program.name}.S"] if nests else [])
    compiled = [*written, *(name for name, _ in runtime if name.endswith((".c", ".S")))]
    origin, command = options.origin or program, _command(compiled, made)
    comment = made_by(origin, made, target, 1, options.scheduled, command, options.cores)
    frame: dict[str, object] = {"marker": MARKER, "comment": comment}
    header = f"{program.name}.h"
    out: list[tuple[str, str]] = []
    if not whole:
        text = _render(
            "snitch",
            "kernel.c.j2",
            **frame,
            file=written[0],
            headers=(header, *(name for name, _ in runtime if name.endswith(".h"))),
            helpers=helpers,
            body=body,
            prototype=prototype,
            nests=[n.prototype for n in nests],
        )
        out.append((written[0], text))
    if nests:
        text = assembly_file(written[-1], nests, whole, frame, [a.name for a in arguments])
        out.append((written[-1], text))
    text = _render(
        "c",
        "kernel.h.j2",
        **frame,
        file=header,
        prototype=prototype.replace("restrict", "PERFDOJO_RESTRICT"),
        guard=f"PERFDOJO_{program.name.upper()}_H",
        contract=contract(program, made, placed),
    )
    return replace(made, files=(*out, (header, text), *runtime))


def _described(
    program: Program, function: Function, target: Target, fp: FpLevel, options: EmitOptions
) -> EmittedSource:
    """Return what is said of the source, but for its symbol, arguments and files."""
    shares = {s.who for s in shares_of(function)}
    return replace(
        described(program, function, target, fp, options),
        flags=(*_flags(options.flags, target), *(RACELESS if shares else ())),
        requires=tuple(f for f in target.features if f == DIVIDER),
        links=("-lgcc",),
        workspace=tuple(_own_words(w) for w in workspace(function.body)),
        alignment=ALIGNMENT,
        cores=(options.cores or target.cores) if "cores" in shares else 1,
        dma="dma" in shares,
        memory="main" if "dma" in shares else "tcdm" if streams_of(function) else "",
    )


def _render(folder: str, template: str, **values: object) -> str:
    return environment(folder).get_template(template).render(**values)


def _command(files: list[str], made: EmittedSource) -> tuple[str, ...]:
    """Return the lines that tell how the files are compiled."""
    flags = " ".join(("-O3", "-std=c11", "-ffp-contract=off", "-frounding-math", *made.flags))
    return (
        "Compile with (Debian: gcc-riscv64-unknown-elf)",
        f"  riscv64-unknown-elf-gcc {flags} -c {' '.join(files)}",
        f"and link with {' '.join(made.links)}; -O2 is fine too, -ffast-math is not.",
    )


def _source(
    function: Function,
    arguments: tuple[Argument, ...],
    names: Names,
    nests: dict[int, str],
    made: EmittedSource,
) -> tuple[list[str], str]:
    """Return the lines between the braces of the C function, and the helpers that they call."""
    printer = ClusterPrinter(names, dict(function.element_types), None)
    printer.nests = nests
    printer.cores, printer.dma, printer.divides = made.cores, made.dma, DIVIDER in made.requires
    printer.loop_call = array_call
    printer.counter = "int32_t" if narrow(function.body) else "int64_t"
    static = [s for s in nested(function.body) if isinstance(s, Allocate) and s.space == "heap"]
    body = [
        *unused(function, arguments, names),
        *([printer.start()] if shares_of(function) else []),
        *(printer.static(s, ALIGNMENT) for s in static),
        *lines(function.body, printer, 1),
    ]
    return body, helpers_for_snitch(helper_text(printer.helpers), DIVIDER in made.requires)


def _flags(flags: tuple[str, ...], target: Target) -> tuple[str, ...]:
    return tuple(f for f in flags if f != "-mno-fdiv" or DIVIDER not in target.features)


def _own_words(workspace: str) -> str:
    return workspace.replace("on the heap", "of static memory").replace("threads", "cores")
