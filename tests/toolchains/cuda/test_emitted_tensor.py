"""What is emitted for tensor cores compiles without warnings, and holds its matrices in registers."""

from __future__ import annotations

import pytest

from perfdojo.toolchains.cuda.nvcc import ARCHITECTURES, Compiled, compile_for
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.harness import Host
from tests.backends.test_cuda_tensor import KEPT, made


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", KEPT)
def test_it_compiles(host: Host, nvcc: Compiler, name: str, architecture: str) -> None:
    compiled = compile_for(made(KEPT[name])[1], nvcc, host, architecture)
    assert isinstance(compiled, Compiled), compiled
    assert compiled.warnings == ""
    for usage in compiled.usage.values():
        assert usage.spill_store_bytes + usage.spill_load_bytes + usage.stack_bytes == 0
