"""What a backend hands over and a toolchain takes: source text, its C function, and its arguments.

The C function has the arguments of the header in its order and returns 0, or 1 when it could not
allocate a temporary (then no argument has a defined content):

    int softmax(const float *restrict s, float *restrict d);

What a backend promises, and the toolchain's harness tests:

* every element of an `out` argument is written, nothing outside the `size_elems` elements of any
  argument is touched, and padding inside them is not written;
* an `in` argument is not written;
* pointers need the alignment `alignment` states and no more;
* no argument that is written overlaps another one: this is the caller's promise (`restrict`).

A library built with -DPERFDOJO_SHARED also exports `const char perfdojo_description[]`, the text of
`description_json`, from which `perfdojo.load` learns all this without running any of the code:

    #ifdef PERFDOJO_SHARED
    extern const char perfdojo_description[];
    const char perfdojo_description[] =
        "{\\"perfdojo\\": 1, \\"kernel\\": ..."
        "...}";
    #endif

`description_literals` gives the lines between the `=` and the `;`. Neither function reads `files`, so
that a backend can fill in everything else, ask for the text, and add the files with `replace`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from perfdojo.compiler.dtypes import DTYPES

ArgumentRole = Literal["in", "out", "inout"]

C_TYPES: dict[str, str] = {
    "f64": "double",
    "f32": "float",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "i64": "int64_t",
    "i32": "int32_t",
    "i16": "int16_t",
    "i8": "int8_t",
    "u8": "uint8_t",
    "bool": "uint8_t",
}
"""C type of one stored element; f16 and bf16 are passed as their bits, a bool is 0 or 1."""

MARKER = "perfdojo generated file"
"""In the first line of every file that perfdojo writes; only such files are overwritten."""

BASE_FLAGS = (
    "-std=c11",
    "-O3",
    "-falign-loops=32",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-frounding-math",
)
"""No flag here changes the value of an expression; errno and trap flags are not part of the language.

`-frounding-math` keeps gcc from folding `0.0 - x` to `-x` where it knows that x is not -0 (it forgets that x
may be +0, whose difference is +0: `0.0f - fabsf(0)` is -0 under plain -O3 of gcc 12).

Loops begin at multiples of 32 bytes: one of a few instructions that lies across two cache lines took up to
twice the time on Zen 3 (outer product 512 x 512: 54 us, aligned 28 us)."""

RACELESS = ("-fno-predictive-commoning",)
"""Flags where several threads write one array: gcc 12's predictive commoning of stores reads elements that a
loop leaves out, and writes them back behind it, over what another thread has written meanwhile."""

DESCRIPTION_SYMBOL = "perfdojo_description"
DESCRIPTION_VERSION = 1


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of the C function.

    Attributes:
        dtype: name in `DTYPES`.
        shape: extents, outermost first; () for a single element.
        strides_elems: distance in elements between neighbours along each dimension.
        size_elems: elements of the whole buffer, padding included.
        values: half-open range that the caller promises for every element, or None.
    """

    name: str
    role: ArgumentRole
    dtype: str
    shape: tuple[int, ...]
    strides_elems: tuple[int, ...]
    size_elems: int
    values: tuple[int, int] | None = None

    @property
    def bytes(self) -> int:
        """Bytes of the whole buffer, padding included."""
        return self.size_elems * DTYPES[self.dtype].bytes


@dataclass(frozen=True, slots=True)
class EmittedSource:
    """Emitted source of one kernel for one target.

    Attributes:
        kernel, target: names.
        symbol: name of the C function.
        arguments: in the order of the C function.
        files: (file name, text); the first is the .c file, the names are plain, without a folder.
        sizes: the sizes it was compiled for, in the order of the kernel's header.
        fp: floating-point level: strict, contract, reassoc or fast.
        flags: compiler flags that the code needs (-fopenmp, -mavx512f), beside the toolchain's own.
        links: what to link with (-lm).
        requires: CPU features without which it must not run, as /proc/cpuinfo spells them (avx512f).
        emulation: headers, (file name, text), that stand in for the system's where the CPU lacks a
            feature of `requires`; with them the code needs none of its -m flags. () when there are none.
        workspace: one sentence for each temporary that takes memory.
        flops, integer_ops: operations of the kernel as written on floats and on integers; an fma counts 2.
        bytes: compulsory traffic: each element read once (in, inout) and written once (out, inout).
        alignment: bytes that every pointer must be a multiple of; 0 means the size of its own element.
        waits: on Snitch, it returns when all that it computes is in memory; else its FPU may be at work.
        cores: harts of a Snitch cluster that call the function together, those numbered from 0; 1 elsewhere.
        dma: the hart of the cluster's DMA engine, number 8, calls it too.
        memory: where the arguments must lie: tcdm, main, or "" for the nearest memory that holds them all.
        tensor: what multiplies and adds in one in it: tensor cores, factors of 16 bits or f32 rounded to
            tf32, or instructions on pairs of bf16 that take subnormal numbers for 0.
        notes: what lowering did otherwise than the program asks for, a sentence each.
    """

    kernel: str
    target: str
    symbol: str
    arguments: tuple[Argument, ...]
    files: tuple[tuple[str, str], ...]
    sizes: tuple[tuple[str, int], ...] = ()
    fp: str = "reassoc"
    flags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    emulation: tuple[tuple[str, str], ...] = ()
    workspace: tuple[str, ...] = ()
    flops: int = 0
    integer_ops: int = 0
    bytes: int = 0
    alignment: int = 0
    waits: bool = False
    cores: int = 1
    dma: bool = False
    memory: Literal["", "tcdm", "main"] = ""
    tensor: Literal["", "16 bits", "tf32", "pairs"] = ""
    notes: tuple[str, ...] = ()

    @property
    def footprint_bytes(self) -> int:
        """Bytes of all arguments together."""
        return sum(a.bytes for a in self.arguments)

    @property
    def read_share(self) -> float:
        """Part of the arguments' traffic that is reading, from 0 to 1."""
        read = sum(a.bytes for a in self.arguments if a.role != "out")
        written = sum(a.bytes for a in self.arguments if a.role != "in")
        return read / (read + written) if read + written else 1.0


def prototype(emitted: EmittedSource) -> str:
    """Return the C declaration of the function, without the semicolon."""
    parts = [
        f"{'const ' if a.role == 'in' else ''}{C_TYPES[a.dtype]} *restrict {a.name}"
        for a in emitted.arguments
    ]
    return f"int {emitted.symbol}({', '.join(parts) or 'void'})"


def description_json(emitted: EmittedSource) -> str:
    """Return the description that a shared library carries: one line of ASCII JSON.

    Keys: perfdojo (version of this form, 1), kernel, target, symbol, fp, sizes {name: int}, requires [str],
    alignment (bytes, 0 = that of the element), arguments [{name, role, dtype, shape [int],
    strides [int, in elements], elements (int, padding included), values [lo, hi] or null}].
    """
    return json.dumps(
        {
            "perfdojo": DESCRIPTION_VERSION,
            "kernel": emitted.kernel,
            "target": emitted.target,
            "symbol": emitted.symbol,
            "fp": emitted.fp,
            "sizes": dict(emitted.sizes),
            "requires": list(emitted.requires),
            "alignment": emitted.alignment,
            "arguments": [
                {
                    "name": a.name,
                    "role": a.role,
                    "dtype": a.dtype,
                    "shape": list(a.shape),
                    "strides": list(a.strides_elems),
                    "elements": a.size_elems,
                    "values": None if a.values is None else list(a.values),
                }
                for a in emitted.arguments
            ],
        }
    )


def description_literals(emitted: EmittedSource, width: int = 80) -> tuple[str, ...]:
    """Return `description_json` as C string literals, to be written one below the other.

    `width` is the number of characters of the JSON text in each; a compiler need only accept 4095 in a
    single literal (C11 5.2.4.1), and lines should stay readable.
    """
    text = description_json(emitted)
    pieces = [text[k : k + width] for k in range(0, len(text), width)]
    return tuple('"' + p.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '"' for p in pieces)
