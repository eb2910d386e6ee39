"""`perfdojoc play`: a person makes a schedule move by move, in the terminal or from a pipe."""

from __future__ import annotations

from perfdojo.cli.options import Options
from perfdojo.compiler.diagnostics import PerfDojoError


def play(o: Options) -> int:
    """Play until the input ends, and return the exit status.

    Raises:
        PerfDojoError: the kernel is wrong, or the schedule to begin with.
    """
    from perfdojo.cli.play.game import Game
    from perfdojo.cli.play.loop import loop
    from perfdojo.session import Session

    if o.kernel == "-":
        raise PerfDojoError("play reads commands from standard input", hint="give the kernel as a file")
    session = Session(o.kernel, o.target, o.fp, o.sizes, o.schedule or None)
    return loop(Game(session, o))
