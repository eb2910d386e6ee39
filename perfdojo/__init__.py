"""perfdojo: one ML kernel in a few lines of loops, out as verified and timed source code."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it, without the time that importing typing takes
if TYPE_CHECKING:
    from pathlib import Path

    from perfdojo.compiler.diagnostics import PerfDojoError as PerfDojoError
    from perfdojo.dojo import PerfDojo as PerfDojo
    from perfdojo.loading import Kernel
    from perfdojo.session import Session as Session

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name == "PerfDojoError":
        from perfdojo.compiler.diagnostics import PerfDojoError as PerfDojoError

        return PerfDojoError
    if name == "PerfDojo":
        from perfdojo.dojo import PerfDojo as PerfDojo

        return PerfDojo
    if name == "Session":
        from perfdojo.session import Session as Session

        return Session
    raise AttributeError(f"module 'perfdojo' has no attribute '{name}'")


def load(path: str | Path) -> Kernel:
    """Return the kernel in a library made by `perfdojoc --shared`, to be called on NumPy arrays.

    Raises:
        PerfDojoError: the file is not such a library, or one for another machine.
    """
    from perfdojo.loading import load_kernel

    return load_kernel(path)
