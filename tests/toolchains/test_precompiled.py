"""Headers that were compiled before change nothing of the code, and are compiled once."""

from __future__ import annotations

from pathlib import Path

from elftools.elf.elffile import ELFFile

from perfdojo.backends import emit
from perfdojo.compiler.bind import bind
from perfdojo.compiler.verify import verify
from perfdojo.finding import read_kernel
from perfdojo.toolchains.host import Built, build, find_host, flags_of
from perfdojo.toolchains.precompiled import HEADER, precompiled_flags


def code_of(library: Path) -> bytes:
    with library.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".text")
        assert section is not None
        return bytes(section.data())


def test_code_is_the_same() -> None:
    host = find_host()
    bound = bind(read_kernel("softmax"), {"B": 3, "N": 37})
    verify(bound)
    source = emit(bound, "avx512")
    slow, quick = build(source, host), build(source, host, quick=True)
    assert isinstance(slow, Built)
    assert isinstance(quick, Built)
    assert code_of(slow.native) == code_of(quick.native)
    assert HEADER in quick.command
    assert HEADER not in slow.command


def test_headers_of_the_system_are_compiled_once() -> None:
    host = find_host()
    source = emit(bind(read_kernel("relu"), {}), "c")
    flags = flags_of(source, host)
    option, path = precompiled_flags(source.files, flags, host)
    assert option == "-include"
    assert Path(path).with_name(f"{HEADER}.gch").exists()
    assert precompiled_flags(source.files, flags, host) == (option, path)
    assert precompiled_flags(source.files, (*flags, "-O1"), host) != (option, path)


def test_without_such_headers_nothing_is_compiled() -> None:
    assert precompiled_flags((("a.c", '#include "a.h"\n'),), (), find_host()) == ()
