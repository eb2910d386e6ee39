"""`perfdojoc`: the command line, the only place that joins all parts; heavy imports wait until needed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from perfdojo import __version__

FINE, WRONG, USAGE, MISSING = 0, 1, 2, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run `perfdojoc` and return its exit status.

    0 fine; 1 the user's program is wrong or its check failed; 2 usage; 3 a tool is missing.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    if given == ["--version"]:
        print(f"perfdojoc {__version__}")
        return FINE
    from perfdojo.cli.run import run

    return run(given)
