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
from perfdojo.backends.snitch.arrays import array_call
from perfdojo.backends.snitch.cluster import (
    HEADER,
    ClusterPrinter,
    header_text,
    shares_of,
    target_for,
)
from perfdojo.backends.snitch.counters import narrow
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
from perfdojo.compiler.walk import const_int
from perfdojo.compiler.work import work

ALIGNMENT = 8
"""Bytes that pointers are multiples of: data movers ignore the low three bits of addresses."""


def emitted(program: Program, target: Target, fp: FpLevel, options: EmitOptions) -> EmittedSource:
    """Return the source of a bound, verified and scheduled program."""
    function = lower(program, target_for(program, target), fp, cores=options.cores)
    shares = {s.who for s in shares_of(function)}
    cores = (options.cores or target.cores) if "cores" in shares else 1
    placed = layouts(program)
    names = Names()
    symbol = names.give("function", program.name)
    arguments = tuple(argument(placed[b.name]) for b in program.arguments)
    prototype = declaration(symbol, arguments, names)
    for name, _ in function.element_types:
        names.give("buffer", name)
    done = work(options.origin or program)
    made = EmittedSource(
        kernel=program.name,
        target=target.name,
        symbol=symbol,
        arguments=arguments,
        files=(),
        sizes=tuple((s.name, const_int(s.value)) for s in program.sizes),
        fp=fp,
        flags=(*_flags(options.flags, target), *(RACELESS if shares else ())),
        requires=tuple(f for f in target.features if f == DIVIDER),
        links=("-lgcc",),
        workspace=tuple(_own_words(w) for w in workspace(function.body)),
        flops=done.flops,
        integer_ops=done.integer_ops,
        bytes=done.bytes,
        alignment=ALIGNMENT,
        cores=cores,
        dma="dma" in shares,
        notes=function.notes,
        memory="main" if "dma" in shares else "tcdm" if streams_of(function) else "",
    )
    whole = whole_kernel(function, arguments)
    made = replace(made, waits=bool(whole))
    nests = functions_of(function, symbol, names, whole, prototype)
    called = {id(n.stream): n.name for n in nests}
    printed = None if whole else _source(function, arguments, names, called, made)
    text = "" if printed is None else "\n".join((prototype, printed[1], *printed[0]))
    runtime = runtime_files(text, DIVIDER in target.features)
    if shares:
        runtime = ((HEADER, header_text(made.dma)), *runtime)
    assembled = [f"{program.name}.S"] if nests else []
    written = [] if printed is None else [f"{program.name}.c"]
    files = [*written, *assembled, *(name for name, _ in runtime if name.endswith((".c", ".S")))]
    comment = made_by(
        options.origin or program, made, target, 1, options.scheduled, _command(files, made), options.cores
    )
    frame: dict[str, object] = {"marker": MARKER, "comment": comment}
    header = f"{program.name}.h"
    out: list[tuple[str, str]] = []
    if printed is not None:
        headers = (header, *(name for name, _ in runtime if name.endswith(".h")))
        body, helpers = printed
        more = {"headers": headers, "helpers": helpers, "body": body, "prototype": prototype}
        declared = [n.prototype for n in nests]
        out.append(
            (written[0], _render("snitch", "kernel.c.j2", **frame, **more, file=written[0], nests=declared))
        )
    if nests:
        out.append(
            (assembled[0], assembly_file(assembled[0], nests, whole, frame, [a.name for a in arguments]))
        )
    more = {
        "prototype": prototype.replace("restrict", "PERFDOJO_RESTRICT"),
        "guard": f"PERFDOJO_{program.name.upper()}_H",
        "contract": contract(program, made, placed),
    }
    out.append((header, _render("c", "kernel.h.j2", **frame, **more, file=header)))
    return replace(made, files=(*out, *runtime))


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
    printer.cores, printer.dma = made.cores, made.dma
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
