"""The soundness run on the emulated GPU: `python -m tests.fuzz.cuda --pairs 2000`.

A pair is a program and a legal sequence of moves on it for CUDA: the code of the last program runs in the
emulation, its threads in several orders, with the bits of the interpreter at `strict`, within the bounds at
other levels; a race, a deadlock, an access out of bounds or whatever else the emulation finds is wrong.
Sequence n is that of seed `first + n`.
"""

from __future__ import annotations

from functools import partial

from perfdojo.toolchains.gcc import accepts_cxx
from perfdojo.toolchains.host import find_host
from perfdojo.toolchains.results import MissingTool
from tests.fuzz.cuda.run import run_seeds
from tests.fuzz.tally import options, told

CHUNK = 50
"""Seeds whose kernels are built together."""


def main() -> int:
    """Run, print the table and what is wrong; 1 when something is, 3 without the compiler."""
    o = options("tests.fuzz.cuda", __doc__)
    try:
        host = find_host()
        if not accepts_cxx(host.compiler):
            raise MissingTool("g++", "g++")
    except MissingTool as missing:
        print(missing)
        return 3
    return told(partial(run_seeds, host=host), o, CHUNK)


if __name__ == "__main__":
    raise SystemExit(main())
