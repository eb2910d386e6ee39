"""Compile a .cu file for the host, as it is, against headers that stand in for CUDA's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.builds import Artifact, BuildRequest, Files, build_files
from perfdojo.toolchains.cuda.device import DEVICES
from perfdojo.toolchains.cuda.symbols import DYNAMIC, Contents, read_contents, undefined_shared
from perfdojo.toolchains.gcc import accepts_cxx
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import Failure, MissingTool

HEADERS = (
    "cuda_runtime.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "mma.h",
    "vector_types.h",
    "emulated_atomics.h",
    "emulated_functions.h",
    "emulated_warps.h",
)
PROGRAM = (
    "emulate.c",
    "runtime.cc",
    "runtime.h",
    "fibers.h",
    "state.h",
    "shadow.h",
    "memory.h",
    "undefined.h",
    "schedule.h",
    "copies.h",
    "workspaces.h",
    "launch.h",
)

FLAGS = (
    "-x",
    "c++",
    "-std=c++17",
    "-O1",
    "-finline-small-functions",
    "-fno-tree-loop-im",
    "-g",
    "-Wall",
    "-Wextra",
    "-Wno-unknown-pragmas",
    "-Wno-attributes",
    "-Wno-psabi",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-frounding-math",
    "-fno-exceptions",
    "-fsanitize=thread,bounds-strict,alignment",
    "--param=tsan-instrument-func-entry-exit=0",
    "-include",
    "cuda_runtime.h",
    "-D__CUDACC__",
)
"""The sanitizers add calls at each access, which the program defines; their libraries are not linked.
Little is optimised, so that accesses stay where they are written and keep their lines: a load that is moved
in front of a loop would be made by threads that never come to it."""

_WRAPPED = ("memcpy", "memmove", "memset")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Emulated:
    """A kernel that was compiled for the host.

    Attributes:
        program: runs it.
        warnings: what g++ said.
    """

    library: Path
    program: Path
    contents: Contents
    warnings: str


def build_emulation(
    emitted: EmittedSource, host: Host, architecture: str, call: str = ""
) -> Emulated | Failure:
    """Compile and link the kernel for the host, and the program that runs it.

    Args:
        call: C text of `int perfdojo_call(void **arguments)`; "": it calls the launcher.

    Raises:
        MissingTool: g++ is not installed.
    """
    if not accepts_cxx(host.compiler):
        raise MissingTool("g++", "g++")
    program = runner(host)
    if isinstance(program, Failure):
        return program
    number = architecture.removeprefix("sm_").rstrip("af")
    flags = (*FLAGS, f"-D__CUDA_ARCH__={number}0", *_defines(emitted))
    request = BuildRequest(
        f"{emitted.kernel}-cuda-emulated", "object", emitted.files, flags, before=_texts(HEADERS)
    )
    compiled = build_files(request, host.compiler, host.cpu, host.places)
    if isinstance(compiled, Failure):
        return compiled
    library = _link(emitted, compiled, host, call or launcher_call(emitted))
    if isinstance(library, Failure):
        return library
    return Emulated(library.path, program.path, read_contents(library.path), compiled.warnings)


def _defines(emitted: EmittedSource) -> tuple[str, ...]:
    """Those flags of nvcc that mean the same to g++."""
    return tuple(f for f in emitted.flags if f.startswith(("-D", "-U")))


def _texts(names: tuple[str, ...]) -> Files:
    folder = files("perfdojo") / "templates" / "cuda_emulation"
    return tuple((name, (folder / name).read_text(encoding="utf-8")) for name in names)


def runner(host: Host, *flags: str) -> Artifact | Failure:
    """Build the program that runs emulated kernels, or return the one in the cache."""
    shared = files("perfdojo") / "templates" / "harness"
    texts = tuple((n, (shared / n).read_text(encoding="utf-8")) for n in ("alone.h", "buffers.h", "faults.h"))
    request = BuildRequest(
        "cuda-emulation",
        "executable",
        (*_texts(PROGRAM), *texts),
        ("-O2", "-g", "-Wall", "-Wextra", "-rdynamic", *flags),
        ("-lstdc++", "-ldl", "-lm"),
    )
    return build_files(request, host.compiler, host.cpu, host.places)


def _link(emitted: EmittedSource, compiled: Artifact, host: Host, call: str) -> Artifact | Failure:
    """Link the kernel with what calls it; its libraries leave out those of the sanitizers."""
    names = undefined_shared(compiled.path)
    assert all(_NAME.fullmatch(n) for n in names), names
    request = BuildRequest(
        f"{emitted.kernel}-cuda-linked",
        "shared",
        (_call_file(call, names),),
        ("-O1",),
        (str(compiled.path), *(f"-Wl,--wrap={w}" for w in _WRAPPED), "-lstdc++", "-lm"),
    )
    return build_files(request, host.compiler, host.cpu, host.places)


def launcher_call(emitted: EmittedSource, name: str = "perfdojo_call") -> str:
    """Return a C function that calls the launcher with an array of pointers."""
    values = "".join(f"arguments[{k}], " for k in range(len(emitted.arguments)))
    types = "".join("void *, " for _ in emitted.arguments)
    return (
        f"int {emitted.symbol}({types}void *);\n"
        f"int {name}(void **arguments);\n\n"
        f"int {name}(void **arguments)\n{{\n"
        f"    (void)arguments;\n    return {emitted.symbol}({values}(void *)0);\n}}\n"
    )


def _call_file(call: str, dynamic: tuple[str, ...]) -> tuple[str, str]:
    """Return the C file with `perfdojo_call`, which holds dynamic shared memory under all its names."""
    most = max(d.shared_per_block for d in DEVICES.values())
    aliases = "".join(
        f'extern __thread char {n}[{most}] __attribute__((alias("{DYNAMIC}")));\n' for n in dynamic
    )
    text = (
        "/* Calls the launcher through an array of pointers; all dynamic shared memory is one array. */\n"
        f"__thread char {DYNAMIC}[{most}] __attribute__((aligned(1024)));\n{aliases}"
        "void *perfdojo_dynamic_start(void);\n\n"
        f"void *perfdojo_dynamic_start(void) {{ return {DYNAMIC}; }}\n\n{call}"
    )
    return "perfdojo-call.c", text
