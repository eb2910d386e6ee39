"""One measurement at a time: a lock among the processes of one user."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perfdojo.toolchains.places import private_temporary

WAIT_S = 120.0


@contextmanager
def alone(path: Path | None = None, wait_s: float = WAIT_S) -> Iterator[str]:
    """Hold the lock; yield "", or a note when it could not be had within `wait_s`.

    The system releases it when the process ends, however it ends.
    """
    try:
        file = (path or private_temporary() / "measuring").open("w")
    except OSError as error:
        yield f"measured without a lock ({error.strerror}): other measurements may have run"
        return
    with file:
        deadline = time.monotonic() + wait_s
        note = ""
        while not _take(file.fileno()):
            if time.monotonic() > deadline:
                note = f"other measurements were running (waited {wait_s:g} s)"
                break
            time.sleep(0.01)
        yield note


def _take(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
