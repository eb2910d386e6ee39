"""ELF files: what is loaded where, symbols, and copies with other contents at a symbol."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes that a loader puts at `address`, `size_bytes` of them, zero beyond those of the file.

    Attributes:
        runs_at: where the program finds them, after it has moved them itself if that is elsewhere.
        offset, file_bytes: where they lie in the file.
    """

    address: int
    runs_at: int
    offset: int
    file_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Elf:
    """An ELF file in memory.

    Attributes:
        symbols: address of each.
        functions: (address, name) of what lies in code, sorted; for naming addresses.
    """

    data: bytes
    entry: int
    segments: tuple[Segment, ...]
    symbols: Mapping[str, int]
    functions: tuple[tuple[int, str], ...] = field(default=(), repr=False)

    def contents(self, segment: Segment) -> bytes:
        """Return the bytes of a segment that the file has."""
        return self.data[segment.offset : segment.offset + segment.file_bytes]

    def offset_of(self, address: int) -> int:
        """Return where the byte at `address`, as the program sees it, lies in the file.

        Raises:
            ValueError: the file holds no byte for that address.
        """
        for s in self.segments:
            if s.runs_at <= address < s.runs_at + s.file_bytes:
                return s.offset + address - s.runs_at
        raise ValueError(f"no byte of the file is loaded at {address:#x}")

    def read(self, address: int, count: int) -> bytes:
        """Return `count` bytes of the file that the program sees at `address`."""
        at = self.offset_of(address)
        return self.data[at : at + count]

    def patched(self, contents: Mapping[str, bytes]) -> Elf:
        """Return a copy with other bytes at the given symbols."""
        data = bytearray(self.data)
        for symbol, new in contents.items():
            at = self.offset_of(self.symbols[symbol])
            data[at : at + len(new)] = new
        return replace(self, data=bytes(data))

    def function_at(self, address: int) -> str:
        """Return `name+0x12` for an address in code, "" where there is none."""
        k = bisect_right(self.functions, (address, "\uffff")) - 1
        if k < 0:
            return ""
        start, name = self.functions[k]
        return name if address == start else f"{name}+{address - start:#x}"


def read_elf(path: Path) -> Elf:
    """Read a 32-bit executable.

    Raises:
        ValueError: it is none.
    """
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        data = file.read()
        file.seek(0)
        try:
            elf = ELFFile(file)
            if elf.elfclass != 32 or elf["e_type"] != "ET_EXEC":
                raise ValueError(f"{path} is no executable for 32 bits")
            segments = tuple(
                Segment(s["p_paddr"], s["p_vaddr"], s["p_offset"], s["p_filesz"], s["p_memsz"])
                for s in elf.iter_segments("PT_LOAD")
                if s["p_filesz"]
            )
            table: Any = elf.get_section_by_name(".symtab")
            symbols, functions = {}, []
            code = {k for k, s in enumerate(elf.iter_sections()) if s["sh_flags"] & 4}  # SHF_EXECINSTR
            for s in table.iter_symbols() if table is not None else ():
                if not s.name or s["st_info"]["type"] not in ("STT_NOTYPE", "STT_FUNC", "STT_OBJECT"):
                    continue
                symbols[s.name] = s["st_value"]
                if s["st_shndx"] in code and not s.name.startswith(("$", ".L", "perfdojo_")):
                    functions.append((s["st_value"], s.name))
            return Elf(data, elf["e_entry"], segments, symbols, tuple(sorted(functions)))
        except ELFError as error:
            raise ValueError(f"{path} is no ELF file: {error}") from None
