"""How instructions and registers are written; what the assembler lacks is a macro of `kernel.S.j2`."""

from __future__ import annotations

from perfdojo.compiler.lowering.nests.nest import Compute

FP_NAMES = (
    *(f"ft{k}" for k in range(8)),
    "fs0",
    "fs1",
    *(f"fa{k}" for k in range(8)),
    *(f"fs{k}" for k in range(2, 12)),
    *(f"ft{k}" for k in range(8, 12)),
)
"""FP registers by number."""

_SUFFIX = {("f64", 1): "d", ("f32", 1): "s", ("f32", 2): "s", ("f16", 4): "h"}
_SCALAR = {
    "add": "fadd",
    "sub": "fsub",
    "mul": "fmul",
    "div": "fdiv",
    "sqrt": "fsqrt",
    "minnum": "fmin",
    "maxnum": "fmax",
    "fma": "fmadd",
    "fms": "fmsub",
    "nfms": "fnmsub",
    "nfma": "fnmadd",
}
_PACKED = {
    "add": "vfadd",
    "sub": "vfsub",
    "mul": "vfmul",
    "minnum": "vfmin",
    "maxnum": "vfmax",
    "mac": "vfmac",
    "msub": "vfmre",
    "reduce_add": "vfsum",
}
_SIGNS = {"neg": "fsgnjn", "abs": "fsgnjx"}


def instruction(c: Compute) -> str:
    """Return an FP instruction as text."""
    dest, *args = (FP_NAMES[r] for r in (c.dest, *c.args))
    lanes = c.type.lanes
    if c.op == "copy":
        # all 64 bits, whatever they hold
        return f"fsgnj.d {dest}, {args[0]}, {args[0]}"
    suffix = _SUFFIX[c.type.dtype.name, lanes]
    if c.op == "nan":
        return f"feq.{suffix} a0, {args[0]}, {args[0]}"
    if c.op in _SIGNS:
        name = f"v{_SIGNS[c.op]}_{suffix}" if lanes > 1 else f"{_SIGNS[c.op]}.{suffix}"
        return f"{name} {dest}, {args[0]}, {args[0]}"
    if c.op == "pack":
        return f"vfcpka_s_s {dest}, {args[0]}, {args[1]}"
    if c.op == "splat":
        return f"vfcpka_s_s {dest}, {args[0]}, {args[0]}"
    op, _, replicates = c.op.partition(":")
    packed = f"{_PACKED[op]}_r_{suffix}" if replicates else f"{_PACKED.get(op)}_{suffix}"
    name = packed if lanes > 1 else f"{_SCALAR[op]}.{suffix}"
    return f"{name} {', '.join((dest, *args))}"
