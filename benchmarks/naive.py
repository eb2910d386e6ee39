"""The baseline: a kernel as the plain loops that its text says, for gcc to optimise.

One `for` for each scope, one assignment for each statement, the functions of math.h; no blocking, no
vectors, no temporaries of our own. Dimensions that are not materialised are left out, as a person would.
There are two natural spellings of a reduction: its start inside the loops around it, or in loops of its own
before. gcc exchanges the loops of a product only in the second one, so the baseline is the faster of the two.
"""

from __future__ import annotations

from perfdojo.compiler.emitted import C_TYPES
from perfdojo.compiler.ir import Buffer, Cast, Expr, Iter, Literal, Load, Node, Op, Program, Scope
from perfdojo.compiler.lowering.layout import layout
from perfdojo.compiler.ops import OPS, REDUCTIONS
from perfdojo.compiler.plan.recipes import isolate
from perfdojo.compiler.starts import explicit_starts
from perfdojo.compiler.walk import const_int, dtype_of, iterators, statements

FLAGS = ("-std=c11", "-O3", "-march=native", "-ffast-math")
STACK_BYTES = 64 << 10

_CALLS = {"rsqrt": "1 / sqrt{s}({0})", "sigmoid": "1 / (1 + exp{s}(-({0})))", "round": "rint{s}({0})"}
_SIGNS = {"and": "&&", "or": "||", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def naive_sources(program: Program) -> tuple[str, ...]:
    """Return C11 with `perfdojo_call(void **arguments)` for a bound program, in each spelling."""
    started = explicit_starts(program)
    return tuple(dict.fromkeys(map(_source, (started, _starts_apart(started)))))


def _starts_apart(program: Program) -> Program:
    """Give the starts of reductions loops of their own, as far out as that changes nothing."""
    for name in [s.name for _, s in statements(program) if s.op != "="]:
        while True:
            around, statement = next((a, s) for a, s in statements(program) if s.name == name)
            moved = set().union(*map(iterators, statement.target.indices))
            crowded = next((n for n, s in enumerate(around) if s.name in moved and len(s.body) > 1), None)
            if crowded is None:
                break
            inner: Node = around[crowded + 1] if crowded + 1 < len(around) else statement
            apart = isolate(program, around[crowded].name, inner.name)
            if apart is None:
                break
            program = apart
    return program


def _source(program: Program) -> str:
    lines = ["#include <math.h>", "#include <stdint.h>", "#include <stdlib.h>", ""]
    parameters = ", ".join(
        f"{_const(b)}{C_TYPES[b.dtype.name]} *restrict {b.name}_" for b in program.arguments
    )
    lines.append(f"void compute({parameters}) {{")
    heap = []
    for b in program.buffers:
        if b.role != "tmp":
            continue
        place = layout(b)
        c_type = C_TYPES[b.dtype.name]
        if place.bytes <= STACK_BYTES:
            lines.append(f"  {c_type} {b.name}_[{place.elems}];")
        else:
            heap.append(b.name)
            lines.append(f"  {c_type} *restrict {b.name}_ = malloc({place.bytes});")
    for node in program.body:
        lines += _node(node, program, "  ")
    lines += [f"  free({name}_);" for name in heap]
    given = ", ".join(f"arguments[{n}]" for n in range(len(program.arguments)))
    lines += ["}", "", f"int perfdojo_call(void **arguments) {{ compute({given}); return 0; }}", ""]
    return "\n".join(lines)


def _const(b: Buffer) -> str:
    return "const " if b.role == "in" else ""


def _node(node: Node, program: Program, indent: str) -> list[str]:
    if isinstance(node, Scope):
        i = f"{node.name}_i"
        head = f"{indent}for (int64_t {i} = 0; {i} < {const_int(node.extent)}; {i}++) {{"
        return [head, *(line for n in node.body for line in _node(n, program, indent + "  ")), indent + "}"]
    target = _expr(node.target, program)
    value = _expr(node.value, program)
    if node.op in ("+=", "*="):
        text = f"{target} {node.op} {value};"
    elif node.op == "=":
        text = f"{target} = {value};"
    else:
        text = f"{target} = {_operation(REDUCTIONS[node.op], [target, value], '')};"
    guard = "" if node.guard is None else f"if ({_expr(node.guard, program)}) "
    return [f"{indent}{guard}{text}"]


def _expr(e: Expr, program: Program) -> str:
    match e:
        case Literal(value=value, dtype=dtype):
            if not dtype.is_float:
                return str(int(value))
            text = {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(repr(value), repr(float(value)))
            return text + ("f" if dtype.bits == 32 and text[-1].isdigit() else "")
        case Iter(scope=scope):
            return f"{scope}_i"
        case Load(buffer=name, indices=indices):
            terms = [
                f"({_expr(i, program)}) * {step}"
                for i, step in zip(indices, layout(program.buffer(name)).strides, strict=True)
                if step
            ]
            return f"{name}_[{' + '.join(terms) or '0'}]"
        case Cast(dtype=dtype, arg=arg):
            return f"({C_TYPES[dtype.name]})({_expr(arg, program)})"
        case Op(op=op, args=args):
            suffix = "f" if dtype_of(args[-1], program).name == "f32" else ""
            return _operation(op, [_expr(a, program) for a in args], suffix)
    raise ValueError(f"{type(e).__name__} in a bound program")


def _operation(op: str, args: list[str], suffix: str) -> str:
    if op in ("min", "max"):
        return f"({args[0]} {'<' if op == 'min' else '>'} {args[1]} ? {args[0]} : {args[1]})"
    if op == "select":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if op in ("neg", "not"):
        return f"({'-' if op == 'neg' else '!'}{args[0]})"
    if op in _CALLS:
        return f"({_CALLS[op].format(*args, s=suffix)})"
    symbol = _SIGNS.get(op, OPS[op].symbol.replace("//", "/"))
    if symbol:
        return f"({args[0]} {symbol} {args[1]})"
    return f"{op}{suffix}({', '.join(args)})"
