"""`perfdojoc`: the command line, the only place that joins all parts; heavy imports wait until needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper

from perfdojo import __version__

FINE, WRONG, MISSING = 0, 1, 3
"""Exit status; argparse ends with 2 on wrong usage."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `perfdojoc` and return its exit status.

    0 fine; 1 the user's program is wrong or its check failed; 2 usage; 3 a tool is missing.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names and marks that the terminal cannot show
    status = WRONG
    try:
        status = _run(given)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("perfdojoc: interrupted", file=sys.stderr)
        return 130
    except OSError as error:  # all else that fails has become a message: this is standard output itself
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):
            print(f"perfdojoc: cannot write to standard output: {error.strerror or error}", file=sys.stderr)
        return status or WRONG
    return status


def _run(given: list[str]) -> int:
    if given == ["--version"]:
        print(f"perfdojoc {__version__}")
        return FINE
    from perfdojo.cli.run import run

    return run(given)
