"""The systems by name: their columns in a table, where their code is, in which environment they run."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from benchmarks.peers.peer import Peer


@dataclass(frozen=True, slots=True)
class System:
    """One column.

    Attributes:
        place: module below `benchmarks.peers.systems` and class in it.
        environment: "own" is the interpreter that runs the benchmark; others are folders of the cache.
        role: ours; plain C; a peer, which competes for the best of a row.
        libraries: whether it loads shared libraries that its packages put into the environment's lib folder.
    """

    name: str
    title: str
    place: str
    environment: str = "bench"
    role: Literal["ours", "plain", "peer"] = "peer"
    libraries: bool = False


SYSTEMS = (
    System("scheduled", "ours, scheduled", "ours:Scheduled", "own", "ours"),
    System("scheduled-c", "ours, scheduled, called from C", "ours:ScheduledFromC", "own", "ours"),
    System("default", "ours, no schedule", "ours:Planned", "own", "ours"),
    System("plain-c", "plain C", "plain_c:PlainC", "own", "plain"),
    System("torch", "PyTorch", "torch_eager:Eager"),
    System("torch-compile", "torch.compile", "torch_compile:Compiled"),
    System("numpy", "NumPy", "numpy_openblas:NumPy", "own"),
    System("onnxruntime", "ONNX Runtime", "onnx_runtime:OnnxRuntime"),
    System("onnxruntime-constant", "ONNX Runtime, weights constant", "onnx_runtime:ConstantWeights"),
    System("onednn", "oneDNN", "onednn:OneDnn", libraries=True),
    System("mkl", "MKL", "mkl:Mkl", libraries=True),
    System("jax", "JAX", "jax_xla:Jax"),
    System("halide", "Halide Adams2019", "halide_auto:Adams"),
    System("halide-mullapudi", "Halide Mullapudi2016", "halide_auto:Mullapudi"),
    System("tvm", "TVM MetaSchedule", "tvm_tuned:Tuned", "tvm"),
)


def find(name: str) -> System:
    """Return the system of that name.

    Raises:
        KeyError: there is none.
    """
    for s in SYSTEMS:
        if s.name == name:
            return s
    raise KeyError(name)


def load(system: System) -> type[Peer]:
    """Return the class of a system; the system itself is not imported yet."""
    module, _, name = system.place.partition(":")
    found: type[Peer] = getattr(import_module(f"benchmarks.peers.systems.{module}"), name)
    return found
