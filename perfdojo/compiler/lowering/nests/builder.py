"""From target IR to the tree of a nest."""

from __future__ import annotations

from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.lir import (
    Call,
    Comment,
    Const,
    For,
    Let,
    Load,
    Set,
    Stmt,
    Store,
    Value,
    Var,
    VType,
)
from perfdojo.compiler.lowering.nests.maxima import NUMBERS, Checks, Names, is_number, never_nan
from perfdojo.compiler.lowering.nests.tree import (
    Arg,
    Block,
    Fixed,
    Line,
    NestError,
    Node,
    Nodes,
    Site,
    Spread,
    aligned,
)

_BINARY = frozenset(("add", "sub", "mul", "div", "minnum", "maxnum"))
_UNARY = frozenset(("neg", "abs", "sqrt"))
_SIGNED = {(False, False): "fma", (False, True): "fms", (True, False): "nfms", (True, True): "nfma"}


class Builder:
    """Builds the tree of one nest.

    Attributes:
        kept: names of loads that several instructions use and that are to be kept in a register.
        names: the names that may be in `kept`: uses in more than one place.
        looks: maxima and minima may be those of numbers, NaNs being looked for: zeros of both signs are one.
    """

    def __init__(self, arena: Arena, kept: frozenset[str], divides: bool, looks: bool = False) -> None:
        self.arena, self.kept, self.divides, self.looks = arena, kept, divides, looks
        self.aliases: dict[str, Arg] = {}
        self.shared: list[str] = []
        self.uses: dict[str, int] = {}
        self._loops: dict[str, tuple[str, int, int]] = {}
        self._ids: dict[str, int] = {}
        self._count = 0
        self._written: frozenset[str] = frozenset()
        self._numbers: Names = frozenset()
        self._checks = Checks()

    def build(self, body: tuple[Stmt, ...]) -> Nodes:
        """Return the tree of a body.

        Raises:
            NestError: something in it is not the FPU's.
        """
        self._written = frozenset(_stores(body))
        _count_uses(body, self.uses)
        self._numbers = never_nan(body)
        return self._checks.around(self._body(body))

    def _body(self, body: tuple[Stmt, ...]) -> Nodes:
        out: list[Node] = []
        for s in body:
            match s:
                case Comment():
                    pass
                case Let():
                    self._let(s, out)
                case Set():
                    self._assign(s.value, s.var.name, s.var.type, out)
                case Store():
                    if s.mask is not None:
                        raise NestError(f"{s.buffer} is written in some lanes only")
                    site = self._site(s.buffer, s.offset, s.value.type)
                    self._assign(s.value, site, s.value.type, out)
                case For():
                    out.append(self._block(s))
                case _:
                    raise NestError("something in it happens only under a condition")
        return tuple(out)

    def _block(self, s: For) -> Block:
        if not isinstance(s.start, Const) or not isinstance(s.stop, Const):
            raise NestError(f"the iterations of {s.var.name} are not known")
        start, stop = int(s.start.value), int(s.stop.value)
        number = self._ids[s.var.name] = self._ids.get(s.var.name, 0) + 1
        name = s.var.name if number == 1 else f"{s.var.name}'{number}"
        outside = self._loops
        self._loops = {**outside, s.var.name: (name, start, s.step)}
        body = self._body(s.body)
        self._loops = outside
        return Block(((name, -((start - stop) // s.step)),), s.frep, body)

    def _let(self, s: Let, out: list[Node]) -> None:
        name = s.var.name
        if not s.mutable:
            leaf = self._leaf(s.value)
            if isinstance(leaf, Fixed | str | Spread):
                self.aliases[name] = leaf
                return
            wide = self._wide(s.value)
            if wide is not None and wide.steps and wide.buffer not in self._written:
                self.shared.append(name)
                if name not in self.kept:
                    self.aliases[name] = Spread(wide)
                    return
            if isinstance(s.value, Call) and s.value.op == "splat":
                self._assign(s.value.args[0], name, s.value.args[0].type, out)
                self.aliases[name] = Spread(name)
                return
            if leaf is not None and leaf.steps and leaf.buffer not in self._written:
                if self.uses.get(name, 0) > 1:
                    self.shared.append(name)
                if name not in self.kept:
                    self.aliases[name] = leaf
                    return
        self._assign(s.value, name, s.var.type, out)

    # ------------------------------------------------------------ values

    def _wide(self, v: Value) -> Site | None:
        """Return the word whose first lane a value spreads over all lanes, None where there is none."""
        if not isinstance(v, Call) or v.op != "splat" or not isinstance(v.args[0], Load):
            return None
        load = v.args[0]
        site = self._site(load.buffer, load.offset, load.type)._replace(type=v.type)
        return site if aligned(site) else None

    def _leaf(self, v: Value) -> Arg | None:
        """Return a value that needs no instruction: a register, a constant, an element; None for others."""
        if isinstance(v, Var):
            if v.name in self.arena.ranges:
                raise NestError(f"the number of the iteration of {v.name} is used as a value")
            return self.aliases.get(v.name, v.name)
        if isinstance(v, Const):
            return Fixed(float(v.value), v.type)
        if isinstance(v, Load):
            if v.mask is not None or v.lane_offset is not None:
                raise NestError(f"{v.buffer} is not read at neighbouring elements")
            return self._site(v.buffer, v.offset, v.type)
        if v.op == "splat":
            scalar = self._leaf(v.args[0])
            if isinstance(scalar, Fixed):
                return Fixed(scalar.value, v.type)
            return Spread(scalar) if isinstance(scalar, str) else None
        return None

    def _arg(self, v: Value, out: list[Node]) -> Arg:
        leaf = self._leaf(v)
        if leaf is not None:
            return leaf
        self._count += 1
        name = f"%{self._count}"
        if isinstance(v, Call) and v.op == "splat":
            self._assign(v.args[0], name, v.args[0].type, out)
            return Spread(name)
        self._assign(v, name, v.type, out)
        return name

    def _assign(self, v: Value, dest: str | Site, type: VType, out: list[Node]) -> None:
        """Append the instructions that give `dest` the value."""
        leaf = self._leaf(v)
        if leaf is not None:
            out.append(Line("copy", type, dest, (leaf,)))
            return
        assert isinstance(v, Call)
        if v.op == "splat":
            out.append(Line("copy", type, dest, (self._arg(v, out),)))
            return
        if not v.type.dtype.is_float:
            raise NestError(f"it computes with {v.type.dtype}")
        narrow = v.type.dtype.name == "f16" and v.type.lanes == 1 and v.op != "reduce_add"
        if v.type.dtype.name == "bf16" or narrow:
            raise NestError(f"it computes with {v.type.dtype} one by one")
        if v.op in ("fma", "mad"):
            a, b, c = v.args
            signs = _negated(a), _negated(c)
            args = tuple(self._arg(x, out) for x in (_bare(a), b, _bare(c)))
            out.append(Line(_SIGNED[signs], type, dest, args, v.op == "mad"))
        elif v.op in NUMBERS and self.looks:
            unknown = [not is_number(x, self._numbers) for x in v.args]
            pairs = zip(v.args, unknown, strict=True)
            args = tuple(self._read_once(x, type, out) if u else self._arg(x, out) for x, u in pairs)
            open_to = [a for a, u in zip(args, unknown, strict=True) if u]
            if open_to:
                out.append(self._checks.line(open_to[0], open_to[-1], type))
            out.append(Line(NUMBERS[v.op], type, dest, args))
        elif v.op in _BINARY or v.op in _UNARY:
            if v.op in ("div", "sqrt") and not self.divides:
                raise NestError(f"it computes {v.op}, which the FPU has no instruction for")
            args = tuple(self._arg(x, out) for x in v.args)
            out.append(Line(v.op, type, dest, args))
        elif v.op == "reduce_add":
            arg, lanes = self._arg(v.args[0], out), v.args[0].type.lanes
            while lanes > 1:
                # each halves the lanes: neighbours are added to zeros
                self._count += 1
                total = f"%{self._count}"
                out.append(Line("copy", v.args[0].type, total, (Fixed(0.0, v.args[0].type),)))
                out.append(Line("reduce_add", v.args[0].type, total, (arg,)))
                arg, lanes = total, lanes // 2
            out.append(Line("copy", type, dest, (arg,)))
        else:
            raise NestError(f"it computes {v.op}, which the FPU has no instruction for")

    def _read_once(self, v: Value, type: VType, out: list[Node]) -> Arg:
        """Return an operand that two instructions use; in a register where it has to be loaded."""
        arg = self._arg(v, out)
        if not isinstance(arg, Site) or aligned(arg):
            return arg
        self._count += 1
        name = f"%{self._count}"
        out.append(Line("copy", type, name, (arg,)))
        return name

    def _site(self, buffer: str, offset: Value, type: VType) -> Site:
        size = type.dtype.bytes
        if not type.dtype.is_float:
            raise NestError(f"{buffer} is {type.dtype}, and streams feed the FPU")
        form = self.arena.linear(offset)
        const, steps, terms = form.const * size, list[tuple[str, int]](), list[tuple[str, int]]()
        for number, coefficient in form.terms:
            atom = self.arena.atom_value(number)
            counter = isinstance(atom, Var) and atom.name in self.arena.ranges
            outside = self.arena.plain(atom) and self.arena.variables(atom).isdisjoint(self._loops)
            if not counter and not outside:
                raise NestError(f"the address of {buffer} is no sum of iterations times constants")
            if not isinstance(atom, Var):
                terms.append((self.arena.outer_name(atom), coefficient))
            elif atom.name in self._loops:
                name, start, step = self._loops[atom.name]
                const += coefficient * start * size
                steps.append((name, coefficient * step * size))
            else:
                terms.append((atom.name, coefficient))
        return Site(buffer, tuple(sorted(terms)), const, tuple(sorted(steps)), type)


def _negated(v: Value) -> bool:
    return isinstance(v, Call) and v.op == "neg"


def _bare(v: Value) -> Value:
    return v.args[0] if isinstance(v, Call) and v.op == "neg" else v


def _stores(body: tuple[Stmt, ...]) -> list[str]:
    found: list[str] = []
    for s in body:
        if isinstance(s, Store):
            found.append(s.buffer)
        elif isinstance(s, For):
            found += _stores(s.body)
    return found


def _count_uses(body: tuple[Stmt, ...], uses: dict[str, int]) -> None:
    """Count the places in the text that use each variable; those in loops count twice."""

    own: set[str] = set()
    for s in body:
        if isinstance(s, Let | Set | Store):
            found: dict[str, int] = {}
            _collect(s.value, found)
            for name, n in found.items():
                uses[name] = uses.get(name, 0) + n * (1 if name in own else 2)
            if isinstance(s, Let):
                own.add(s.var.name)
        elif isinstance(s, For):
            _count_uses(s.body, uses)


def _collect(v: Value, found: dict[str, int]) -> None:
    if isinstance(v, Var):
        found[v.name] = found.get(v.name, 0) + 1
    elif isinstance(v, Call):
        for a in v.args:
            _collect(a, found)
