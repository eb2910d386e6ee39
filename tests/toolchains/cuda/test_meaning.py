"""What single functions of CUDA mean in the emulation, against NumPy; and its slower fibers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from perfdojo.toolchains.builds import Artifact
from perfdojo.toolchains.cuda.device import SM_80
from perfdojo.toolchains.cuda.emulation import Emulated, build_emulation, runner
from perfdojo.toolchains.cuda.run import run_emulated
from perfdojo.toolchains.harness import Host
from tests.toolchains.cuda.kernels import CASES, Arrays, argument, source

N = 65536


def outputs(host: Host, name: str, arguments: Any, inputs: Arrays) -> Any:
    emitted = source(name, arguments)
    emulated = build_emulation(emitted, host, "sm_80")
    assert isinstance(emulated, Emulated), emulated
    result, _ = run_emulated(emitted, emulated, SM_80, inputs, (0, 1), 60.0)
    assert result.outcome == "ok", result.text
    return result.outputs


def test_conversions_of_short_floats(cxx_host: Host) -> None:
    bits = np.arange(N, dtype=np.uint16)
    h, b = bits.view(np.float16), bits.view(ml_dtypes.bfloat16)
    rng = np.random.default_rng(0)
    floats = rng.integers(0, 2**32, N, dtype=np.uint32).view(np.float32).copy()
    with np.errstate(all="ignore"):
        middle = h[:-1].astype(np.float32) / 2 + h[1:].astype(np.float32) / 2  # ties
        floats[: N // 2] = middle[: N // 2]
        floats[N // 2 : N // 2 + 20000] = rng.standard_normal(20000) * 2.0 ** rng.integers(-26, 17, 20000)
        expected = {
            "from_h": h.astype(np.float32),
            "from_b": b.astype(np.float32),
            "to_h": floats.astype(np.float16),
            "to_b": floats.astype(ml_dtypes.bfloat16),
        }
    types = {
        "h": "f16",
        "b": "bf16",
        "f": "f32",
        "from_h": "f32",
        "from_b": "f32",
        "to_h": "f16",
        "to_b": "bf16",
    }
    arguments = tuple(argument(n, "in" if len(n) == 1 else "out", (N,), t) for n, t in types.items())
    found = outputs(cxx_host, "halves", arguments, {"h": h, "b": b, "f": floats})
    for name, value in expected.items():
        with np.errstate(invalid="ignore"):  # signalling NaN
            got, wanted = found[name].astype(np.float64), value.astype(np.float64)
        np.testing.assert_array_equal(got, wanted)
        assert ((np.signbit(got) == np.signbit(wanted)) | np.isnan(wanted)).all()


def test_what_lanes_tell_each_other(cxx_host: Host) -> None:
    s = np.arange(32, dtype=np.int32)
    arguments = (
        argument("s", "in", (32,), "i32"),
        argument("d", "out", (8, 32), "i32"),
        argument("most", "out", (1,)),
    )
    found = outputs(cxx_host, "lanes", arguments, {"s": s})
    expected = [
        np.full(32, 5),
        s // 8 * 8 + 1,
        np.where(s < 3, s, s - 3),
        np.where(s % 16 > 13, s, s + 2),
        s ^ 7,
        np.full(32, sum(1 << k for k in range(0, 32, 3))).astype(np.int32),
        np.full(32, 3),
        np.where(s < 16, s ^ 1, s ^ 2),
    ]
    np.testing.assert_array_equal(found["d"], np.array(expected))
    assert found["most"] == [495]


def test_fibers_of_the_system_do_the_same(cxx_host: Host) -> None:
    case = CASES["product"]
    emulated = build_emulation(case.emitted(), cxx_host, "sm_80")
    slower = runner(cxx_host, "-DPERFDOJO_UCONTEXT")
    assert isinstance(emulated, Emulated)
    assert isinstance(slower, Artifact)
    assert slower.path != emulated.program
    assert slower.warnings == ""
    emulated = replace(emulated, program=slower.path)
    result, launches = run_emulated(case.emitted(), emulated, SM_80, case.inputs, (0, 1, 2), 60.0)
    assert result.outcome == "ok", result.text
    case.check(result.outputs)
    assert launches == ({"kernel": "product_kernel", "grid": [4, 4, 1], "block": [16, 16, 1], "dynamic": 0},)
