"""Hand-written C kernels as a backend would hand them over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from perfdojo.compiler.emitted import Argument, EmittedSource, description_literals, prototype

N = 1000


def vector(name: str, role: str, dtype: str = "f32", n: int = N, **more: Any) -> Argument:
    return Argument(name, role, dtype, (n,), (1,), n, **more)  # type: ignore[arg-type]


def kernel(
    body: str, arguments: tuple[Argument, ...] = (), includes: tuple[str, ...] = (), **more: Any
) -> EmittedSource:
    """A kernel `k`, from s to d by default, with the statements of `body`, then return 0."""
    arguments = arguments or (vector("s", "in"), vector("d", "out"))
    emitted = EmittedSource("k", "c", "k", arguments, (), **more)
    heads = ("stdint.h", "stdlib.h", "math.h", *includes)
    text = "".join(f"#include <{h}>\n" for h in heads)
    text += f"{prototype(emitted)};\n{prototype(emitted)}\n{{\n    {body}\n    return 0;\n}}\n"
    text += "#ifdef PERFDOJO_SHARED\nextern const char perfdojo_description[];\n"
    text += "const char perfdojo_description[] =\n" + "\n".join(description_literals(emitted)) + ";\n#endif\n"
    return replace(emitted, files=(("k.c", text),))


def loop(statement: str, n: int = N) -> str:
    return f"for (int i = 0; i < {n}; i++) {statement}"


def ramp(n: int = N) -> dict[str, Any]:
    return {"s": np.arange(n, dtype=np.float32)}


ADD = kernel(loop("d[i] = s[i] + 1;"))
