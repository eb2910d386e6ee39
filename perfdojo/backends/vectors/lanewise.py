"""Operations without a vector form: lane by lane through memory; the rest of a scope can still be vectors."""

from __future__ import annotations

from perfdojo.backends.printer import Scalars
from perfdojo.backends.vectors.instruction import Instruction
from perfdojo.backends.vectors.isa import carried
from perfdojo.backends.vectors.table import C_SCALARS, Table
from perfdojo.compiler.lowering.lir import Call, Const, Value, Var, VType

_FLOATS = frozenset({"f64", "f32", "f16", "bf16"})
_INTEGERS = frozenset({"i64", "i32", "i16", "i8", "u8"})
LANEWISE: dict[str, frozenset[str]] = {
    **dict.fromkeys(("sin", "cos", "pow"), _FLOATS),
    **dict.fromkeys(("exp", "log", "tanh", "erf", "sigmoid"), frozenset({"f64"})),
    "fma": frozenset({"f16", "bf16"}),
    **dict.fromkeys(("floordiv", "mod"), _INTEGERS),
}
"""Operations whose scalar form costs so much that going through memory does not matter, and their types."""


def lanewise(table: Table, op: str, call: Call, scalars: Scalars) -> Instruction:
    """Return the record, named `op`, that applies the scalar form of `call` to every lane.

    Its operands are those of `call` that are no constants; they and the result are numbers.
    """
    n, dtype = call.type.lanes, call.type.dtype
    lines: list[str] = []
    loop: list[str] = []
    arguments: list[Value] = []
    parameters: list[str] = []
    for arg in call.args:
        one = VType(arg.type.dtype)
        if isinstance(arg, Const):
            arguments.append(Const(arg.value, one))
            continue
        place, held = len(parameters), carried(arg.type.dtype)
        lane = Var(f"lane_{'xyz'[place]}", one)
        c_type, array = C_SCALARS[held.name], f"{'xyz'[place]}"
        lines += [f"{c_type} {array}[{n}]", table.use("store", held, n, array, f"{{{place}}}")]
        loop.append(f"const {c_type} {scalars.value(lane)} = {array}[i];")
        arguments.append(lane)
        parameters.append(table.vector(arg.type.dtype, n))
    text = scalars.value(Call(call.op, tuple(arguments), VType(dtype)))
    body = " ".join([*loop, f"result[i] = {text};"]).replace("{", "{{").replace("}", "}}")
    held = carried(dtype)
    lines += [f"{C_SCALARS[held.name]} result[{n}]", f"for (int i = 0; i < {n}; i++) {{{{ {body} }}}}"]
    load = table.use("load", held, n, "result")
    return Instruction(
        op, dtype.name, n, load, tuple(parameters), table.vector(dtype, n), tuple(lines), "lane by lane"
    )
