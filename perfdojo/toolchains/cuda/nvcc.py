"""NVIDIA's compiler: where it is, what it makes for each architecture, what it says of the kernels."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.cuda.usage import KernelUsage, disagreements, read_cubin, read_report
from perfdojo.toolchains.gcc import QUERY_LIMITS, Compiler
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.process import run
from perfdojo.toolchains.results import Failure, MissingTool

WHEELS = ("nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime", "nvidia-cuda-cccl")
HINT = (
    f"python -m pip install {' '.join(WHEELS)}, and CUDA_HOME set to the folder nvidia/cu13 that they make; "
    "or NVIDIA's package cuda-nvcc-13-0; or on Debian (non-free): apt-get install nvidia-cuda-toolkit"
)
ARCHITECTURES = ("sm_80", "sm_90")
FLAGS = ("-std=c++17", "-O3", "-Xptxas", "-v", "-Xcompiler", "-Wall,-Wextra,-Wno-unknown-pragmas")
_TALK = re.compile(r"^(ptxas info\b.*|\s+\d+ bytes stack frame.*|\s*)$")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel for one architecture.

    Attributes:
        cubin: the machine code.
        warnings: what nvcc said beside the usage.
        usage: of each kernel, by its mangled name.
    """

    architecture: str
    cubin: Path
    command: str
    warnings: str
    usage: Mapping[str, KernelUsage]


def library_for(emitted: EmittedSource, nvcc: Compiler, host: Host, architecture: str) -> Artifact | Failure:
    """Build the shared library with the launcher that runs on a GPU of that architecture."""
    flags = (f"-arch={architecture}", *FLAGS, *emitted.flags)
    request = BuildRequest(f"{emitted.kernel}-{architecture}", "gpu-library", emitted.files, flags)
    return build_files(request, nvcc, host.cpu, host.places)


def _completed(said: KernelUsage, found: KernelUsage) -> KernelUsage:
    """What ptxas says, and what only the cubin does."""
    return replace(said, max_threads=found.max_threads, constant_bytes=found.constant_bytes)


def find_nvcc(nvcc: str = "nvcc", environment: Mapping[str, str] = os.environ) -> Compiler:
    """Return nvcc: the name or path given, in PATH or below CUDA_HOME or CUDA_PATH.

    Raises:
        MissingTool: it is not there, or does not work; names what brings it.
    """
    places = [environment.get("PATH", "")]
    places += [f"{environment[v]}/bin" for v in ("CUDA_HOME", "CUDA_PATH") if environment.get(v)]
    found = shutil.which(nvcc, path=os.pathsep.join(places))
    if found is None:
        raise MissingTool(nvcc, "nvidia-cuda-toolkit", HINT)
    state = Path(found).resolve().stat()
    return _ask(Path(found), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _ask(path: Path, _mtime_ns: int, _size: int) -> Compiler:
    answer = run([str(path), "--version"], QUERY_LIMITS)
    release = re.search(r"release [\d.]+, V[\d.]+", answer.stdout)
    if answer.outcome != "ok" or release is None:
        raise MissingTool(f"a working {path}", "nvidia-cuda-toolkit", HINT)
    return Compiler(path, f"nvcc {release.group()}", "nvptx")


def compile_for(emitted: EmittedSource, nvcc: Compiler, host: Host, architecture: str) -> Compiled | Failure:
    """Compile the .cu file for one architecture and read back what its kernels use.

    Where ptxas's report and the cubin contradict each other, a warning says so.
    """
    flags = (f"-arch={architecture}", *FLAGS, *emitted.flags)
    request = BuildRequest(f"{emitted.kernel}-{architecture}", "cubin", emitted.files, flags)
    made = build_files(request, nvcc, host.cpu, host.places)
    if isinstance(made, Failure):
        return made
    said, found = read_report(made.warnings), read_cubin(made.path)
    lines = [line for line in made.warnings.splitlines() if not _TALK.match(line)]
    if contradiction := disagreements(said, found):
        lines.append(f"warning: {contradiction}")
    usage = {n: _completed(u, found[n]) for n, u in said.items() if n in found}
    return Compiled(architecture, made.path, made.command, "\n".join(lines), usage)
