"""The soundness run on the simulated cluster: `python -m tests.fuzz.snitch --pairs 2000`.

A pair is a program and a legal sequence of moves on it for Snitch: the code of the last program runs on the
simulator, with the bits of the interpreter at `strict`, within the bounds at other levels; whatever the
simulator calls undefined is wrong. Sequence n is that of seed `first + n`.
"""

from __future__ import annotations

from functools import partial

from perfdojo.toolchains.results import MissingTool
from perfdojo.toolchains.snitch.gcc import find_tools
from tests.fuzz.snitch.run import run_seeds
from tests.fuzz.tally import options, told

CHUNK = 50
"""Seeds whose kernels are built together."""


def main() -> int:
    """Run, print the table and what is wrong; 1 when something is, 3 without the compiler."""
    o = options("tests.fuzz.snitch", __doc__)
    try:
        tools = find_tools()
    except MissingTool as missing:
        print(missing)
        return 3
    return told(partial(run_seeds, tools=tools), o, CHUNK)


if __name__ == "__main__":
    raise SystemExit(main())
