"""Hand-written kernels for a Snitch cluster, in C and in assembly with streams and repeated loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfdojo.compiler.emitted import Argument, EmittedSource
from perfdojo.toolchains.snitch.gcc import Tools
from perfdojo.toolchains.snitch.run import Built, build

N = 64

MACROS = """\
    .macro stream word, mover, register   # write a configuration word of a data mover
    .insn i 0x2b, 2, x0, \\register, ((\\word) << 5) | \\mover
    .endm
    .macro frep count                     # t0 + 1 passes over the next instructions
    .word ((\\count) - 1) << 20 | 5 << 15 | 0x8b
    .endm
    .set BOUND, 2
    .set STRIDE, 6
    .set READ, 24
    .set WRITE, 28
    .text
    .balign 64
"""


def vector(name: str, role: Any, dtype: str = "f64", count: int = N) -> Argument:
    return Argument(name, role, dtype, (count,), (1,), count)


def source(text: str, arguments: tuple[Argument, ...], file: str = "k.c", **more: Any) -> EmittedSource:
    """A kernel called k; C functions get their prototype from the text."""
    return EmittedSource("k", "snitch", "k", arguments, ((file, text),), **more)


def assembly(body: str, arguments: tuple[Argument, ...], **more: Any) -> EmittedSource:
    text = f"{MACROS}    .globl k\nk:\n{body}\n    ret\n"
    return source(text, arguments, "k.S", **more)


def in_c(body: str, arguments: tuple[Argument, ...], **more: Any) -> EmittedSource:
    types = {"f64": "double", "f32": "float", "i32": "int"}
    listed = ", ".join(
        f"{'const ' if a.role == 'in' else ''}{types[a.dtype]} *restrict {a.name}" for a in arguments
    )
    return source(f"int k({listed});\nint k({listed})\n{{\n    {body}\n}}\n", arguments, **more)


XY_Z = (vector("x", "in"), vector("y", "in"), vector("z", "out"))

ADD = in_c(f"for (int i = 0; i < {N}; i++) z[i] = x[i] + y[i]; return 0;", XY_Z)

STREAMED_ADD = assembly(
    f"""\
    li t0, {N - 1}
    stream BOUND, 31, t0
    li t1, 8
    stream STRIDE, 31, t1
    stream READ, 0, a0
    stream READ, 1, a1
    stream WRITE, 2, a2
    csrrsi x0, 0x7c0, 1
    frep 1
    fadd.d ft2, ft0, ft1
    csrrci x0, 0x7c0, 1
    li a0, 0""",
    XY_Z,
)

COPY = assembly(
    """\
    csrr t0, mhartid
    li t1, 8
    bne t0, t1, 2f
    li t2, 512
    .insn r 0x2b, 0, 0, x0, a0, x0
    .insn r 0x2b, 0, 1, x0, a1, x0
    .insn r 0x2b, 0, 2, t3, t2, x0
1:  .insn r 0x2b, 0, 4, t3, x0, x2
    bnez t3, 1b
2:  csrr x0, 0x7c2
    li a0, 0""",
    (vector("x", "in"), vector("z", "out")),
    dma=True,
)
"""The hart of the DMA copies, the other one waits at a barrier."""


def xy(count: int = N) -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(1)
    return {"x": rng.normal(size=count), "y": rng.normal(size=count)}


def made(emitted: EmittedSource, tools: Tools, self_check: bool = False) -> Built:
    built = build(emitted, tools, self_check)
    assert isinstance(built, Built), built
    return built
