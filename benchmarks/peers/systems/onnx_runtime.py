"""ONNX Runtime: a model of one kernel, bound to arrays that are there, weights as inputs or as constants."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from benchmarks.buffers import Array
from benchmarks.peers.peer import Peer, Prepared, Task, Unsupported
from benchmarks.peers.references import EPSILON
from benchmarks.suite import Benchmark

WEIGHTS = {
    "bias_relu": ("b",),
    "layernorm": ("g", "b"),
    "rmsnorm": ("g",),
    "batchnorm": ("g", "b", "mean", "var"),
    "matmul": ("b",),
    "gemv": ("a",),
    "conv3x3": ("w",),
    "conv1x1": ("w",),
    "dwconv3x3": ("w",),
    "ffn_swiglu": ("w1", "w3", "w2"),
}
"""Inputs that are constant in a deployed model; the runtime may then reorder them before the first call."""

Step = tuple[str, str, str, dict[str, Any]]
"""Operator, its inputs, its output, its attributes."""


class OnnxRuntime(Peer):
    """All arrays are inputs of the model, as they are for the other systems."""

    modules = ("onnxruntime", "onnx")
    distribution = "onnxruntime"
    constant: ClassVar[bool] = False

    def __init__(self) -> None:
        self.runtime: Any = import_module("onnxruntime")

    def prepare(self, task: Task, threads: int) -> Prepared:
        names = WEIGHTS.get(task.benchmark.kernel, ()) if self.constant else ()
        if self.constant and not names:
            raise Unsupported("no weights")
        runtime = self.runtime
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        text = model(task.benchmark, {n: task.inputs[n] for n in names})
        session = runtime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        value = runtime.OrtValue.ortvalue_from_numpy
        bound = {n: value(a) for n, a in task.inputs.items() if n not in names}
        for n, a in bound.items():
            binding.bind_ortvalue_input(n, a)
        out = value(task.output)
        binding.bind_ortvalue_output("out", out)
        return Prepared(lambda: session.run_with_iobinding(binding), lambda: (out.numpy(), bound)[0])


class ConstantWeights(OnnxRuntime):
    """Weights are part of the model, as in deployment: more than the other systems are given."""

    constant = True


def model(b: Benchmark, constants: dict[str, Array]) -> bytes:
    """Return an ONNX model of a kernel; `constants` are inputs that become part of it."""
    onnx = import_module("onnx")
    h, of_array, real = onnx.helper, onnx.numpy_helper.from_array, onnx.TensorProto.FLOAT
    found, values = graph(b)
    (shape,) = b.outputs.values()
    made = h.make_graph(
        [h.make_node(op, inputs.split(), [out], **more) for op, inputs, out, more in found],
        b.name,
        [h.make_tensor_value_info(n, real, s) for n, s in b.inputs.items() if n not in constants],
        [h.make_tensor_value_info("out", real, shape)],
        [of_array(np.asarray(v), n) for n, v in {**values, **constants}.items()],
    )
    whole = h.make_model(made, opset_imports=[h.make_opsetid("", 20)], ir_version=10)
    return bytes(whole.SerializeToString())


def graph(b: Benchmark) -> tuple[list[Step], dict[str, Any]]:
    """Return the operators of a kernel, and constants that they take."""
    given = " ".join(b.inputs)
    axis = {"axis": np.array([0 if b.kernel == "mean_first" else -1], np.int64)}
    image = {"axes": np.array([2, 3], np.int64)}
    match b.kernel:
        case "add" | "mul" | "relu" | "sigmoid":
            return [(b.kernel.capitalize(), given, "out", {})], {}
        case "matmul" | "bmm" | "gemv":
            return [("MatMul", given, "out", {})], {}
        case "gelu":
            return [("Gelu", given, "out", {"approximate": "tanh"})], {}
        case "swish":
            return [("Sigmoid", "x", "s", {}), ("Mul", "x s", "out", {})], {}
        case "swiglu":
            return [("Sigmoid", "a", "s", {}), ("Mul", "a s", "t", {}), ("Mul", "t b", "out", {})], {}
        case "bias_relu":
            return [("Add", given, "s", {}), ("Relu", "s", "out", {})], {}
        case "softmax":
            return [("Softmax", given, "out", {"axis": -1})], {}
        case "layernorm":
            return [("LayerNormalization", given, "out", {"axis": -1, "epsilon": EPSILON["layernorm"]})], {}
        case "rmsnorm":
            steps: list[Step] = [
                ("Mul", "x x", "squares", {}),
                ("ReduceMean", "squares axis", "mean", {"keepdims": 1}),
                ("Add", "mean epsilon", "above", {}),
                ("Sqrt", "above", "root", {}),
                ("Div", "x root", "normal", {}),
                ("Mul", "normal g", "out", {}),
            ]
            return steps, {**axis, "epsilon": np.float32(EPSILON["rmsnorm"])}
        case "batchnorm":
            return [("BatchNormalization", given, "out", {"epsilon": EPSILON["batchnorm"]})], {}
        case "mean_last" | "mean_first" | "max_last":
            op = "ReduceMax" if b.kernel == "max_last" else "ReduceMean"
            return [(op, f"{given} axis", "out", {"keepdims": 0})], axis
        case "transpose":
            return [("Transpose", given, "out", {"perm": [1, 0]})], {}
        case "conv3x3":
            return [("Conv", given, "out", {"pads": [1, 1, 1, 1]})], {}
        case "conv1x1":
            return [("Unsqueeze", "w axes", "filter", {}), ("Conv", "x filter", "out", {})], image
        case "dwconv3x3":
            channels = {"pads": [1, 1, 1, 1], "group": b.inputs["x"][1]}
            made: list[Step] = [("Unsqueeze", "w axes", "filter", {}), ("Conv", "x filter", "out", channels)]
            return made, {"axes": np.array([1], np.int64)}
        case "maxpool2":
            return [("MaxPool", given, "out", {"kernel_shape": [2, 2], "strides": [2, 2]})], {}
        case "ffn_swiglu":
            steps = [
                ("MatMul", "x w1", "a", {}),
                ("MatMul", "x w3", "b", {}),
                ("Sigmoid", "a", "s", {}),
                ("Mul", "a s", "t", {}),
                ("Mul", "t b", "gated", {}),
                ("MatMul", "gated w2", "out", {}),
            ]
            return steps, {}
        case "attention":
            steps = [
                ("Transpose", "k", "columns", {"perm": [0, 2, 1]}),
                ("MatMul", "q columns", "scores", {}),
                ("Mul", "scores scale", "scaled", {}),
                ("Softmax", "scaled", "weights", {"axis": -1}),
                ("MatMul", "weights v", "out", {}),
            ]
            return steps, {"scale": np.float32(1 / math.sqrt(b.sizes["D"]))}
    raise Unsupported(f"no model of {b.kernel}")
