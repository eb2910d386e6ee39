"""Prints vector values of the target IR as intrinsics, by the table of an instruction set."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from perfdojo.backends.printer import Scalars
from perfdojo.backends.vectors.instruction import Instruction
from perfdojo.backends.vectors.isa import carried
from perfdojo.backends.vectors.lanewise import LANEWISE, lanewise
from perfdojo.backends.vectors.routines import routine_function, routine_name
from perfdojo.backends.vectors.table import FLOATS, Table
from perfdojo.compiler.dtypes import BF16, BOOL, DTYPES, F16, F32, I16, DType
from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS
from perfdojo.compiler.lowering.lir import Call, Const, Load, Store, Value, VType

_ROUNDED_LAST = ("add", "sub", "mul", "div", "sqrt")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_OF_OPERAND = (*_COMPARISONS, "reduce_add", "reduce_mul", "reduce_max", "reduce_min")


def supports(
    table: Table, op: str, dtype: DType, lanes: int, extensions: frozenset[str] = frozenset()
) -> bool:
    """Tell whether an operation exists (`Target.supports`).

    `extensions`: CPU features that it may need beside those of the target.
    """
    if lanes not in table.isa.lanes or (dtype != BOOL and not table.has("load", dtype, lanes)):
        return False
    record = table.records.get((op, dtype.name, lanes))
    if record is not None:
        return not record.needs or record.needs in extensions
    if op in ("gather", "masked_gather"):
        return (f"{op}:i32", dtype.name, lanes) in table.records
    if op in VECTOR_FUNCTIONS and carried(dtype) == F32:
        return True
    if op.startswith("cast:") and dtype != BOOL:
        source = DTYPES[op.removeprefix("cast:")]
        return source != BOOL and table.has("load", source, lanes)
    return dtype.name in LANEWISE.get(op, ())


def answers(
    table: Callable[[], Table], extensions: frozenset[str] = frozenset()
) -> Callable[[str, DType, int], bool]:
    """Return `Target.supports` of a target whose table is made when it is first asked for."""
    return lambda op, dtype, lanes: supports(table(), op, dtype, lanes, extensions)


class IntrinsicsPrinter:
    """A `VectorPrinter` over a table of instructions; it remembers which functions what it printed needs."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._by_name = {r.name: r for r in table.records.values()}
        self._functions: dict[str, str] = {}
        self._routines = False
        self._needs: dict[str, None] = {}
        # what a record prints; the record is kept so that its id stays its own
        self._formats: dict[int, tuple[Instruction, str]] = {}

    def type_name(self, type: VType) -> str:
        """Return the C type of a variable."""
        return self._table.vector(type.dtype, type.lanes)

    def prelude(self) -> tuple[tuple[str, ...], str]:
        """Return the system headers and the functions that the text so far needs."""
        text = "\n\n".join(self._functions.values())
        headers = [self._table.isa.header, *(["string.h"] if "memcpy(" in text else [])]
        return tuple(headers), f"{text}\n" if text else ""

    def store(self, store: Store, scalars: Scalars) -> str:
        """Return the statement that writes a vector."""
        if isinstance(store.value, Load) and store.value.type.dtype in (F16, BF16):
            # a copy: the bits need not become floats
            bits = VType(I16, store.value.type.lanes)
            store = replace(store, value=replace(store.value, type=bits))
        type_ = store.value.type
        value = scalars.value(_before_rounding(store.value) if type_.dtype == F16 else store.value)
        operands = [scalars.pointer(store.buffer, store.offset), value]
        if store.mask is None:
            return self._apply(store.streamed or "store", type_, *operands) + ";"
        return self._apply("masked_store", type_, *operands, scalars.value(store.mask)) + ";"

    def flags(self) -> tuple[str, ...]:
        """Return the flags of what was printed so far: what it needs, and with what gcc orders it best."""
        isa = self._table.isa
        return (*(f for n in self._needs for f in isa.flags_of(n)), *isa.flags(self._routines))

    def needs(self) -> tuple[str, ...]:
        """Return the CPU features that the text so far needs beside those of the target."""
        return tuple(self._needs)

    def fence(self) -> str:
        """Return the statement that orders streamed stores."""
        return self._table.isa.fence()

    def prefetch(self, address: str) -> str:
        """Return the statement that fetches the cache line at an address."""
        return self._table.isa.prefetch(address)

    def value(self, value: Value, scalars: Scalars) -> str:
        """Return the C expression of a value."""
        if isinstance(value, Const) and value.type.dtype == BOOL:
            return self._apply("all" if value.value else "none", value.type)
        if isinstance(value, Const):
            return self._apply("splat", value.type, scalars.constant(value.value, value.type.dtype))
        if isinstance(value, Load):
            return self._load(value, scalars)
        assert isinstance(value, Call), value
        return self._call(value, scalars)

    def _load(self, load: Load, scalars: Scalars) -> str:
        operands = [scalars.pointer(load.buffer, load.offset)]
        op = "load"
        if isinstance(load.lane_offset, Call) and load.lane_offset.op.startswith("cycle:"):
            # a cycle of all lanes is the elements as they lie
            again = load.lane_offset.op != f"cycle:{load.type.lanes}"
            op = load.lane_offset.op if again else op
        elif load.lane_offset is not None:
            op = f"gather:{load.lane_offset.type.dtype}"
            operands.append(scalars.value(load.lane_offset))
        if load.mask is not None:
            op = f"masked_{op}"
            operands.append(scalars.value(load.mask))
        return self._apply(op, load.type, *operands)

    def _call(self, call: Call, scalars: Scalars) -> str:
        op, type_ = call.op, call.type
        if op == "cast":
            op = f"cast:{call.args[0].type.dtype}"
        elif op in _OF_OPERAND:
            type_ = call.args[0].type
        args = call.args
        if op in ("min", "max") and type_.dtype.is_float:
            op, args = _number_first_known(op, args)
        if op == "fma" and type_.dtype in FLOATS:
            op, args = _signs_taken_in(args)
        if op in VECTOR_FUNCTIONS and carried(type_.dtype) == F32:
            return self._routine(op, type_, scalars.value(args[0]))
        divisor = _constant(args[1]) if op in ("floordiv", "mod") else None
        if isinstance(divisor, int) and divisor > 0:
            record = self._table.isa.division(self._table, op, divisor, type_.dtype, type_.lanes)
            if record is not None:
                return self._use(record, scalars.value(args[0]))
        if (op, type_.dtype.name, type_.lanes) in self._table.records:
            return self._apply(op, type_, *(scalars.value(a) for a in args))
        return self._lanewise(op, call, scalars)

    def _routine(self, op: str, type_: VType, x: str) -> str:
        name = routine_name(op, type_.lanes)
        self._routines = True
        if name not in self._functions:
            self._functions[name] = routine_function(self._table, op, type_.lanes)
        text = f"{name}({x})"
        return text if type_.dtype == F32 else self._apply("rounded", type_, text)

    def _lanewise(self, op: str, call: Call, scalars: Scalars) -> str:
        plain = Call(call.op, tuple(_splat(a) for a in call.args), call.type)
        name = op
        if any(isinstance(a, Const) for a in plain.args):  # each in its place: 2 // x is not x // 2
            name = "_".join([op, *(_word(a) if isinstance(a, Const) else "x" for a in plain.args)])
        record = lanewise(self._table, name, plain, scalars)
        return self._use(record, *(scalars.value(a) for a in plain.args if not isinstance(a, Const)))

    def _apply(self, op: str, type_: VType, *operands: str) -> str:
        return self._use(self._table.records[op, type_.dtype.name, type_.lanes], *operands)

    def _use(self, record: Instruction, *operands: str) -> str:
        known = self._formats.get(id(record))
        if known is None:
            self._need(record)
            call = f"{record.name}({', '.join(f'{{{k}}}' for k in range(len(record.parameters)))})"
            known = self._formats[id(record)] = record, record.format if record.inline else call
        return known[1].format(*operands)

    def _need(self, record: Instruction) -> None:
        """Remember the functions of a record, those it calls first, and the CPU feature that it needs."""
        if record.needs:
            self._needs[record.needs] = None
        for name in record.helpers:
            if name in self._by_name:
                self._need(self._by_name[name])
        if not record.inline and record.name not in self._functions:
            self._functions[record.name] = record.function()


def _word(constant: Const) -> str:
    return str(constant.value).replace("-", "minus_").replace(".", "_").replace("+", "")


def _before_rounding(value: Value) -> Value:
    """Return an f16 value without its last rounding: storing it rounds too."""
    exact = VType(F32, value.type.lanes)
    if isinstance(value, Call) and value.op in (*_ROUNDED_LAST, *VECTOR_FUNCTIONS):
        return Call(value.op, value.args, exact)
    if isinstance(value, Call) and value.op == "cast" and value.args[0].type.dtype == F32:
        return value.args[0]
    return value


def _splat(value: Value) -> Value:
    """Return a splat constant as a constant of these lanes."""
    if isinstance(value, Call) and value.op == "splat" and isinstance(value.args[0], Const):
        return Const(value.args[0].value, value.type)
    return value


def _constant(value: Value) -> int | float | bool | None:
    plain = _splat(value)
    return plain.value if isinstance(plain, Const) else None


def _signs_taken_in(args: tuple[Value, ...]) -> tuple[str, tuple[Value, ...]]:
    """Return the fused operation and its operands without signs around the first and the last one."""
    a, b, c = args
    product = isinstance(a, Call) and a.op == "neg"
    addend = isinstance(c, Call) and c.op == "neg"
    op = f"f{'n' if product else ''}m{'s' if addend else 'a'}"
    return op, (
        a.args[0] if isinstance(a, Call) and product else a,
        b,
        c.args[0] if isinstance(c, Call) and addend else c,
    )


def _number_first_known(op: str, args: tuple[Value, ...]) -> tuple[str, tuple[Value, ...]]:
    """Return the operation and operands of a min or max, cheaper where one operand is known to be a number.

    The instruction gives its second operand, here the first one, where one is NaN or both are zero: right for
    a constant second operand, and for a constant first one when they change places, unless that one is zero.
    """
    first, second = _constant(args[0]), _constant(args[1])
    if second is not None and not math.isnan(second):
        return f"{op}:number", args
    if first is not None and not math.isnan(first) and first != 0:
        return f"{op}:number", (args[1], args[0])
    return op, args
