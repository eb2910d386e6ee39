"""System headers compiled once: gcc reads immintrin.h for 0.1 s, more than many a kernel takes.

For searches, which build hundreds of variants of a source with the same headers and flags. What is built to
be kept reads its headers itself, so that a missing `#include` is seen.
"""

from __future__ import annotations

import re

from perfdojo.toolchains.builds import BuildRequest, Files, build_files
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import Failure

HEADER = "system-headers.h"
_INCLUDE = re.compile(r"^#include <[\w./]+>$", re.MULTILINE)


def precompiled_flags(files: Files, flags: tuple[str, ...], host: Host) -> tuple[str, ...]:
    """Return flags by which gcc takes the system headers of some sources from where it compiled them before.

    Empty where there is nothing to gain: no such headers, another compiler, or it makes nothing of them.
    """
    lines = sorted({m for _, text in files for m in _INCLUDE.findall(text)})
    if not lines or not _is_gcc(host.compiler):
        return ()
    request = BuildRequest("system-headers", "headers", ((HEADER, "\n".join(lines) + "\n"),), flags)
    made = build_files(request, host.compiler, host.cpu, host.places)
    return () if isinstance(made, Failure) else ("-include", str(made.path.with_name(HEADER)))


def _is_gcc(compiler: Compiler) -> bool:
    return "clang" not in compiler.version
