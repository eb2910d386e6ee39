"""The compiler for Snitch, Debian's bare-metal RISC-V gcc: where it is, its flags, the ELF files it makes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.cpu import Cpu, read_cpu
from perfdojo.toolchains.gcc import WARNING_FLAGS, Compiler, find_compiler
from perfdojo.toolchains.places import Places, find_places
from perfdojo.toolchains.results import Failure
from perfdojo.toolchains.snitch.layout import Area, arguments_text, checks_text, plan_header

COMPILER = "riscv64-unknown-elf-gcc"
PACKAGE = "gcc-riscv64-unknown-elf"

ARCHITECTURE = ("-misa-spec=2.2", "-march=rv32imafd", "-mabi=ilp32d")
"""Version 2.2 of the base instruction set, as there the CSR instructions belong to it. Were they named in
-march (zicsr), gcc 12 would find no support library for rv32imafd and take the one for 64 bits. These come
behind the flags of the source, whose -march they replace."""
C_FLAGS = (
    "-std=c11",
    "-O3",
    "-mcmodel=medany",
    "-msmall-data-limit=0",
    "-ffreestanding",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-frounding-math",
)
"""For a kernel in C: nothing here changes the value of an expression (see emitted.BASE_FLAGS)."""
NO_DIVIDER = "-mno-fdiv"
DIVIDER = "xdivsqrt"
"""In `EmittedSource.requires` of code with fdiv and fsqrt, which the default cluster does not have."""
LINK_FLAGS = (
    "-nostdlib",
    "-nostartfiles",
    "-static",
    "-Wl,--no-relax",
    "-Wl,--no-warn-rwx-segments",
    "-Wl,--build-id=none",
    "-T",
    "link.ld",
)
HARNESS = ("start.S", "call.inc", "copy.inc", "memory.inc", "link.ld")
SUPPORT = "support.c"


@dataclass(frozen=True, slots=True)
class Tools:
    """What builds need: the compiler for Snitch, that of the host, which makes the simulator, and folders.

    Attributes:
        host: None where there is no gcc for this machine; then only other simulators can run what is built.
    """

    compiler: Compiler
    host: Compiler | None
    cpu: Cpu
    places: Places


def find_riscv(compiler: str = COMPILER) -> Compiler:
    """Return the compiler for Snitch.

    Raises:
        MissingTool: it is not installed.
    """
    return find_compiler(compiler, PACKAGE)


def find_tools(compiler: str = COMPILER, places: Places | None = None, simulating: bool = True) -> Tools:
    """Return compilers and folders; no compiler for this machine is needed unless it is `simulating`.

    Raises:
        MissingTool: one of the compilers is not installed.
    """
    return Tools(
        find_riscv(compiler), find_compiler() if simulating else None, read_cpu(), places or find_places()
    )


def build_elf(
    emitted: EmittedSource, area: Area, tools: Tools, self_check: bool = False
) -> Artifact | Failure:
    """Build the kernel with its harness, or return what was built before.

    Its images are zero; `run.program` fills them in. With `self_check` the program
    compares the outputs itself and has room for what is expected.
    """
    names = (*HARNESS, "check.c") if self_check else HARNESS
    made = [("perfdojo-plan.h", plan_header(emitted, area)), ("perfdojo-arguments.inc", arguments_text(area))]
    made += [("perfdojo-checks.S", checks_text(emitted, area))] if self_check else []
    # what the compiler calls in C code lies behind the kernel, so that listings begin with the kernel
    support = [SUPPORT] if any(n.endswith(".c") for n, _ in emitted.files) else []
    sources = (*map(_harness, names), *made, *emitted.files, *map(_harness, support))
    left = "perfdojo_images" if area.in_main else "perfdojo_snapshots"
    defined = f"perfdojo_left={left}" if self_check else "perfdojo_check=0"
    request = BuildRequest(
        f"{emitted.kernel}-{emitted.target}",
        "executable",
        sources,
        (*c_flags(emitted), *WARNING_FLAGS, *LINK_FLAGS, f"-Wl,--defsym={defined}"),
        tuple(dict.fromkeys((*emitted.links, "-lgcc"))),
    )
    return build_files(request, tools.compiler, tools.cpu, tools.places)


def c_flags(emitted: EmittedSource) -> tuple[str, ...]:
    """Return the flags for C code, each once: the last one of several counts for gcc."""
    divider = () if DIVIDER in emitted.requires else (NO_DIVIDER,)
    flags = (*C_FLAGS, *divider, *emitted.flags, *ARCHITECTURE)
    return tuple(f for k, f in enumerate(flags) if f not in flags[k + 1 :])


def assembly(emitted: EmittedSource, tools: Tools) -> str | Failure:
    """Return the assembly of the kernel: what the compiler makes of C files, and those that were emitted."""
    texts = [text for name, text in emitted.files if name.endswith(".S")]
    if any(name.endswith(".c") for name, _ in emitted.files):
        c_files = tuple(f for f in emitted.files if not f[0].endswith(".S"))
        request = BuildRequest(f"{emitted.kernel}-{emitted.target}", "assembly", c_files, c_flags(emitted))
        made = build_files(request, tools.compiler, tools.cpu, tools.places)
        if isinstance(made, Failure):
            return made
        texts.insert(0, made.path.read_text(errors="replace"))
    return "\n".join(texts)


def _harness(name: str) -> tuple[str, str]:
    """Return a file of the harness; what is compiled gets a name that no kernel can have."""
    text = (files("perfdojo") / "templates" / "snitch_harness" / name).read_text(encoding="utf-8")
    return f"perfdojo-{name}" if name.endswith((".c", ".S")) else name, text
