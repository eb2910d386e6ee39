"""What a GPU does not take, told from what nvcc says of a kernel, before anything is launched."""

from __future__ import annotations

import re

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.cuda.device import DEVICES, why_refused
from perfdojo.toolchains.cuda.usage import read_report
from perfdojo.toolchains.results import Failure

_TOO_MUCH = re.compile(r"uses too much (?:shared|local) data.*")
_THREADS = re.compile(r"__launch_bounds__\((\d+)\) (\w+)\(")


def over_limits(emitted: EmittedSource, report: str, architecture: str) -> str:
    """Return which limit of the GPU one of the kernels is over, one sentence, or "".

    Args:
        report: of ptxas. Threads are those that the source names; of a GPU that is not described here,
            nothing is said: its driver refuses the launch.
    """
    device = DEVICES.get(architecture)
    if device is None:
        return ""
    threads = {name: int(count) for count, name in _THREADS.findall(emitted.files[0][1])}
    for name, usage in read_report(report).items():
        block = (threads.get(name, 1), 1, 1)
        if why := why_refused(device, block, (1, 1, 1), usage.shared_bytes, usage.registers):
            return f"kernel {name}: {why}"
    return ""


def refusal(failure: Failure) -> str:
    """Return what a kernel that does not compile has too much of, one sentence, or ""."""
    found = next((m for line in failure.lines if (m := _TOO_MUCH.search(line))), None)
    return f"the kernel {found.group()}" if found else ""
