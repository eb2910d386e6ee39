"""Kernels of another kind of machine: one program under an emulator, which calls them as it is asked to."""

from __future__ import annotations

import struct
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path

from perfdojo.compiler.emitted import EmittedSource

_SERVER = """
#include <stdio.h>

static int (*const kernels[])(void **) = {{ {names} }};

static void need(size_t done, size_t wanted) {{ if (done != wanted) exit(0); }}

int main(void) {{
  for (;;) {{
    uint64_t head[2], bytes;
    need(fread(head, 8, 2, stdin), 2);
    void *arguments[64];
    uint64_t sizes[64];
    for (uint64_t k = 0; k < head[1]; k++) {{
      need(fread(&bytes, 8, 1, stdin), 1);
      sizes[k] = bytes;
      arguments[k] = aligned_alloc(64, (bytes + 64) / 64 * 64);
      need(fread(arguments[k], 1, bytes, stdin), bytes);
    }}
    const int64_t status = kernels[head[0]](arguments);
    fwrite(&status, 8, 1, stdout);
    for (uint64_t k = 0; k < head[1]; k++) {{
      fwrite(arguments[k], 1, sizes[k], stdout);
      free(arguments[k]);
    }}
    fflush(stdout);
  }}
}}
"""


def server(many: Sequence[EmittedSource]) -> str:
    """Return the C text behind that of the kernels."""
    calls = []
    for e in many:
        given = ", ".join(f"a[{k}]" for k in range(len(e.arguments)))
        calls.append(f"static int call_{e.symbol}(void **a) {{ (void)a; return {e.symbol}({given}); }}")
    names = ", ".join(f"call_{e.symbol}" for e in many)
    return "\n".join([*calls, _SERVER.format(names=names)])


class Emulated:
    """The running program; ends with the last reference to this."""

    def __init__(self, command: Sequence[str], program: Path, many: Sequence[EmittedSource]) -> None:
        self._numbers = {e.symbol: k for k, e in enumerate(many)}
        self._process = subprocess.Popen(
            [*command, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        weakref.finalize(self, _end, self._process)

    def call(self, symbol: str, memories: Sequence[bytes]) -> list[bytes]:
        """Call a kernel on copies of its arguments; return what is in them then."""
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        to.write(struct.pack("<2Q", self._numbers[symbol], len(memories)))
        for m in memories:
            to.write(struct.pack("<Q", len(m)) + m)
        to.flush()
        head = back.read(8)
        assert len(head) == 8, f"{symbol} ended the program: {self._process.wait()}"
        assert head == bytes(8), f"{symbol} returned {head!r}"
        return [back.read(len(m)) for m in memories]


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()
