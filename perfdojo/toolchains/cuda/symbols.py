"""What a library of emulated kernels holds: kernels, kinds of their parameters, arrays in shared memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DYNAMIC = "perfdojo_dynamic"
"""The symbol of all dynamic shared memory."""

_KINDS = {(4, 4): "f", (4, 8): "d", (2, 1): "B"}
"""(encoding, bytes) of DWARF's base types: floats and bool; the rest are integers."""
_INTEGERS = {1: "b", 2: "s", 4: "i", 8: "p"}
_SIGNED = (5, 6, 0x0D)
_WRAPPERS = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type")
_HALVES = ("__half", "__nv_bfloat16")


@dataclass(frozen=True, slots=True)
class Function:
    """A function that may be a kernel: its start, a letter for each parameter (runtime.h), its names."""

    offset: int
    signature: str
    name: str
    symbol: str

    @property
    def scope(self) -> str:
        """How the mangled names of its static variables begin."""
        own = self.symbol[2:] if self.symbol.startswith("_Z") else f"{len(self.symbol)}{self.symbol}"
        return f"_ZZ{own}E"


@dataclass(frozen=True, slots=True)
class SharedArray:
    """An array in shared memory: its place in the block of thread-local storage."""

    offset: int
    size: int
    symbol: str

    @property
    def name(self) -> str:
        """The name in the source."""
        for found in re.finditer(r"E(\d+)", self.symbol):
            rest, length = self.symbol[found.end() :], int(found.group(1))
            if len(rest) >= length and re.fullmatch(r"(_\d+_?|__\d+_)?", rest[length:]):
                return rest[:length]
        return self.symbol


@dataclass(frozen=True, slots=True)
class Contents:
    """What a library holds.

    Attributes:
        size: bytes that it takes in memory.
        dynamic, dynamic_room: where dynamic shared memory starts in thread-local storage, and its bytes.
        shared_bytes: of all thread-local storage.
    """

    size: int
    functions: tuple[Function, ...]
    arrays: tuple[SharedArray, ...]
    dynamic: int
    dynamic_room: int
    shared_bytes: int

    def static_shared(self, function: Function) -> int:
        """Bytes of shared memory that are declared in a kernel."""
        return sum(a.size for a in self.arrays if a.symbol.startswith(function.scope))


def undefined_shared(path: Path) -> tuple[str, ...]:
    """Return the names that an object file declares as `extern __shared__` arrays."""
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        return tuple(
            s.name
            for s in table.iter_symbols()
            if s["st_info"]["type"] == "STT_TLS" and s["st_shndx"] == "SHN_UNDEF"
        )


def read_contents(path: Path) -> Contents:
    """Read a library that was built with -g."""
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        elf = ELFFile(file)
        size = max(s["p_vaddr"] + s["p_memsz"] for s in elf.iter_segments("PT_LOAD"))
        end = max((s["p_memsz"] for s in elf.iter_segments("PT_TLS")), default=0)
        table: Any = elf.get_section_by_name(".symtab")
        symbols = list(table.iter_symbols())
        shared = [s for s in symbols if s["st_info"]["type"] == "STT_TLS" and s["st_shndx"] != "SHN_UNDEF"]
        dynamic, room = next((s["st_value"], s["st_size"]) for s in shared if s.name == DYNAMIC)
        arrays = tuple(
            SharedArray(s["st_value"], s["st_size"], s.name) for s in shared if s["st_value"] != dynamic
        )
        named = {s["st_value"]: s.name for s in symbols if s["st_info"]["type"] == "STT_FUNC"}
        functions = tuple(_functions(elf.get_dwarf_info(), named))
        ordered = tuple(sorted(arrays, key=lambda a: a.offset))
        return Contents(size, functions, ordered, dynamic, room, end)


def _functions(dwarf: Any, named: dict[int, str]) -> Iterator[Function]:
    for unit in dwarf.iter_CUs():
        for die in unit.get_top_DIE().iter_children():
            if die.tag != "DW_TAG_subprogram" or "DW_AT_low_pc" not in die.attributes:
                continue
            offset = die.attributes["DW_AT_low_pc"].value
            parameters = [c for c in die.iter_children() if c.tag == "DW_TAG_formal_parameter"]
            signature = "".join(_kind(_attribute(p, "DW_AT_type")) for p in parameters)
            symbol = named.get(offset, "")
            yield Function(offset, signature, _name(die) or symbol, symbol)


def _attribute(die: Any, name: str) -> Any:
    """The entry that an attribute refers to, of the entry itself or of the one it completes."""
    if name in die.attributes:
        return die.get_DIE_from_attribute(name)
    for origin in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if origin in die.attributes:
            return _attribute(die.get_DIE_from_attribute(origin), name)
    return None


def _name(die: Any) -> str:
    if "DW_AT_name" in die.attributes:
        return str(die.attributes["DW_AT_name"].value.decode())
    for origin in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if origin in die.attributes:
            return _name(die.get_DIE_from_attribute(origin))
    return ""


def _kind(die: Any) -> str:
    """The letter of a parameter's type; ? for one that is not passed."""
    while die is not None and die.tag in _WRAPPERS:
        die = _attribute(die, "DW_AT_type")
    if die is None:
        return "?"
    size = die.attributes["DW_AT_byte_size"].value if "DW_AT_byte_size" in die.attributes else 0
    if die.tag == "DW_TAG_pointer_type":
        return "p"
    if die.tag == "DW_TAG_enumeration_type":
        return _INTEGERS.get(size, "?")
    if die.tag == "DW_TAG_structure_type" and _name(die) in _HALVES:
        return "S"
    if die.tag != "DW_TAG_base_type":
        return "?"
    encoding = die.attributes["DW_AT_encoding"].value
    if encoding in (2, 4):
        return _KINDS.get((encoding, size), "?")
    letter = _INTEGERS.get(size, "?")
    return letter if encoding in _SIGNED or letter == "p" else letter.upper()
