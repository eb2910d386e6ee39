"""Build a CUDA kernel: by nvcc for each architecture, and for the host, where an emulation checks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.arrays import Array
from perfdojo.toolchains.cuda.device import Device, device_of, why_refused
from perfdojo.toolchains.cuda.emulation import Emulated, build_emulation
from perfdojo.toolchains.cuda.gpu import architecture, find_gpu, measure_on_gpu, run_on_gpu
from perfdojo.toolchains.cuda.nvcc import ARCHITECTURES, Compiled, compile_for, find_nvcc, library_for
from perfdojo.toolchains.cuda.run import run_emulated
from perfdojo.toolchains.cuda.usage import KernelUsage
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.harness import Host
from perfdojo.toolchains.results import Failure, Measurement, MissingTool, RunResult

CHECK_TIMEOUT_S = 300.0
SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Built:
    """A kernel that compiled.

    Attributes:
        emulated: for the host.
        compiled: by nvcc, one for each architecture; () where there is no nvcc.
        device: whose limits the emulation applies.
        timed: whether there is a GPU.
        reason: why it is not timed, one sentence, or "".
        warnings: what nvcc said, where there is none what g++ said.
        nvcc: None where there is none.
    """

    emitted: EmittedSource
    host: Host
    emulated: Emulated
    compiled: tuple[Compiled, ...]
    device: Device
    timed: bool
    reason: str
    warnings: str
    nvcc: Compiler | None = None

    def usage(self, architecture: str) -> Mapping[str, KernelUsage]:
        """What the kernels use on an architecture, by mangled name; {} where it was not compiled for it."""
        return next((c.usage for c in self.compiled if c.architecture == architecture), {})


def build(
    emitted: EmittedSource, host: Host, architectures: Sequence[str] = ARCHITECTURES, nvcc: str = "nvcc"
) -> Built | Failure:
    """Compile the kernel by nvcc, if there is one, and for the host.

    Args:
        host: with a gcc that compiles C++.
        architectures: the first one's limits are those of the emulation.

    Raises:
        MissingTool: g++ is not installed.
        PerfDojoError: no description of the first architecture.
    """
    device = device_of(architectures[0])
    emulated = build_emulation(emitted, host, device.architecture)
    if isinstance(emulated, Failure):
        return emulated
    names = " and ".join(architectures)
    compiled: list[Compiled] = []
    try:
        compiler = find_nvcc(nvcc)
    except MissingTool as error:
        reason = f"{error.message}: not compiled for {names}, checked by emulation, not timed; {error.hint}"
        return Built(emitted, host, emulated, (), device, False, reason, emulated.warnings)
    for name in architectures:
        made = compile_for(emitted, compiler, host, name)
        if isinstance(made, Failure):
            return made
        compiled.append(made)
    why = find_gpu()
    reason = f"{why}: compiled for {names}, checked by emulation, not timed" if why else ""
    warnings = "\n".join(dict.fromkeys(line for c in compiled for line in c.warnings.splitlines()))
    return Built(emitted, host, emulated, tuple(compiled), device, not why, reason, warnings, compiler)


def run(
    built: Built,
    inputs: Mapping[str, Array],
    seeds: Sequence[int] = SEEDS,
    timeout_s: float = CHECK_TIMEOUT_S,
) -> RunResult:
    """Run the kernel in the emulation on `inputs`, arrays for the `in` and `inout` arguments.

    Each seed is another order of blocks and threads. Outcomes beside those of other targets: race, deadlock,
    out-of-bounds (of reads; writes are memory-overwrite), uninitialised-read, misaligned, launch-refused and
    memory-leak.
    """
    result, launches = run_emulated(built.emitted, built.emulated, built.device, inputs, seeds, timeout_s)
    if result.outcome != "ok":
        return result
    refused = next((text for x in launches if (text := _why_refused(built, x))), "")
    return replace(result, outcome="launch-refused", text=refused, outputs={}) if refused else result


def run_natively(built: Built, inputs: Mapping[str, Array]) -> RunResult:
    """Run the kernel on the GPU that is here; not-runnable where there is none."""
    library = _library(built)
    if isinstance(library, str):
        return RunResult("not-runnable", library)
    return run_on_gpu(built.emitted, library, inputs)


def measure(
    built: Built, inputs: Mapping[str, Array], budget_s: float = 1.0, cache: Literal["hot", "cold"] = "hot"
) -> Measurement:
    """Time the kernel on the GPU that is here by its events; not-runnable where there is none.

    With cache="cold" its L2 cache is flushed before each call.
    """
    library = _library(built)
    if isinstance(library, str):
        return Measurement("not-runnable", library, cache=cache)
    return measure_on_gpu(built.emitted, library, inputs, budget_s, cache)


def _library(built: Built) -> Path | str:
    """The library for the GPU that is here, or why there is none."""
    if not built.timed or built.nvcc is None:
        return built.reason
    made = library_for(built.emitted, built.nvcc, built.host, architecture())
    return made.text if isinstance(made, Failure) else made.path


def _why_refused(built: Built, launch: Mapping[str, object]) -> str:
    """Why a launch fails that the emulation allows: by registers or __launch_bounds__, which nvcc says."""
    functions = {f.symbol: f for f in built.emulated.contents.functions}
    threads, grid = _three(launch["block"]), _three(launch["grid"])
    count = threads[0] * threads[1] * threads[2]
    for compiled in built.compiled:
        for symbol, usage in compiled.usage.items():
            if symbol not in functions or functions[symbol].name != launch["kernel"]:
                continue
            if usage.max_threads and count > usage.max_threads:
                bound = f"its __launch_bounds__ allow {usage.max_threads}"
                return f"kernel {launch['kernel']}: {count} threads in a block, but {bound}"
            device = replace(built.device, architecture=compiled.architecture)
            text = why_refused(device, threads, grid, usage.shared_bytes, usage.registers)
            if text:
                return f"kernel {launch['kernel']}: {text}"
    return ""


def _three(value: object) -> tuple[int, int, int]:
    assert isinstance(value, list)
    x, y, z = value
    return int(x), int(y), int(z)
