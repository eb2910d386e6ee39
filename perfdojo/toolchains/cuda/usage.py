"""What a kernel takes of the hardware: from ptxas's report, and from the cubin."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REGISTERS, FRAME_SIZE, MAX_THREADS = 0x2F, 0x11, 0x05
"""EIATTR_REGCOUNT, EIATTR_FRAME_SIZE and EIATTR_MAX_THREADS of .nv.info, as cuobjdump -elf names them."""
SIZED_VALUE = 4
"""Format of an attribute whose value follows (EIFMT_SVAL); others hold it in the half word itself."""

RESERVED_SECTION, RESERVED_BYTES = ".nv.shared.reserved.0", 1024
"""With this section (sm_90), the shared memory of a kernel includes what the system takes from each block."""

_START = re.compile(r"ptxas info\s*: Compiling entry function '(\S+)' for '\w+'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"ptxas info\s*: Used (\d+) registers")
_CONSTANT = re.compile(r"(\d+) bytes cmem\[0\]")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True)
class KernelUsage:
    """What one kernel takes.

    Attributes:
        registers: of a thread.
        spill_store_bytes, spill_load_bytes: moved to local memory, of a thread; a cubin does not say.
        stack_bytes: local memory of a thread.
        shared_bytes: static, of a block.
        constant_bytes: of the bank that holds the parameters; for sm_90, only the cubin says.
        max_threads: of a block, by __launch_bounds__; 0 where there is none. Only the cubin says.
    """

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_bytes: int
    constant_bytes: int
    max_threads: int = 0


def read_report(text: str) -> dict[str, KernelUsage]:
    """Return what `ptxas -v` says of each entry function, by its mangled name."""
    pieces = _START.split(text)[1:]
    found = {}
    for name, body in zip(pieces[::2], pieces[1::2], strict=True):
        frame, used = _FRAME.search(body), _USED.search(body)
        if frame is None or used is None:
            continue
        stack, stores, loads = (int(g) for g in frame.groups())
        found[name] = KernelUsage(
            int(used.group(1)), stores, loads, stack, _number(_SHARED, body), _number(_CONSTANT, body)
        )
    return found


def _number(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.search(text)
    return int(match.group(1)) if match else 0


def read_cubin(path: Path) -> dict[str, KernelUsage]:
    """Return what a cubin says of each kernel; its spills are 0, as it does not say."""
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        elf = ELFFile(file)
        sections = {s.name: s for s in elf.iter_sections()}
        names = [s.name for s in sections[".symtab"].iter_symbols()]  # type: ignore[attr-defined]
        registers: dict[str, int] = {}
        frames: dict[str, int] = {}
        reserved = RESERVED_BYTES if RESERVED_SECTION in sections else 0
        for attribute, value in _attributes(sections[".nv.info"].data()):
            if attribute in (REGISTERS, FRAME_SIZE):
                symbol, number = struct.unpack("<2I", value)
                (registers if attribute == REGISTERS else frames)[names[symbol]] = number
        return {
            name: KernelUsage(
                registers[name],
                0,
                0,
                frames.get(name, 0),
                max(0, _size(sections, f".nv.shared.{name}") - reserved),
                _size(sections, f".nv.constant0.{name}"),
                _max_threads(sections[f".nv.info.{name}"].data()),
            )
            for name in registers
            if f".nv.info.{name}" in sections
        }


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        form, attribute, length = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == SIZED_VALUE:
            yield attribute, data[at : at + length]
            at += length


def _size(sections: Mapping[str, Any], name: str) -> int:
    return int(sections[name]["sh_size"]) if name in sections else 0


def _max_threads(data: bytes) -> int:
    for attribute, value in _attributes(data):
        if attribute == MAX_THREADS:
            x, y, z = struct.unpack("<3I", value)
            return int(x * y * z)
    return 0


def disagreements(said: Mapping[str, KernelUsage], found: Mapping[str, KernelUsage]) -> str:
    """Return where ptxas and the cubin contradict each other, one sentence, or ""."""
    if set(said) != set(found):
        return f"ptxas reports {sorted(said)}, the cubin holds {sorted(found)}"
    for name, a in said.items():
        for field in ("registers", "stack_bytes", "shared_bytes", "constant_bytes"):
            x, y = getattr(a, field), getattr(found[name], field)
            if x != y and not (field == "constant_bytes" and x == 0):
                return f"{field} of {name}: {x} by ptxas, {y} by the cubin"
    return ""
