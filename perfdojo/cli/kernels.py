"""What is written, and where: files appear whole, and foreign ones stay."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.emitted import MARKER


def write_files(folder: Path, files: tuple[tuple[str, str], ...], force: bool) -> list[Path]:
    """Write all files into `folder`, or none: a file that perfdojo did not write stays unless `force`.

    Raises:
        PerfDojoError: a foreign file is in the way, or the folder cannot be written to.
    """
    paths = [folder / name for name, _ in files]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths:
            if not force and path.exists() and not is_ours(path):
                raise PerfDojoError(
                    f"{path} exists and was not written by perfdojo",
                    hint="move it away, or overwrite it with --force",
                )
        for path, (_, text) in zip(paths, files, strict=True):
            _replace(path, text)
    except OSError as error:
        at = error.filename2 or error.filename or folder
        raise PerfDojoError(f"cannot write to {at}: {error.strerror}") from None
    return paths


def is_ours(path: Path) -> bool:
    """Tell whether the head of a file carries our marker; a folder or a pipe is nobody's."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARKER.encode() in file.read(4096)


def _replace(path: Path, text: str) -> None:
    """Write a file in one step, so that nobody ever sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
