"""Target IR -> CUDA C++: kernels, the launcher that calls them in turn, its header."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from perfdojo.backends.contract import contract, made_by
from perfdojo.backends.counters import narrow
from perfdojo.backends.cuda.printer import CudaPrinter
from perfdojo.backends.cuda.rtc import instead_of_headers
from perfdojo.backends.cuda.tensor import ALIGNED, WORDS
from perfdojo.backends.emission import EmitOptions, argument, described, environment, nested
from perfdojo.backends.helpers import helper_text
from perfdojo.backends.names import Names
from perfdojo.backends.statements import lines
from perfdojo.compiler.analysis.tensor import DEPTH
from perfdojo.compiler.dtypes import F32
from perfdojo.compiler.emitted import C_TYPES, MARKER, EmittedSource
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.layout import layouts
from perfdojo.compiler.lowering.lir import Allocate, Copy, Kernel, Load, Stmt, Store, Tensor, children
from perfdojo.compiler.lowering.lower import lower
from perfdojo.compiler.lowering.target import FpLevel, Target
from perfdojo.compiler.lowering.walk import values

RETURNS = (
    "The pointers are of memory of the device. The work is put into the stream. Returns 0, or a cudaError_t:"
    " that of a launch, or cudaErrorMisalignedAddress."
)
ACCESS = 16
"""Bytes of the widest access."""
ALIGNMENT = 256
"""Bytes that a workspace begins at multiples of, as what cudaMalloc gives does."""


@dataclass(frozen=True, slots=True)
class _Written:
    """One kernel as text."""

    name: str
    about: str
    threads: int
    parameters: str
    signature: str
    arguments: str
    grid: str
    block: str
    shared: int
    body: list[str]


def emitted(program: Program, target: Target, fp: FpLevel, options: EmitOptions) -> EmittedSource:
    """Return the source of a bound, verified and scheduled program."""
    function = lower(program, target, fp)
    placed, names = layouts(program), Names()
    symbol = names.give("function", program.name)
    count = sum(isinstance(s, Kernel) for s in function.body)
    called = [names.give("function", f"{program.name}_{n}") for n in range(count)]
    for word in ("memory", "status", "arguments", "freed", "stream", *WORDS):
        names.give("local", word)
    arguments = tuple(argument(placed[b.name]) for b in program.arguments)
    for name, _ in function.element_types:
        names.give("buffer", name)
    printer = CudaPrinter(names, dict(function.element_types))
    written = [
        _kernel(k, name, printer)
        for k, name in zip((s for s in function.body if isinstance(s, Kernel)), called, strict=True)
    ]
    heap = [s for s in function.body if isinstance(s, Allocate)]
    total, temporaries = _memory(heap, printer)
    wide = _wide(function.body)
    tensors = [s for s in nested(function.body) if isinstance(s, Tensor)]
    made = replace(
        described(program, function, target, fp, options),
        symbol=symbol,
        arguments=arguments,
        workspace=tuple(
            f"{a.buffer}, {a.copies * a.elems * a.dtype.bytes} bytes of the device" for a in heap
        ),
        alignment=max((wide[a.name] for a in arguments if a.name in wide), default=0),
        tensor=_tensor(tensors),
    )
    aligned = [names.give("buffer", a.name) for a in arguments if a.name in wide]
    frame: dict[str, object] = {
        "aligned": aligned,
        "alignment": made.alignment,
        "pipeline": "pd_wait" in printer.combined,
        "marker": MARKER,
        "comment": _comment(program, made, target, options),
        "kernels": written,
    }
    prototype = _prototype(symbol, made, names)
    templates = environment("cuda")
    file, header = f"{program.name}.cu", f"{program.name}.cuh"
    helpers = "\n\n".join(
        filter(None, (_on_device(helper_text(printer.helpers)), *printer.combined.values()))
    )
    code = "\n".join((helpers, *(t for k in written for t in (k.parameters, *k.body))))
    text = templates.get_template("kernel.cu.j2").render(
        **frame,
        file=file,
        header=header,
        tensors=bool(tensors),
        helpers=helpers,
        host=instead_of_headers(code),
        prototype=f'extern "C" {prototype}',
        workspace=total,
        temporaries=temporaries,
    )
    head = templates.get_template("kernel.cuh.j2").render(
        **frame,
        file=header,
        guard=f"PERFDOJO_{program.name.upper()}_CUH",
        contract=contract(program, made, placed, RETURNS),
        prototype=prototype,
    )
    return replace(made, files=((file, text), (header, head)))


def _comment(program: Program, made: EmittedSource, target: Target, options: EmitOptions) -> list[str]:
    command = (
        "Compile with",
        f"  nvcc -arch=sm_80 -std=c++17 -O3 {' '.join(made.flags)} -c {program.name}.cu",
        "for any architecture from sm_80 on; -use_fast_math is not for this code.",
    )
    return made_by(options.origin or program, made, target, 1, options.scheduled, command)


def _prototype(symbol: str, made: EmittedSource, names: Names) -> str:
    listed = [
        f"{'const ' if a.role == 'in' else ''}{C_TYPES[a.dtype]} *{names.give('buffer', a.name)}"
        for a in made.arguments
    ]
    return f"int {symbol}({', '.join([*listed, 'cudaStream_t stream'])})"


def _memory(heap: list[Allocate], printer: CudaPrinter) -> tuple[int, list[str]]:
    """Return the bytes of the temporaries in memory of the device, and the lines that place them."""
    total, found = 0, []
    for a in heap:
        name = printer.copies(a) if a.copies > 1 else printer.names.give("buffer", a.buffer)
        type = C_TYPES[a.dtype.name]
        found.append(f"{type} *{name} = ({type} *)(memory + {total});")
        total += -(-a.copies * a.elems * a.dtype.bytes // ALIGNMENT) * ALIGNMENT
    return total, found


def _kernel(k: Kernel, name: str, printer: CudaPrinter) -> _Written:
    printer.size = k.threads
    printer.shared = frozenset(a.buffer for a in k.shared)
    printer.near = printer.shared | {
        s.buffer for s in nested(k.body) if isinstance(s, Allocate) and s.space == "stack"
    }
    printer.wide = _wide(k.body)
    printer.alone = frozenset(
        s.buffer for s in nested(k.body) if isinstance(s, Allocate) and s.space == "stack" and s.elems == 1
    )
    inside = {a.buffer for a in (*k.shared, *(a for a in k.each if a.copies > 1))} | {
        s.buffer for s in nested(k.body) if isinstance(s, Allocate)
    }
    read, written = _buffers(k.body)
    parameters, passed = [], []
    for buffer in printer.elements:
        if buffer in inside or buffer not in read | written:
            continue
        c_name = printer.names.give("buffer", buffer)
        const = "" if buffer in written else "const "
        parameters.append(f"{const}{C_TYPES[printer.element_type(buffer).name]} *__restrict__ {c_name}")
        passed.append(f"(void *)&{c_name}")
    for a in (a for a in k.each if a.copies > 1):
        parameters.append(f"{C_TYPES[a.dtype.name]} *__restrict__ {printer.copies(a)}")
        passed.append(f"(void *)&{printer.copies(a)}")
    grid = {d: n for _, d, n in k.blocks}
    sizes = [grid.get(f"grid_{axis}", 1) for axis in "xyz"]
    printer.counter = "int" if narrow((k,)) else "int64_t"
    begin = printer.begin(k)
    code = list(lines(k.body, printer, 1))
    body = [*begin, *printer.numbers(code), *code]
    return _Written(
        name,
        f"{prod(sizes)} blocks of {prod(k.threads)} threads",
        prod(k.threads),
        ", ".join(parameters),
        ", ".join(p.replace(" *__restrict__ ", " *") for p in parameters),
        ", ".join(passed),
        ", ".join(map(str, sizes)),
        ", ".join(map(str, k.threads)),
        sum(a.elems * a.dtype.bytes for a in k.shared),
        body,
    )


def _wide(body: tuple[Stmt, ...]) -> dict[str, int]:
    """Return buffers that are accessed several elements at a time, with bytes they begin at multiples of."""
    inside = nested(body)
    copied = {b: ACCESS for s in inside if isinstance(s, Copy) for b in (s.to, s.source)}
    return copied | {m.buffer: ALIGNED for s in inside if isinstance(s, Tensor) for m in s.memory}


def _buffers(body: tuple[Stmt, ...]) -> tuple[set[str], set[str]]:
    """Return the buffers that a body reads and writes."""
    read: set[str] = set()
    written: set[str] = set()
    for s in nested(body):
        stack = [*values(s)]
        if isinstance(s, Store):
            written.add(s.buffer)
        elif isinstance(s, Copy):
            written.add(s.to)
            read.add(s.source)
        elif isinstance(s, Tensor):
            read |= s.read
            written |= s.written
        while stack:
            v = stack.pop()
            if isinstance(v, Load):
                read.add(v.buffer)
            stack.extend(children(v))
    return read, written


def _tensor(found: list[Tensor]) -> Literal["", "16 bits", "tf32"]:
    """Return what tensor cores multiply; sums that start from what a matrix held are truncated as well."""
    if any(s.depth == DEPTH[F32] for s in found):
        return "tf32"
    return "16 bits" if found else ""


def _on_device(helpers: str) -> str:
    """Return functions in C as functions of the device."""
    return re.sub(r"^static inline ", "static __device__ inline ", helpers, flags=re.MULTILINE)
