"""The compiler makes vector instructions of every record: no calls, branches, single lanes, or stack."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perfdojo.backends import extensions_of
from perfdojo.backends.vectors.instruction import Instruction
from perfdojo.backends.vectors.routines import routine_function, routine_name
from perfdojo.compiler.dtypes import F32
from perfdojo.compiler.elementary.describe import VECTOR_FUNCTIONS
from tests.backends.vectors.cases import table
from tests.backends.x86.building import FLAGS, compile_c, flags_with

HEADERS = "".join(f"#include <{h}.h>\n" for h in ("immintrin", "math", "stdbool", "stdint", "string"))
SCALAR = re.compile(
    r"call.*|j.*|v(add|sub|mul|div|min|max|sqrt)s[sd]|vcvt\w*s[sd](2\w+)?|vp(insr|extr)[bwdq]"
)
FUNCTION = re.compile(r"\nseen_(\w+):\n(.*?)\.cfi_endproc", re.DOTALL)
ALL = {t: flags_with(t, extensions_of(t).values()) for t in FLAGS}
INSTRUCTION = re.compile(r"\n\t([a-z]\w+)([^\n]*)")


def seen(record: Instruction) -> str:
    """Return the record as a function that the compiler has to keep."""
    head = f"{record.result} {record.name}("
    return record.function().replace(
        f"static inline {head}", head.replace(record.name, f"seen_{record.name}"), 1
    )


def surprises(assembly: str) -> dict[str, set[str]]:
    """Return the instructions that no vector code needs, by function."""
    found: dict[str, set[str]] = {}
    for name, body in FUNCTION.findall(assembly):
        wrong = {i for i, rest in INSTRUCTION.findall(body) if SCALAR.fullmatch(i) or "%rsp" in rest}
        if wrong:
            found[name] = wrong
    return found


@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_records_become_vector_instructions(target: str, tmp_path: Path) -> None:
    instructions = table(target)
    looking = ("stream", "stream_line")  # at the address
    records = [
        r for r in instructions.records.values() if not r.inline and r.lanes > 2 and r.op not in looking
    ]
    widest = [n for _, n, _ in instructions.shapes((F32,))]
    text = [HEADERS, *(r.function() for r in instructions.records.values() if not r.inline)]
    text += [seen(r) for r in records]
    for n in widest:
        for function in VECTOR_FUNCTIONS:
            name = routine_name(function, n)
            body = routine_function(instructions, function, n).replace("static inline", "")
            text.append(body.replace(f"{name}(", f"seen_{name}(", 1))
    assembly = compile_c(
        "\n".join(text), tmp_path, "all.s", "-O2", "-fno-ipa-icf", "-S", *ALL[target]
    ).read_text()
    assert len(FUNCTION.findall(assembly)) == len(records) + len(widest) * len(VECTOR_FUNCTIONS)
    assert not surprises(assembly)


def test_the_search_finds_lane_by_lane_code(tmp_path: Path) -> None:
    text = HEADERS + "__m256 seen_f(__m256 a) { for (int i = 0; i < 8; i++) a[i] = sinf(a[i]); return a; }"
    assembly = compile_c(text, tmp_path, "one.s", "-O2", "-S", *FLAGS["avx2"]).read_text()
    assert any(i.startswith("call") for i in surprises(assembly)["f"])


def test_the_compiler_takes_every_record_of_avx512(tmp_path: Path) -> None:
    target = "avx512"  # the others run here
    records = table(target).records.values()
    text = [HEADERS, *(r.function() for r in records if not r.inline)]
    text += [seen(r) for r in records if r.inline]
    compile_c("\n".join(text), tmp_path, "all.o", "-O0", "-c", *ALL[target])
