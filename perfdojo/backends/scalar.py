"""The scalar printer: values with one lane as C expressions with no more parentheses than they need."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping

from perfdojo.backends.names import Names
from perfdojo.backends.printer import VectorPrinter
from perfdojo.compiler.dtypes import BF16, BOOL, F16, F32, F64, I32, I64, DType
from perfdojo.compiler.emitted import C_TYPES
from perfdojo.compiler.lowering.lir import (
    Allocate,
    Barrier,
    Call,
    Const,
    Copy,
    For,
    Load,
    Prefetch,
    Share,
    Store,
    Stream,
    Tensor,
    Threads,
    Value,
    Var,
    VType,
    Wait,
)

ATOM = 100
_UNARY = 14
_TERNARY = 3
_INFIX: dict[str, tuple[str, int]] = {
    "or": ("||", 4),
    "and": ("&&", 5),
    "eq": ("==", 9),
    "ne": ("!=", 9),
    "lt": ("<", 10),
    "le": ("<=", 10),
    "gt": (">", 10),
    "ge": (">=", 10),
    "iadd": ("+", 12),
    "isub": ("-", 12),
    "imul": ("*", 13),
    "idiv": ("/", 13),
    "imod": ("%", 13),
}
_FLOAT_INFIX = {"add": ("+", 12), "sub": ("-", 12), "mul": ("*", 13), "div": ("/", 13)}
_REGISTER_TYPES = {"f16": "float", "bf16": "float", "bool": "bool"}


def register_type(dtype: DType) -> str:
    """Return the C type of a variable of one lane: f16 and bf16 are floats that have been rounded."""
    return _REGISTER_TYPES.get(dtype.name, C_TYPES[dtype.name])


class ScalarPrinter:
    """Prints values of one function; hands those of several lanes to the vector printer."""

    def __init__(self, names: Names, elements: Mapping[str, DType], vectors: VectorPrinter | None) -> None:
        self.names, self.elements, self.vectors = names, elements, vectors
        self.helpers: set[str] = set()
        self.counter = "int64_t"
        self.unroll = "GCC unroll"
        """The pragma that tells how often a loop is to be written out."""
        self.vectorised = False
        """Its compiler puts loops into lanes by itself."""
        self.nests: dict[int, str] = {}
        """Names of the functions that run nests of data movers, by `id` of their statement."""
        self.loop_call: Callable[[For, ScalarPrinter], str] = lambda loop, printer: ""
        """Gives the C statement that does a whole loop, "" where it has to be printed."""
        self._printed: dict[int, tuple[Value, str, int]] = {}

    # ------------------------------------------------------------ what statements need

    def type_name(self, type: VType) -> str:
        """Return the C type of a variable."""
        if type.lanes == 1:
            return register_type(type.dtype)
        assert self.vectors is not None, "the target has no vectors"
        return self.vectors.type_name(type)

    def store(self, store: Store) -> str:
        """Return the C statement that writes to memory."""
        if store.value.type.lanes > 1:
            assert self.vectors is not None, "the target has no vectors"
            return self.vectors.store(store, self)
        return f"{self._element(store.buffer, store.offset)} = {self._stored(store)};"

    def fence(self) -> str:
        """Return the C statement that makes streamed stores seen by other threads."""
        assert self.vectors is not None, "only vectors are streamed"
        return self.vectors.fence()

    def prefetch(self, prefetch: Prefetch) -> str:
        """Return the C statement that fetches a cache line; its address may lie outside the array."""
        name = self.names.give("buffer", prefetch.buffer)
        size = self.element_type(prefetch.buffer).bytes
        scaled = f"{size} * (uintptr_t)({self.value(prefetch.offset)})"
        address = f"(const char *)((uintptr_t){name} + {scaled})"
        return f"__builtin_prefetch({address});" if self.vectors is None else self.vectors.prefetch(address)

    def _stored(self, store: Store) -> str:
        dtype = store.value.type.dtype
        if dtype in (F16, BF16):
            return f"{self.use(f'pd_store_{dtype}')}({self.value(store.value)})"
        return self.value(store.value)

    def share(self, s: Share) -> tuple[str, list[str]]:
        """Return what stands in front of the brace of a share, and the lines behind it."""
        raise ValueError(f"one hart runs the function, there is nothing for {s.who}")

    def threads(self, s: Threads) -> str:
        """Return the C condition under which a thread of a GPU block does something, "" for all of them."""
        raise ValueError(f"there are no threads of a block to be below {s.below}")

    def stack(self, s: Allocate) -> str:
        """Return the line that declares a small temporary."""
        name = self.names.give("buffer", s.buffer)
        return f"_Alignas(64) {C_TYPES[s.dtype.name]} {name}[{s.elems}];"

    def core_loop(self, s: For) -> str:
        """Return what stands in front of the brace of a loop whose iterations cores share."""
        raise ValueError(f"one hart runs the function, not the {s.cores} of {s.var.name}")

    def order(self, s: Barrier | Wait | Copy) -> str:
        """Return the C statement that all harts, or the DMA engine, are given."""
        raise ValueError(f"one hart runs the function, without {type(s).__name__}")

    def tensor(self, s: Tensor) -> list[str]:
        """Return the lines of C by which a warp does something with matrices that it holds."""
        raise ValueError(f"there are no tensor cores for {s.fragment}")

    def stream(self, s: Stream) -> str:
        """Return the call of the function that runs a nest."""
        pairs = zip(s.nest.arguments, s.pointers, strict=True)
        return f"{self.nests[id(s)]}({', '.join(self.pointer(a.buffer, p) for a, p in pairs)})"

    # ------------------------------------------------------------ the face for vector printers

    def value(self, value: Value, least: int = 0) -> str:
        """Return the C expression of a value, in parentheses when it binds looser than `least`."""
        text, precedence = self._print(value)
        return text if precedence >= least else f"({text})"

    def pointer(self, buffer: str, offset: Value) -> str:
        """Return the C expression of the address of an element."""
        name = self.names.give("buffer", buffer)
        if isinstance(offset, Const) and offset.value == 0:
            return name
        return f"{name} + {self.value(offset, 12)}"

    def element_type(self, buffer: str) -> DType:
        """Return the element type of a buffer."""
        return self.elements[buffer]

    def use(self, helper: str) -> str:
        """Ask for a helper to be emitted; return its name."""
        self.helpers.add(helper)
        return helper

    def constant(self, value: int | float | bool, dtype: DType) -> str:
        """Return a C literal of exactly this value."""
        if dtype == BOOL:
            return "true" if value else "false"
        if not dtype.is_float:
            return _integer(int(value), dtype)
        return _float(float(value), dtype)

    # ------------------------------------------------------------ expressions

    def _element(self, buffer: str, offset: Value) -> str:
        return f"{self.names.give('buffer', buffer)}[{self.value(offset)}]"

    def _print(self, value: Value) -> tuple[str, int]:
        """Text and precedence of its outermost operation; a value that is one object is printed once."""
        found = self._printed.get(id(value))
        if found is None:
            text, precedence = self._fresh(value)
            found = self._printed[id(value)] = value, text, precedence
        return found[1], found[2]

    def _fresh(self, value: Value) -> tuple[str, int]:
        if isinstance(value, Var):
            return self.names.give("variable", value.name), ATOM
        if isinstance(value, Call) and value.op == "select" and value.args[0].type.lanes == 1:
            c, a, b = value.args
            return f"{self.value(c, 4)} ? {self.value(a, _TERNARY)} : {self.value(b, _TERNARY)}", _TERNARY
        if value.type.lanes > 1 or (isinstance(value, Call) and any(a.type.lanes > 1 for a in value.args)):
            assert self.vectors is not None, "the target has no vectors"
            return self.vectors.value(value, self), ATOM
        if isinstance(value, Const):
            text = self.constant(value.value, value.type.dtype)
            return text, _UNARY if text.startswith("-") else ATOM
        if isinstance(value, Load):
            return self._load(value)
        return self._call(value)

    def _load(self, value: Load) -> tuple[str, int]:
        element = self._element(value.buffer, value.offset)
        if value.type.dtype in (F16, BF16):
            return f"{self.use(f'pd_load_{value.type.dtype}')}({element})", ATOM
        return element, ATOM

    def _call(self, value: Call) -> tuple[str, int]:
        op, dtype, args = value.op, value.type.dtype, value.args
        if op in _INFIX:
            return self._infix(_INFIX[op], args)
        if op in ("not", "ineg") or (op == "neg" and dtype.is_float):
            return ("!" if op == "not" else "-") + self._operand(args[0]), _UNARY
        if op == "cast":
            return self._cast(args[0], dtype)
        if op in _FLOAT_INFIX and dtype in (F32, F64):
            return self._arithmetic(op, dtype, args)
        if dtype in (F16, BF16):
            return self._sixteen(value)
        listed = ", ".join(self.value(a) for a in args)
        return f"{self.use(f'pd_{op}_{dtype}')}({listed})", ATOM

    def _arithmetic(self, op: str, dtype: DType, args: tuple[Value, ...]) -> tuple[str, int]:
        """An operation of floats that C has an operator for."""
        return self._infix(_FLOAT_INFIX[op], args)

    def _sixteen(self, value: Call) -> tuple[str, int]:
        """An operation of f16 or bf16: the one of f32, then rounded unless it is exact."""
        op, dtype = value.op, value.type.dtype
        if op == "fma":
            listed = ", ".join(self.value(a) for a in value.args)
            return f"{self.use(f'pd_fma_{dtype}')}({listed})", ATOM
        if op == "rsqrt":
            root = f"{self.use(f'pd_round_{dtype}')}(sqrtf({self.value(value.args[0])}))"
            return f"{self.use(f'pd_round_{dtype}')}(1.0f / {root})", ATOM
        if op in _FLOAT_INFIX:
            text = self._arithmetic(op, F32, value.args)[0]
        else:
            listed = ", ".join(self.value(a) for a in value.args)
            text = f"{self.use(f'pd_{op}_f32')}({listed})"
        if op in ("min", "max", "minnum", "maxnum", "abs", "floor", "ceil", "round"):
            return text, ATOM
        return f"{self.use(f'pd_round_{dtype}')}({text})", ATOM

    def _operand(self, value: Value) -> str:
        """Operand of a prefix sign; two signs do not run together."""
        text = self.value(value, _UNARY)
        return f"({text})" if text.startswith("-") else text

    def _infix(self, sign: tuple[str, int], args: tuple[Value, ...]) -> tuple[str, int]:
        symbol, precedence = sign
        # gcc warns about && inside || without parentheses, and comparisons do not chain
        left = 6 if symbol == "||" else precedence + (precedence in (9, 10))
        right = 6 if symbol == "||" else precedence + 1
        if symbol in ("||", "&&"):
            left = (
                precedence
                if isinstance(args[0], Call) and _INFIX.get(args[0].op, ("",))[0] == symbol
                else left
            )
        return f"{self.value(args[0], left)} {symbol} {self.value(args[1], right)}", precedence

    def _cast(self, arg: Value, dtype: DType) -> tuple[str, int]:
        source = arg.type.dtype
        if _converts_as_c(source, dtype):
            return f"({register_type(dtype)}){self.value(arg, _UNARY)}", _UNARY
        if dtype == BOOL:
            return f"{self.value(arg, 10)} != 0", 9
        if source in (F16, BF16) and dtype in (F32, F64):
            # held as float already
            return self._print(arg) if dtype == F32 else (f"(double){self.value(arg, _UNARY)}", _UNARY)
        if source in (F16, BF16):
            source = F32
        return f"{self.use(f'pd_cast_{source}_{dtype}')}({self.value(arg)})", ATOM


def _converts_as_c(source: DType, dtype: DType) -> bool:
    """Tell whether a C cast is the language's conversion."""
    if dtype in (F32, F64):
        return source in (F32, F64) or not source.is_float
    # narrowing is modulo 2^bits in every compiler that we build with; C17 6.3.1.3 leaves it to them
    return (dtype.is_integer) and not source.is_float


def _integer(value: int, dtype: DType) -> str:
    if dtype == I64 and value == I64.smallest:
        return "INT64_MIN"
    if dtype == I32 and value == I32.smallest:
        return "INT32_MIN"
    if not -(1 << 31) <= value < 1 << 31:
        return f"INT64_C({value})" if value >= 0 else f"-INT64_C({-value})"
    return str(value)


def _float(value: float, dtype: DType) -> str:
    if math.isnan(value):
        return "NAN"
    suffix = "" if dtype == F64 else "f"
    if math.isinf(value):
        return "-INFINITY" if value < 0 else "INFINITY"
    text = repr(value) if dtype == F64 else _short(value)
    return text + suffix


def _short(value: float) -> str:
    """Return a decimal that a float literal reads as `value`, or its hexadecimal form when none is short."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        # a short decimal is no near miss of the middle of two f32, so going through f64 is safe
        if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
            break
    else:
        return value.hex()
    if "." not in text and "e" not in text:
        text += ".0"
    elif "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text
