"""Where the toolchain keeps files: a cache of builds, data about the machine, locks."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True, slots=True)
class Places:
    """Folders that exist and can be written to.

    Attributes:
        cache: builds; may be deleted at any time.
        data: figures measured on this machine.
        notes: a sentence for each folder that is not the user's own one, with the reason.
    """

    cache: Path
    data: Path
    notes: tuple[str, ...] = ()


def try_writing(folder: Path) -> str:
    """Make `folder` and write a file in it; return "" or the reason why it cannot be used."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def find_places(
    cache: Path | None = None,
    data: Path | None = None,
    try_write: Callable[[Path], str] = try_writing,
) -> Places:
    """Return folders for the cache and the data: those given, else the user's own.

    One that cannot be written to is replaced by a folder below the system's temporary one, and a note
    says so. OSError when there is no place to write to at all.
    """
    cache = cache or Path(platformdirs.user_cache_dir("perfdojo", appauthor=False))
    data = data or Path(platformdirs.user_data_dir("perfdojo", appauthor=False))
    notes = []
    chosen = []
    for what, folder in (("cache", cache), ("data", data)):
        reason = try_write(folder)
        if not reason:
            chosen.append(folder)
            continue
        other = private_temporary() / what
        other.mkdir(exist_ok=True)
        chosen.append(other)
        notes.append(f"the {what} folder {folder} cannot be written to ({reason}); using {other}")
    return Places(chosen[0], chosen[1], tuple(notes))


def private_temporary() -> Path:
    """Return a folder for this user alone below the system's temporary one.

    Libraries are loaded from it, so a folder of that name that somebody else can write to is not used;
    a fresh one is made then.
    """
    folder = Path(tempfile.gettempdir()) / f"perfdojo-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    state = folder.lstat()
    if stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o022:
        return folder
    return Path(tempfile.mkdtemp(prefix="perfdojo-"))
