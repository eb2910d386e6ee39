"""Call a kernel's shared library on NumPy arrays: what it is is read from the file before anything runs."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from perfdojo.calling import Results, Run, entry_of, run_of
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.emitted import DESCRIPTION_SYMBOL, DESCRIPTION_VERSION, Argument
from perfdojo.compiler.numpy_types import NUMPY
from perfdojo.toolchains.arrays import Array, layout, why_unfit
from perfdojo.toolchains.cpu import read_cpu
from perfdojo.toolchains.identity import BUILD_SYMBOL, why_not_here

LONGEST_TEXT_BYTES = 1 << 20
DEFAULT_ALIGNMENT = 64


class _Expected(NamedTuple):
    """What an array is when nothing about it needs a second look; `ranged`: its values have limits."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    unit: int
    bytes: int
    written: bool
    ranged: bool


def _expected(a: Argument, alignment: int) -> _Expected:
    dtype = NUMPY[a.dtype]
    last = sum((n - 1) * s for n, s in zip(a.shape, a.strides_elems, strict=True))
    strides = tuple(s * dtype.itemsize for s in a.strides_elems)
    unit, size = alignment or dtype.itemsize, dtype.itemsize * (last + 1)
    written, ranged = a.role != "in", a.values is not None
    return _Expected(np.dtype(dtype), tuple(a.shape), strides, unit, size, written, ranged)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that can be called: `d = kernel(s)`.

    Arguments are NumPy arrays, by position in the order of the kernel's header or by name. `out` arguments
    may be left out and are then made. Returns the `out` arrays: none, one, or a tuple of them.

    Attributes:
        name, target, fp, sizes, arguments: as in `EmittedSource`.
        alignment: bytes that each array's address must be a multiple of; 0 means that of its element.
    """

    name: str
    target: str
    fp: str
    sizes: Mapping[str, int]
    arguments: tuple[Argument, ...]
    alignment: int
    path: Path
    _function: Any = field(repr=False)
    _entry: int = field(repr=False, default=0)
    _expected: tuple[_Expected, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_expected", tuple(_expected(a, self.alignment) for a in self.arguments))

    def on(self, *arrays: Array, **named: Array) -> Run:
        """Return the call on some arrays, checked here and not again: `run = kernel.on(s, d); run()`.

        Raises:
            PerfDojoError: as for a call.
        """
        values = self._values(arrays, named)
        where = tuple(self._pointers(values))
        ranged = any(e.ranged for e in self._expected)
        return run_of(self, tuple(values), where, self._results(values), ranged)

    def __call__(self, *arrays: Array, **named: Array) -> Results:
        """Run it.

        Raises:
            PerfDojoError: an array is missing or does not fit; nothing was run.
            MemoryError: the kernel could not allocate a temporary.
        """
        values = self._values(arrays, named)
        if self._function(*self._pointers(values)):
            raise MemoryError(f"kernel {self.name} could not allocate a temporary")
        return self._results(values)

    def _values(self, arrays: Sequence[Array], named: Mapping[str, Array]) -> Sequence[Array]:
        """Return an array for each argument; outputs that are missing are made."""
        if len(arrays) == len(self.arguments) and not named:
            return arrays
        given = self._given(arrays, named)
        return [given[a.name] if a.name in given else self.empty(a.name) for a in self.arguments]

    def _results(self, values: Sequence[Array]) -> Results:
        outs = [v for a, v in zip(self.arguments, values, strict=True) if a.role == "out"]
        return tuple(outs) if len(outs) > 1 else outs[0] if outs else None

    def _pointers(self, values: Sequence[Array]) -> list[int]:
        """Return where the arrays begin; what is not plainly right is looked at, and told.

        A call takes microseconds, and so does each question to an array.
        """
        found: list[int] = []
        ends: list[tuple[int, int, bool]] = []
        for value, e in zip(values, self._expected, strict=True):
            if type(value) is not np.ndarray or value.dtype != e.dtype or value.shape != e.shape:
                return self._looked_at(values)
            start = value.ctypes.data
            if (
                value.strides != e.strides
                or start % e.unit
                or e.ranged
                or (e.written and not value.flags.writeable)
            ):
                return self._looked_at(values)
            end = start + e.bytes
            if any((e.written or w) and start < b and a < end for a, b, w in ends):
                return self._looked_at(values)
            found.append(start)
            ends.append((start, end, e.written))
        return found

    def _looked_at(self, values: Sequence[Array]) -> list[int]:
        """Return the same, or raise what is wrong."""
        for a, value in zip(self.arguments, values, strict=True):
            self._require_fit(a, value)
        self._require_apart(values)
        return [v.ctypes.data for v in values]

    def __str__(self) -> str:
        def text(roles: tuple[str, ...]) -> str:
            return ", ".join(f"{a.name}: {a.dtype}{list(a.shape)}" for a in self.arguments if a.role in roles)

        return f"{self.name}({text(('in', 'inout'))}) -> {text(('out', 'inout'))}"

    def empty(self, name: str) -> Array:
        """Return an array that fits the argument called `name`, its contents undefined."""
        argument = self._argument(name)
        itemsize = NUMPY[argument.dtype].itemsize
        unit = max(self.alignment, DEFAULT_ALIGNMENT)
        memory = np.empty(argument.bytes + unit, np.uint8)
        skip = -memory.ctypes.data % unit
        flat = memory[skip : skip + argument.size_elems * itemsize].view(NUMPY[argument.dtype])
        return layout(flat, argument)

    def _argument(self, name: str) -> Argument:
        for a in self.arguments:
            if a.name == name:
                return a
        hint = nearest(name, [a.name for a in self.arguments])
        raise PerfDojoError(f"kernel {self.name} has no argument '{name}'", hint=hint)

    def _given(self, arrays: Sequence[Array], named: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays by name; those that are not outputs must all be there."""
        if len(arrays) > len(self.arguments):
            count = len(self.arguments)
            raise PerfDojoError(f"kernel {self.name} takes {count} arguments, {len(arrays)} were given")
        given = {a.name: v for a, v in zip(self.arguments, arrays, strict=False)}
        for name, value in named.items():
            if self._argument(name).name in given:
                raise PerfDojoError(f"argument '{name}' was given twice, by position and by name")
            given[name] = value
        for a in self.arguments:
            if a.role != "out" and a.name not in given:
                raise PerfDojoError(f"argument '{a.name}' is missing", hint=f"call it as {self}")
        return given

    def _require_fit(self, a: Argument, value: Array) -> None:
        reason = why_unfit(a, value)
        if reason:
            raise PerfDojoError(reason, hint=_conversion(a, value))
        wanted = tuple(s * value.itemsize for s in a.strides_elems)
        seen = [(w, s) for w, s, n in zip(wanted, value.strides, a.shape, strict=True) if n > 1]
        if any(w != s for w, s in seen):
            kind = f"must have the strides {wanted} in bytes"
            hint = f"copy it into kernel.empty('{a.name}')"
            if _is_row_major(a):
                kind, hint = "is not C-contiguous", f"use numpy.ascontiguousarray({a.name})"
            raise PerfDojoError(f"argument '{a.name}' {kind}, it has the strides {value.strides}", hint=hint)
        unit = self.alignment or value.itemsize
        if value.ctypes.data % unit:
            raise PerfDojoError(
                f"argument '{a.name}' lies at an address that is not a multiple of {unit}",
                hint=f"kernel.empty('{a.name}') makes an array that fits",
            )
        if a.role != "in" and not value.flags.writeable:
            raise PerfDojoError(f"argument '{a.name}' is written, but the array is read-only")
        if a.values is not None and value.size:
            low, high = int(value.min()), int(value.max())
            if low < a.values[0] or high >= a.values[1]:
                raise PerfDojoError(
                    f"argument '{a.name}' holds values from {low} to {high}, "
                    f"but the kernel takes {a.values[0]} to {a.values[1] - 1}"
                )

    def _require_apart(self, values: Sequence[Array]) -> None:
        """No argument that is written may share memory with another one."""
        spans = []
        for a, v in zip(self.arguments, values, strict=True):
            last = sum((n - 1) * s for n, s in zip(a.shape, a.strides_elems, strict=True))
            spans.append((v.ctypes.data, v.ctypes.data + v.itemsize * (last + 1), a))
        spans.sort(key=lambda s: s[0])
        for k, (_, end, a) in enumerate(spans):
            for start, _, b in spans[k + 1 :]:
                if start >= end:
                    break
                if a.role != "in" or b.role != "in":
                    raise PerfDojoError(
                        f"arguments '{a.name}' and '{b.name}' overlap in memory, and one of them is written",
                        hint="pass a copy of one of them",
                    )


def load_kernel(path: str | Path) -> Kernel:
    """Return the kernel of a library made by `perfdojoc --shared`.

    Raises:
        PerfDojoError: no such file, not such a library, or one for another machine; it was not loaded then.
    """
    path = Path(path)
    texts = read_texts(path)
    described = _object(path, texts[DESCRIPTION_SYMBOL])
    if described.get("perfdojo") != DESCRIPTION_VERSION:
        raise PerfDojoError(
            f"{path} was made by another version of perfdojo", hint="build it again with perfdojoc --shared"
        )
    try:
        arguments = tuple(_argument_of(a) for a in described["arguments"])
        requires = tuple(map(str, described["requires"]))
        symbol, alignment = str(described["symbol"]), int(described["alignment"])
        names = str(described["kernel"]), str(described["target"]), str(described["fp"])
        sizes = {str(k): int(v) for k, v in described["sizes"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PerfDojoError(f"the description in {path} is damaged ({error!r})") from None
    build = _object(path, texts[BUILD_SYMBOL]) if BUILD_SYMBOL in texts else {}
    reason = why_not_here(build, requires, read_cpu())
    if reason:
        raise PerfDojoError(f"{path} cannot run here: {reason}", hint="build it on this machine")
    try:
        library = ctypes.CDLL(str(path.resolve()))
        function = getattr(library, symbol)
    except (OSError, AttributeError) as error:
        raise PerfDojoError(f"{path} cannot be loaded: {error}") from None
    function.restype = ctypes.c_int
    function.argtypes = [ctypes.c_void_p] * len(arguments)
    return Kernel(*names, sizes, arguments, alignment, path, function, entry_of(library))


def read_texts(path: Path) -> dict[str, str]:
    """Return the texts that a library of ours exports, read from the file alone.

    Raises:
        PerfDojoError: the file is not there or not a library of ours.
    """
    found = {}
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            for name in (DESCRIPTION_SYMBOL, BUILD_SYMBOL):
                data = _exported(elf, name)
                if data is not None:
                    found[name] = data.rstrip(b"\0").decode("ascii")
    except OSError as error:
        raise PerfDojoError(f"cannot read {path}: {error.strerror or error}") from None
    except Exception:  # the ELF reader meets damaged files with errors of many types
        raise PerfDojoError(f"{path} is not a shared library") from None
    if DESCRIPTION_SYMBOL not in found:
        raise PerfDojoError(
            f"{path} is not a library of perfdojo: it does not export {DESCRIPTION_SYMBOL}",
            hint="make one with perfdojoc kernel.ir --shared",
        )
    return found


def _exported(elf: Any, name: str) -> bytes | None:
    """The bytes of an exported object, None when there is none of that name."""
    table = elf.get_section_by_name(".dynsym")
    symbols = table.get_symbol_by_name(name) if isinstance(table, SymbolTableSection) else None
    if not symbols:
        return None
    start, size = symbols[0]["st_value"], min(symbols[0]["st_size"], LONGEST_TEXT_BYTES)
    for section in elf.iter_sections():
        offset = start - section["sh_addr"]
        if section["sh_type"] == "SHT_PROGBITS" and offset >= 0 and offset + size <= section["sh_size"]:
            elf.stream.seek(section["sh_offset"] + offset)
            return bytes(elf.stream.read(size))
    return None


def _object(path: Path, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise PerfDojoError(f"the description in {path} is damaged")
    return value


def _argument_of(a: Mapping[str, Any]) -> Argument:
    values = None if a["values"] is None else (int(a["values"][0]), int(a["values"][1]))
    if a["dtype"] not in NUMPY or a["role"] not in ("in", "out", "inout"):
        raise ValueError(f"{a['role']} {a['dtype']}")
    shape, strides = tuple(map(int, a["shape"])), tuple(map(int, a["strides"]))
    return Argument(str(a["name"]), a["role"], a["dtype"], shape, strides, int(a["elements"]), values)


def _is_row_major(a: Argument) -> bool:
    step = 1
    for n, s in zip(reversed(a.shape), reversed(a.strides_elems), strict=True):
        if n > 1 and s != step:
            return False
        step *= n
    return True


def _conversion(a: Argument, value: object) -> str:
    wanted = NUMPY[a.dtype]
    if isinstance(value, np.ndarray) and value.dtype != wanted:
        return f"use {a.name}.astype('{wanted.name}')"
    return ""
