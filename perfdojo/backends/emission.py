"""Target IR -> C source and header: what all targets that are programmed in C have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePosixPath

import jinja2

from perfdojo.backends.contract import contract, made_by
from perfdojo.backends.helpers import helper_text
from perfdojo.backends.names import Names
from perfdojo.backends.printer import VectorPrinter
from perfdojo.backends.scalar import ScalarPrinter
from perfdojo.backends.statements import lines, memory
from perfdojo.compiler.emitted import (
    BASE_FLAGS,
    C_TYPES,
    MARKER,
    RACELESS,
    Argument,
    EmittedSource,
    description_literals,
)
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import Layout, layouts
from perfdojo.compiler.lowering.lir import (
    Allocate,
    Call,
    Copy,
    For,
    Function,
    Load,
    Stmt,
    Store,
    Stream,
    children,
)
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.lowering.walk import BLOCKS, values
from perfdojo.compiler.schedule import Scheduled
from perfdojo.compiler.walk import const_int
from perfdojo.compiler.work import work


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """What the emitted files say about themselves.

    Attributes:
        origin: the program as its author wrote it, when `program` has been planned or scheduled.
        flags: compiler flags of the target (-mavx512f).
        emulation: see `EmittedSource`.
        scheduled: the schedule that `program` was made by, if one was.
        cores: of a cluster that are to run it; 0: all that there are, where it has a use for them.
    """

    origin: Program | None = None
    flags: tuple[str, ...] = ()
    emulation: tuple[tuple[str, str], ...] = ()
    scheduled: Scheduled | None = None
    cores: int = 0


def emit(
    program: Program,
    target: Target,
    fp: FpLevel,
    threads: int = 1,
    options: EmitOptions | None = None,
    vectors: VectorPrinter | None = None,
) -> EmittedSource:
    """Return the C source of a bound, verified and planned program.

    Args:
        vectors: printer of values with several lanes; None when the target has no vectors.
    """
    options = options or EmitOptions()
    function = lower(program, target, fp, threads)
    placed = layouts(program)
    names = Names()
    symbol = names.give("function", program.name)
    arguments = tuple(argument(placed[b.name]) for b in program.arguments)
    prototype = declaration(symbol, arguments, names)
    for name, _ in function.element_types:
        names.give("buffer", name)
    printer = ScalarPrinter(names, dict(function.element_types), vectors)
    printer.vectorised = True
    body, openmp = _body(function, printer, threads)
    body = [*unused(function, arguments, names), *body]
    includes, helpers = _helpers(printer, vectors, openmp)
    emitted = replace(
        described(program, function, target, fp, options),
        symbol=symbol,
        arguments=arguments,
        flags=(
            *options.flags,
            *(vectors.flags() if vectors else ()),
            *(("-fopenmp", *RACELESS) if openmp else ()),
        ),
        links=("-lm",),
        requires=(*target.features, *(vectors.needs() if vectors else ())),
        emulation=options.emulation,
        workspace=tuple(workspace(function.body)),
        tensor="pairs" if _by_pairs(function) else "",
    )
    comment = made_by(options.origin or program, emitted, target, threads, options.scheduled)
    templates = environment()
    file = f"{program.name}.c"
    header = f"{program.name}.h"
    source_text = templates.get_template("kernel.c.j2").render(
        marker=MARKER,
        file=file,
        comment=comment,
        header=header,
        includes=includes,
        helpers=helpers,
        prototype=prototype,
        body=body,
        description=description_literals(emitted),
    )
    header_text = templates.get_template("kernel.h.j2").render(
        marker=MARKER,
        file=header,
        comment=comment,
        guard=f"PERFDOJO_{program.name.upper()}_H",
        contract=contract(program, emitted, placed),
        prototype=prototype.replace("restrict", "PERFDOJO_RESTRICT"),
    )
    return replace(emitted, files=((file, source_text), (header, header_text)))


def described(
    program: Program, function: Function, target: Target, fp: FpLevel, options: EmitOptions
) -> EmittedSource:
    """Return what every backend says of its source: no symbol, no arguments and no files yet."""
    done = work(options.origin or program)
    return EmittedSource(
        kernel=program.name,
        target=target.name,
        symbol="",
        arguments=(),
        files=(),
        sizes=tuple((s.name, const_int(s.value)) for s in program.sizes),
        fp=fp,
        flags=options.flags,
        flops=done.flops,
        integer_ops=done.integer_ops,
        bytes=done.bytes,
        notes=function.notes,
    )


def cmake(emitted: EmittedSource) -> str:
    """Return a CMakeLists.txt that builds the emitted files as a static library."""
    source = PurePosixPath(emitted.files[0][0])
    in_c = source.suffix == ".c"
    base = tuple(f for f in BASE_FLAGS if not f.startswith("-std")) if in_c else ()
    return (
        environment("c" if in_c else emitted.target)
        .get_template("CMakeLists.txt.j2")
        .render(
            marker=MARKER,
            kernel=emitted.kernel,
            symbol=emitted.symbol,
            source=source.name,
            flags=(*base, *emitted.flags),
            links=tuple(f.removeprefix("-l") for f in emitted.links),
        )
    )


def _body(function: Function, printer: ScalarPrinter, threads: int) -> tuple[list[str], bool]:
    """Return the lines between the braces of the function, and whether they need OpenMP."""
    front, heap = memory(function.body, printer.names)
    text = [*front, *lines(function.body, printer, threads)]
    if heap:
        text.append("  free(memory);")
    return text, any(isinstance(s, For) and s.parallel for s in nested(function.body))


def declaration(symbol: str, arguments: tuple[Argument, ...], names: Names) -> str:
    """Return the C declaration of the function, its parameters under their names in C."""
    parameters = [
        f"{'const ' if a.role == 'in' else ''}{C_TYPES[a.dtype]} *restrict {names.give('buffer', a.name)}"
        for a in arguments
    ]
    return f"int {symbol}({', '.join(parameters) or 'void'})"


def unused(function: Function, arguments: tuple[Argument, ...], names: Names) -> list[str]:
    """Return the lines that name inputs which the function does not read; a compiler would warn of them."""
    read: set[str] = set()
    for s in nested(function.body):
        stack = [*values(s)]
        if isinstance(s, Store):
            read.add(s.buffer)
        elif isinstance(s, Stream):
            read |= s.read | s.written
        elif isinstance(s, Copy):
            read |= {s.to, s.source}
        while stack:
            v = stack.pop()
            if isinstance(v, Load):
                read.add(v.buffer)
            stack.extend(children(v))
    return [f"  (void){names.give('buffer', a.name)};" for a in arguments if a.name not in read]


def _by_pairs(function: Function) -> bool:
    """Tell whether instructions on pairs of bf16 multiply in it."""
    stack = [v for s in nested(function.body) for v in values(s)]
    while stack:
        v = stack.pop()
        if isinstance(v, Call) and v.op == "dot:bf16":
            return True
        stack.extend(children(v))
    return False


def nested(body: tuple[Stmt, ...]) -> list[Stmt]:
    """Return all statements of a body, those inside of others too."""
    found: list[Stmt] = []
    for s in body:
        found.append(s)
        if isinstance(s, BLOCKS):
            found += nested(s.body)
        elif isinstance(s, Stream):
            found += nested(s.otherwise)
    return found


def _helpers(printer: ScalarPrinter, vectors: VectorPrinter | None, openmp: bool) -> tuple[list[str], str]:
    """Return the system headers and the text of the static inline functions that the printed code calls."""
    headers, vector_text = vectors.prelude() if vectors is not None else ((), "")
    includes = ["math.h", "stdbool.h", "stdint.h", "stdlib.h", *headers]
    if openmp:
        includes.append("omp.h")
    scalar_text = helper_text(printer.helpers)
    return includes, "\n".join(t.strip("\n") for t in (scalar_text, vector_text) if t)


def workspace(body: tuple[Stmt, ...]) -> list[str]:
    """Return a sentence for each temporary that takes memory."""
    sentences = []
    for s in nested(body):
        if isinstance(s, Allocate):
            size = s.elems * s.dtype.bytes
            each = f" for each of {s.copies} threads" if s.copies > 1 else ""
            sentences.append(f"{s.buffer}: {size} bytes on the {s.space}{each}")
    return sentences


def argument(layout: Layout) -> Argument:
    """Return the description of a buffer that is an argument."""
    b = layout.buffer
    assert b.role != "tmp"
    values = None if b.values is None else (const_int(b.values[0]), const_int(b.values[1]))
    return Argument(b.name, b.role, b.dtype.name, layout.shape, layout.strides, layout.elems, values)


@cache
def environment(folder: str = "c") -> jinja2.Environment:
    """Return the templates of a folder of `perfdojo/templates`."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("perfdojo", f"templates/{folder}"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
