"""What a shared library says about how it was built, and whether it may run here."""

from __future__ import annotations

import json
import platform

from perfdojo.toolchains.cpu import Cpu
from perfdojo.toolchains.gcc import Compiler

BUILD_SYMBOL = "perfdojo_build"

_CODE_FEATURES = ("sse", "ssse", "pni", "avx", "fma", "f16c", "bmi", "popcnt", "movbe", "abm", "adx", "vaes")
"""Prefixes of the features of /proc/cpuinfo that a compiler may use without being told to."""


def identity_file(cpu: Cpu, compiler: Compiler) -> tuple[str, str]:
    """Return a C file that defines `const char perfdojo_build[]`, JSON: machine, cpu, features, compiler.

    Of a library for another kind of machine than this one, processor and features are not known.
    """
    fields: dict[str, object] = {"machine": compiler.kind, "cpu": "", "features": []}
    if compiler.kind == platform.machine():
        features = sorted(f for f in cpu.features if f.startswith(_CODE_FEATURES))
        fields |= {"cpu": cpu.model, "features": features}
    fields["compiler"] = compiler.version
    pieces = json.dumps(json.dumps(fields))[1:-1].split(", ")
    lines = "\n".join(f'    "{p}, "' for p in pieces[:-1])
    text = (
        "/* How this library was built. */\n"
        f"extern const char {BUILD_SYMBOL}[];\n"
        f'const char {BUILD_SYMBOL}[] =\n{lines}\n    "{pieces[-1]}";\n'
    )
    return "perfdojo-build.c", text  # a name that no kernel, and so no source of one, can have


def why_not_here(build: dict[str, object], requires: tuple[str, ...], cpu: Cpu) -> str:
    """Return why a library built like this must not run on this machine, one sentence, or ""."""
    machine = build.get("machine")
    if machine and machine != platform.machine():
        return f"it is built for {machine}, this machine is {platform.machine()}"
    if not cpu.features:
        return ""
    features = build.get("features")
    built_for = tuple(str(f) for f in features) if isinstance(features, list) else ()
    missing = cpu.missing((*requires, *built_for))
    return f"it needs a CPU with {', '.join(missing)}, this one ({cpu.model}) has not" if missing else ""
