"""Many kernels in one library for the emulation: compiled and linked together, one is chosen in each copy."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.cuda.emulation import Emulated, build_emulation, launcher_call
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import Failure

ARCHITECTURE = "sm_80"
CHOSEN = "perfdojo_chosen"
"""The variable that says which kernel a copy of the library calls; from 1 on: zeros are not in the file."""


def built(sources: Sequence[EmittedSource], host: Host, folder: Path) -> list[Emulated | Failure]:
    """Build kernels whose names differ, by halves where they do not build together.

    Args:
        folder: where a copy of the library for each is put.
    """
    if not sources:
        return []
    if len(sources) == 1:
        return [build_emulation(sources[0], host, ARCHITECTURE)]
    made = build_emulation(joined(sources), host, ARCHITECTURE, _call(sources))
    if isinstance(made, Failure):
        half = len(sources) // 2
        return [*built(sources[:half], host, folder), *built(sources[half:], host, folder)]
    library = made.library.read_bytes()
    place = _place(made.library)
    found: list[Emulated | Failure] = []
    for number, source in enumerate(sources, 1):
        copy = folder / f"{source.symbol}.so"
        copy.write_bytes(library[:place] + struct.pack("=i", number) + library[place + 4 :])
        found.append(replace(made, library=copy))
    return found


def joined(sources: Sequence[EmittedSource]) -> EmittedSource:
    """Return one source with the kernels of all; helpers get names of their own."""
    texts = [re.sub(r"\bpd_", f"pd_{e.symbol}_", e.files[0][1]) for e in sources]
    headers = [f for e in sources for f in e.files[1:]]
    return replace(sources[0], kernel="many", files=(("many.cu", "\n".join(texts)), *headers))


def _call(sources: Sequence[EmittedSource]) -> str:
    """Return the C text that calls the chosen kernel."""
    calls = "\n".join(launcher_call(e, f"call_{e.symbol}") for e in sources)
    cases = "".join(f"    case {n}: return call_{e.symbol}(arguments);\n" for n, e in enumerate(sources, 1))
    return (
        f"{calls}\nextern volatile int {CHOSEN};\nvolatile int {CHOSEN} = 1;\n"
        "int perfdojo_call(void **arguments);\n\n"
        "int perfdojo_call(void **arguments)\n{\n"
        f"    switch ({CHOSEN}) {{\n{cases}    default: return -1;\n    }}\n}}\n"
    )


def _place(library: Path) -> int:
    """Return at which byte of the file the choice lies."""
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as file:
        elf = ELFFile(file)
        table: Any = elf.get_section_by_name(".symtab")
        (symbol,) = table.get_symbol_by_name(CHOSEN)
        section = elf.get_section(symbol["st_shndx"])
        return int(section["sh_offset"] + symbol["st_value"] - section["sh_addr"])
