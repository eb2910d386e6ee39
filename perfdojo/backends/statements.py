"""Statements of the target IR as lines of C."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from perfdojo.backends.conditional import AS_WRITTEN, loads_conditionally
from perfdojo.backends.names import Names
from perfdojo.backends.scalar import ScalarPrinter
from perfdojo.compiler.emitted import C_TYPES
from perfdojo.compiler.lowering.lir import (
    Allocate,
    Barrier,
    Comment,
    Copy,
    Fence,
    For,
    If,
    Let,
    Prefetch,
    Set,
    Share,
    Stmt,
    Store,
    Stream,
    Tensor,
    Threads,
    Wait,
)

WIDTH = 110


def lines(body: tuple[Stmt, ...], printer: ScalarPrinter, threads: int) -> Iterator[str]:
    """Yield the lines of the body of the function, indented by two spaces for each level.

    Temporaries on the heap are not declared here but in front of the body, see `memory`.
    """
    for line in _block(body, printer, threads, 1):
        yield from _folded(line)


def _block(body: tuple[Stmt, ...], printer: ScalarPrinter, threads: int, depth: int) -> Iterator[str]:
    pad = "  " * depth
    for s in body:
        if printer.vectorised and loads_conditionally(s):
            yield f"{pad}{printer.use(AS_WRITTEN)}();"
        match s:
            case Comment():
                yield from _comment(s.text, pad)
            case Let():
                const = "" if s.mutable else "const "
                name = printer.names.give("variable", s.var.name)
                yield f"{pad}{const}{printer.type_name(s.var.type)} {name} = {printer.value(s.value)};"
            case Set():
                yield f"{pad}{printer.names.give('variable', s.var.name)} = {printer.value(s.value)};"
            case Store():
                yield pad + printer.store(s)
            case Prefetch():
                yield pad + printer.prefetch(s)
            case Fence():
                yield pad + printer.fence()
            case If():
                yield f"{pad}if ({printer.value(s.condition)}) {{"
                yield from _block(s.body, printer, threads, depth + 1)
                yield pad + "}"
            case For() if call := printer.loop_call(s, printer):
                yield from _comments(s, pad)
                yield pad + call
            case For():
                yield from (
                    _fenced(s, printer, threads, depth) if s.fenced else _loop(s, printer, threads, depth)
                )
            case Threads():
                if condition := printer.threads(s):
                    yield f"{pad}if ({condition}) {{"
                    yield from _block(s.body, printer, threads, depth + 1)
                    yield pad + "}"
                else:
                    yield from _block(s.body, printer, threads, depth)
            case Share():
                yield from _share(s, printer, threads, depth)
            case Barrier() | Wait() | Copy():
                yield pad + printer.order(s)
            case Tensor():
                yield from (pad + line for line in printer.tensor(s))
            case Stream() if s.otherwise:
                yield f"{pad}if ({printer.stream(s)}) {{"
                yield from _comment("A NaN: these maxima are computed one by one.", pad + "  ")
                yield from _block(s.otherwise, printer, threads, depth + 1)
                yield pad + "}"
            case Stream():
                yield f"{pad}{printer.stream(s)};"
            case Allocate():
                if s.space in ("stack", "fragment"):
                    yield pad + printer.stack(s)


def _share(s: Share, printer: ScalarPrinter, threads: int, depth: int) -> Iterator[str]:
    pad = "  " * depth
    head, first = printer.share(s)
    if not head and not first:
        yield from _block(s.body, printer, threads, depth)
        return
    yield f"{pad}{head}{{"
    yield from (f"{pad}  {line}" for line in first)
    yield from _block(s.body, printer, threads, depth + 1)
    yield pad + "}"


def _comments(s: For, pad: str) -> Iterator[str]:
    for inner in s.body:
        if isinstance(inner, Comment):
            yield from _comment(inner.text, pad)
        elif isinstance(inner, For):
            yield from _comments(inner, pad)


def _buffer(name: str, printer: ScalarPrinter) -> str:
    return printer.names.give("buffer", name)


def _fenced(s: For, printer: ScalarPrinter, threads: int, depth: int) -> Iterator[str]:
    """Yield a parallel loop behind which each thread has its fence, and then waits for the others."""
    pad = "  " * depth
    yield f"{pad}#pragma omp parallel num_threads({threads})"
    yield pad + "{"
    yield pad + "  #pragma omp for nowait"
    yield from _loop(s, printer, threads, depth + 1)
    yield f"{pad}  {printer.fence()}"
    yield pad + "}"


def _loop(s: For, printer: ScalarPrinter, threads: int, depth: int) -> Iterator[str]:
    pad = "  " * depth
    name = printer.names.give("variable", s.var.name)
    step = f"{name} += {s.step}" if s.step != 1 else f"++{name}"
    if s.parallel and not s.fenced and s.cores == 1:
        yield f"{pad}#pragma omp parallel for num_threads({threads})"
    if s.unroll:
        yield f"{pad}#pragma {printer.unroll} {s.unroll}"
    first, end = printer.value(s.start), printer.value(s.stop, 11)
    head = f"for ({printer.counter} {name} = {first}; {name} < {end}; {step}) "
    yield f"{pad}{printer.core_loop(s) if s.cores > 1 else head}{{"
    for buffer in s.private:
        own = _buffer(buffer, printer)
        yield f"{pad}  {C_TYPES[printer.element_type(buffer).name]} *restrict {own} = {own_memory(own)};"
    yield from _block(s.body, printer, threads, depth + 1)
    yield pad + "}"


def own_memory(name: str) -> str:
    """Return the expression of a thread's own copy of the temporary called `name`."""
    return f"{name}_all + omp_get_thread_num() * {name}_elems"


def _comment(text: str, pad: str) -> Iterator[str]:
    if len(text) + len(pad) + 6 <= WIDTH:
        yield f"{pad}/* {text} */"
        return
    # at most some lines: the text of the kernel is at the top of the file
    first, *more = wrap(text, max(WIDTH - len(pad) - 6, 30), max_lines=4, break_long_words=False)
    yield f"{pad}/* {first}" + ("" if more else " */")
    for number, line in enumerate(more):
        yield f"{pad} * {line}" + (" */" if number == len(more) - 1 else "")


def _folded(line: str) -> Iterator[str]:
    """Yield a line of code as lines that are not too long, broken where the fewest brackets are open."""
    indent = len(line) - len(line.lstrip()) + 4
    while len(line) > WIDTH:
        cut = _break(line, indent)
        if not cut:
            break
        yield line[:cut].rstrip()
        line = " " * indent + line[cut:]
    yield line


def _break(line: str, indent: int) -> int:
    """Return the place to break a line at, 0 when there is none: after a comma, or before an operator."""
    best, least, depth = 0, 1000, 0
    for place in range(indent, WIDTH):
        c = line[place]
        depth += (c in "([") - (c in ")]")
        after = line[place - 2 : place]
        operator = after[1:] == " " and c in "+-*/<>?:&|" and line[place + 1 : place + 2] in " &|="
        if (after == ", " or operator or after == "= ") and place > indent + 20 and depth <= least:
            best, least = place, depth
    return best


def memory(body: tuple[Stmt, ...], names: Names) -> tuple[list[str], bool]:
    """Return the lines that get the memory of the temporaries on the heap, and whether there are any."""
    heap = [s for s in body if isinstance(s, Allocate) and s.space == "heap"]
    if not heap:
        return [], False
    declarations: list[str] = []
    total = 0
    for s in heap:
        name, type = names.give("buffer", s.buffer), C_TYPES[s.dtype.name]
        # every copy begins on its own cache line
        elems = -(-s.elems * s.dtype.bytes // 64) * 64 // s.dtype.bytes
        at = f"(memory + {total})" if total else "memory"
        if s.copies > 1:
            declarations.append(f"  const int64_t {name}_elems = {elems};")
            declarations.append(f"  {type} *const {name}_all = ({type} *){at};")
        else:
            declarations.append(f"  {type} *restrict const {name} = ({type} *){at};")
        total += elems * s.dtype.bytes * s.copies
    lines = [
        f"  char *const memory = aligned_alloc(64, {total});",
        "  if (!memory) {",
        "    return 1;",
        "  }",
        *declarations,
    ]
    return lines, True
