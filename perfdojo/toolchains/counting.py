"""Instructions that a kernel executes, counted by a plugin of the emulator: no time, but no noise either."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from perfdojo.compiler.emitted import EmittedSource
from perfdojo.toolchains.arrays import Array
from perfdojo.toolchains.builds import Artifact, BuildRequest, build_files
from perfdojo.toolchains.gcc import QUERY_LIMITS, find_compiler
from perfdojo.toolchains.harness import Host, Launch, run_harness
from perfdojo.toolchains.process import Limits, run
from perfdojo.toolchains.results import Failure, MissingTool

INTERFACES = (((8, 2), 2), ((0, 0), 1))
"""From which version of qemu on plugins state which version of the interface (include/qemu/qemu-plugin.h)."""
COUNT_TIMEOUT_S = 120.0


def count_instructions(
    host: Host, library: Path, emitted: EmittedSource, inputs: Mapping[str, Array], calls: int = 2
) -> int | str:
    """Return the instructions of one call: what one call more adds to those of a run.

    Args:
        host: with an emulator.
        library: of the kernel, as `perfdojo.toolchains.host.build` makes it.
    Returns:
        the count, or one sentence on why there is none.
    """
    try:
        plugin = _plugin(host)
    except MissingTool as missing:
        return f"not counted: {missing.message} (Debian package {missing.package})"
    if isinstance(plugin, Failure):
        return f"the plugin that counts cannot be built: {plugin.text}"
    with tempfile.TemporaryDirectory(prefix="perfdojo-count-") as name:
        totals = []
        for n in (calls, calls + 1):
            out = Path(name) / f"{n}"
            command = (*host.emulator, "-plugin", f"{plugin.path},out={out}")
            limits = Limits(wall_s=COUNT_TIMEOUT_S, processes=1)
            launch = Launch("calls", 1, calls=n)
            report = run_harness(replace(host, emulator=command), library, emitted, inputs, launch, limits)
            if report.outcome != "ok":
                return f"{report.outcome}: {report.text}"
            if not out.exists():
                return f"{host.emulator[0]} takes no plugins"
            totals.append(int(out.read_text()))
    return totals[1] - totals[0]


def _plugin(host: Host) -> Artifact | Failure:
    """Build the plugin with the compiler of this machine, for the qemu that is there."""
    said = run([host.emulator[0], "--version"], QUERY_LIMITS).stdout
    found = re.search(r"version (\d+)\.(\d+)", said)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    interface = next(i for least, i in INTERFACES if version >= least)
    text = (files("perfdojo") / "templates" / "harness" / "instructions.c").read_text(encoding="utf-8")
    flags = ("-O2", f"-DPLUGIN_VERSION={interface}")
    request = BuildRequest("instructions", "shared", (("instructions.c", text),), flags)
    return build_files(request, find_compiler(), host.cpu, host.places)
