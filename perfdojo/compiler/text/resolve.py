"""Raw kernel -> Program: names, header rules, the tree of bars."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfdojo.compiler import ir
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.dtypes import BOOL, I64
from perfdojo.compiler.ops import OPS, REDUCTIONS
from perfdojo.compiler.text import names as naming
from perfdojo.compiler.text import raw
from perfdojo.compiler.text.header import buffer, reserved, sizes
from perfdojo.compiler.text.typing import Names, build, load

MAX_SCOPES = 64


@dataclass(slots=True)
class _Open:
    """A scope under construction."""

    raw: raw.RawScope
    name: str
    extent: ir.Expr
    mark: str
    body: list[_Open | ir.Statement] = field(default_factory=list)

    def close(self, source: ir.Source) -> ir.Scope:
        if not self.body:
            raise PerfDojoError(f"scope '{self.name}' is empty", source, self.raw.span, "give it a statement")
        body = tuple(n.close(source) if isinstance(n, _Open) else n for n in self.body)
        return ir.Scope(self.name, self.extent, body, self.mark, self.raw.span)


def resolve(kernel: raw.RawKernel, source: ir.Source) -> ir.Program:
    """Return the typed program.

    Raises:
        PerfDojoError: unknown or doubled names, wrong ranks or types, bars without scopes, writes to inputs.
    """
    reserved(kernel.name, source, "kernel")
    header = sizes(kernel.sizes, source)
    size_names = frozenset(s.name for s in header)
    buffers: dict[str, ir.Buffer] = {}
    for b in kernel.buffers:
        built = buffer(b, Names(source, size_names, {}), buffers)
        buffers[built.name] = built
    if not any(b.role in ("out", "inout") for b in buffers.values()):
        raise PerfDojoError(
            "the kernel has no 'out' or 'inout' buffer", source, kernel.name.span, "what does it compute?"
        )
    body = _tree(kernel, Names(source, size_names, buffers))
    if not body:
        raise PerfDojoError(
            "the kernel has no statement", source, kernel.name.span, "add a body behind the header"
        )
    return ir.Program(kernel.name.text, header, tuple(buffers.values()), body, source)


def _tree(kernel: raw.RawKernel, names: Names) -> tuple[ir.Node, ...]:
    scope_names = iter(_scope_names(kernel, names))
    statement_names = iter(_statement_names(kernel, names))
    top: list[_Open | ir.Statement] = []
    open_: list[_Open] = []
    for line in kernel.lines:
        kept = len(line.bars)
        if kept > len(open_):
            hint = f"the line above leaves {len(open_)} open"
            bars = "1 bar keeps 1 scope" if kept == 1 else f"{kept} bars keep {kept} scopes"
            raise names.error(bars, line.bars[len(open_)], hint)
        if not line.scopes and line.statement is None:
            raise names.error("a line of bars alone", line.bars[-1], "add a scope or a statement")
        del open_[kept:]
        for scope in line.scopes:
            opened = _open(scope, next(scope_names), names)
            (open_[-1].body if open_ else top).append(opened)
            open_.append(opened)
            if len(open_) > MAX_SCOPES:
                raise names.error(f"more than {MAX_SCOPES} nested scopes", scope.span)
        if line.statement is not None:
            inner = Names(names.source, names.sizes, names.buffers, tuple(o.name for o in open_))
            statement = _statement(line.statement, next(statement_names), inner)
            (open_[-1].body if open_ else top).append(statement)
    return tuple(n.close(names.source) if isinstance(n, _Open) else n for n in top)


def _scope_names(kernel: raw.RawKernel, names: Names) -> list[str]:
    bases: list[str] = []
    labels: list[raw.RawName | None] = []
    for line in kernel.lines:
        for i, scope in enumerate(line.scopes):
            bare = scope.extent.value if scope.extent.kind == "name" else None
            bases.append(naming.scope_base(bare, len(line.bars) + i))
            labels.append(scope.label)
    return _assigned(bases, labels, names, "scope")


def _statement_names(kernel: raw.RawKernel, names: Names) -> list[str]:
    statements = [line.statement for line in kernel.lines if line.statement is not None]
    return _assigned([s.target.value for s in statements], [s.label for s in statements], names, "statement")


def _assigned(bases: list[str], labels: list[raw.RawName | None], names: Names, what: str) -> list[str]:
    seen: set[str] = set()
    for label in labels:
        if label is None:
            continue
        if label.text in seen:
            raise names.error(f"two {what}s are called '{label.text}'", label.span, "names are unique")
        seen.add(label.text)
    return naming.assign(bases, [label.text if label else None for label in labels])


def _open(scope: raw.RawScope, name: str, names: Names) -> _Open:
    extent = build(scope.extent, I64, Names(names.source, names.sizes, {}))
    if len(scope.marks) > 1:
        raise names.error("a scope has one mark", scope.marks[1].span)
    mark = scope.marks[0].text[1:] if scope.marks else ""
    if mark and mark not in ir.MARKS:
        known = nearest(mark, ir.MARKS) or "marks are " + " ".join("@" + m for m in sorted(ir.MARKS))
        raise names.error(f"no mark '@{mark}'", scope.marks[0].span, known)
    return _Open(scope, name, extent, mark)


def _statement(s: raw.RawStatement, name: str, names: Names) -> ir.Statement:
    target = load(s.target, names)
    written = names.buffers[target.buffer]
    if written.role == "in":
        raise names.error(
            f"'{written.name}' is an input and cannot be written",
            s.target.span,
            "declare it 'inout', or use a tmp",
        )
    if s.op in REDUCTIONS and written.dtype == BOOL:
        raise names.error(
            f"'{s.op}' does not work on bool", s.target.span, "use an i32 and compare it at the end"
        )
    if OPS[REDUCTIONS.get(s.op, "add")].rule == "float" and not written.dtype.is_float:
        raise names.error(f"'{s.op}' is for floats", s.target.span, f"write '{s.op[:3]}='")
    value = build(s.value, written.dtype, names)
    guard = None if s.guard is None else build(s.guard, BOOL, names)
    return ir.Statement(name, target, s.op, value, guard, s.span)  # type: ignore[arg-type]
