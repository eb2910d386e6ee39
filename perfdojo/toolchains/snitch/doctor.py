"""What `--doctor` says of Snitch: its compiler and the simulator."""

from __future__ import annotations

from typing import Literal

from perfdojo.toolchains.builds import find_built
from perfdojo.toolchains.cpu import Cpu
from perfdojo.toolchains.gcc import Compiler
from perfdojo.toolchains.places import Places
from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import COMPILER, find_riscv
from perfdojo.toolchains.snitch.simulator import simulator_request

Line = tuple[str, Literal["ok", "missing", "limited"], str, str]
"""Name, state (ok, missing, limited), one sentence, what to do."""


def examine_snitch(
    host: Compiler | None, cpu: Cpu, places: Places | None, compiler: str = COMPILER
) -> list[Line]:
    """Return the lines of the report; `host` and `places` are None where there are none."""
    return [_compiler(compiler), _simulator(host, cpu, places)]


def _compiler(name: str) -> Line:
    try:
        found = find_riscv(name)
    except MissingTool as error:
        text = f"{error.message}: kernels for snitch are emitted, neither built nor run"
        return "snitch gcc", "limited", text, error.hint
    return "snitch gcc", "ok", f"{found.version}, {found.path}", ""


def _simulator(host: Compiler | None, cpu: Cpu, places: Places | None) -> Line:
    if host is None or places is None:
        return "snitch sim", "limited", "the simulator cannot be made without gcc", ""
    made = find_built(simulator_request(host), host, cpu, places)
    if made is None:
        return "snitch sim", "ok", "the simulator is made on first use, in some seconds", ""
    return "snitch sim", "ok", f"{made.path}", ""
