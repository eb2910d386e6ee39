"""The target IR as text, for people: `--emit lowered` and goldens."""

from __future__ import annotations

from collections.abc import Iterator

from perfdojo.compiler.lowering.lir import (
    Allocate,
    Barrier,
    Call,
    Comment,
    Const,
    Copy,
    Fence,
    For,
    Function,
    If,
    Kernel,
    Let,
    Load,
    Prefetch,
    Set,
    Share,
    Stmt,
    Store,
    Stored,
    Stream,
    Tensor,
    Threads,
    Value,
    Var,
    VType,
    Wait,
)
from perfdojo.compiler.lowering.nests.text import lines as nest_lines

_SHARES = {"first": "first core", "cores": "all cores", "dma": "DMA hart"}
_SIGNS = {"iadd": "+", "isub": "-", "imul": "*", "idiv": "/", "imod": "%"}


def render(function: Function) -> str:
    """Return the text of a function: notes, then one statement a line."""
    lines = [f"function {function.name}"]
    lines += [f"# {n}" for n in function.notes]
    lines += [f"# scope {name}: {lanes} lanes" for name, lanes in function.lanes]
    lines += _body(function.body, 1)
    return "\n".join(lines) + "\n"


def _body(body: tuple[Stmt, ...], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for s in body:
        match s:
            case Comment():
                yield f"{pad}# {s.text}"
            case Let():
                word = "var" if s.mutable else "let"
                yield f"{pad}{word} {s.var.name}: {_type(s.var.type)} = {value(s.value)}"
            case Set():
                yield f"{pad}{s.var.name} = {value(s.value)}"
            case Store():
                mask = "" if s.mask is None else f" if {value(s.mask)}"
                word = f"{s.streamed} " if s.streamed else ""
                yield f"{pad}{word}{s.buffer}[{value(s.offset)}] = {value(s.value)}{mask}"
            case Prefetch():
                yield f"{pad}prefetch {s.buffer}[{value(s.offset)}]"
            case Fence():
                yield f"{pad}fence"
            case If():
                yield f"{pad}if {value(s.condition)}"
                yield from _body(s.body, depth + 1)
            case For():
                own = f" private({', '.join(s.private)})" if s.private else ""
                step = "" if s.step == 1 else f" step {s.step}"
                step += f" unroll {s.unroll}" if s.unroll else ""
                step += " frep" if s.frep else ""
                word = ("fenced " if s.fenced else "") + ("parallel for" if s.parallel else "for")
                word = word if s.cores == 1 else f"for on {s.cores} cores"
                yield f"{pad}{word} {s.var.name} = {value(s.start)} to {value(s.stop)}{step}{own}"
                yield from _body(s.body, depth + 1)
            case Stream():
                at = ", ".join(
                    f"{a.buffer}[{value(p)}]" for a, p in zip(s.nest.arguments, s.pointers, strict=True)
                )
                yield f"{pad}stream {s.scope}({at})"
                yield from (f"{pad}  {line}" for line in nest_lines(s.nest))
                if s.otherwise:
                    yield f"{pad}if it met a NaN"
                    yield from _body(s.otherwise, depth + 1)
            case Share():
                own = f" private({', '.join(s.private)})" if s.private else ""
                yield f"{pad}{_SHARES[s.who]}{own}"
                yield from _body(s.body, depth + 1)
            case Kernel():
                blocks = ", ".join(f"{var.name}@{mark} < {n}" for var, mark, n in s.blocks)
                yield f"{pad}kernel of blocks ({blocks}) of {' x '.join(map(str, s.threads))} threads"
                yield from _body((*s.shared, *s.each), depth + 1)
                yield from _body(s.body, depth + 1)
            case Threads():
                yield f"{pad}threads {' and '.join(f'{d} < {n}' for d, n in s.below) or 'all'}"
                yield from _body(s.body, depth + 1)
            case Tensor():
                yield f"{pad}warp: {_tensor(s)}"
            case Barrier():
                yield f"{pad}barrier"
            case Wait():
                yield f"{pad}wait for copies"
            case Copy():
                at, origin = f"{s.to}[{value(s.to_offset)}]", f"{s.source}[{value(s.from_offset)}]"
                rows = f"{s.rows} times every {s.to_step} from every {s.from_step}" if s.rows > 1 else "once"
                yield f"{pad}copy {at} = {origin}: {s.bytes} bytes {rows}"
            case Allocate():
                copies = "" if s.copies == 1 else f" for each of {s.copies} threads"
                yield f"{pad}{s.space} {s.buffer}: {s.dtype}[{s.elems}]{copies}"


def _tensor(s: Tensor) -> str:
    """Return the text of an instruction of tensor cores."""
    held = f"{s.fragment}[{value(s.number)}]"
    if s.kind == "fill":
        return f"{held} = {s.value}"
    if s.kind == "product":
        return f"{held} += {' * '.join(f'{name}[{value(number)}]' for name, number in s.factors)}"
    (memory,) = map(_stored, s.memory)
    return f"{memory} = {held}" if s.kind == "store" else f"{held} = {memory}"


def _stored(m: Stored) -> str:
    return f"{m.buffer}[{value(m.offset)}] by {'rows' if m.by_rows else 'columns'} every {m.step}"


def value(v: Value) -> str:
    """Return the text of a value; infix signs are index arithmetic, everything else is a call."""
    match v:
        case Var():
            return v.name
        case Const():
            return str(v.value) if v.type.lanes == 1 else f"{v.value}x{v.type.lanes}"
        case Load():
            gather = "" if v.lane_offset is None else f" + {value(v.lane_offset)}"
            mask = "" if v.mask is None else f" if {value(v.mask)}"
            lanes = "" if v.type.lanes == 1 else f":{v.type.lanes}"
            return f"{v.buffer}[{value(v.offset)}{gather}{lanes}{mask}]"
        case Call() if v.op in _SIGNS:
            a, b = (f"({value(x)})" if isinstance(x, Call) and x.op in _SIGNS else value(x) for x in v.args)
            return f"{a} {_SIGNS[v.op]} {b}"
        case Call():
            op = f"{v.op} {_type(v.type)}" if v.op in ("cast", "splat", "iota", "first") else v.op
            return f"{op}({', '.join(map(value, v.args))})"


def _type(t: VType) -> str:
    return str(t.dtype) if t.lanes == 1 else f"{t.dtype}x{t.lanes}"
