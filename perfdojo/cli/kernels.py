"""Where a kernel comes from: a file, the library, or standard input; what is written, and where."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.emitted import MARKER
from perfdojo.compiler.ir import Program


def library() -> Iterator[tuple[str, Traversable]]:
    """Yield name and file of every library kernel, by name."""
    folder = resources.files("perfdojo").joinpath("kernels")
    found = {f.name.removesuffix(".ir"): f for f in folder.iterdir() if f.name.endswith(".ir")}
    yield from sorted(found.items())


def formula(file: Traversable) -> str:
    """Return the first comment line of a kernel file, its formula and source."""
    first = file.read_text("utf-8").split("\n", 1)[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def read_kernel(name: str) -> Program:
    """Return the program that `name` stands for.

    Raises:
        PerfDojoError: no such file or library kernel, unreadable, or not a kernel.
    """
    from perfdojo.compiler.text.parse import MAX_BYTES, read

    if name == "-":
        if sys.stdin is None:
            raise PerfDojoError("standard input is closed", hint="give a file, or pipe a kernel in")
        return read("<stdin>", sys.stdin.buffer.read(MAX_BYTES + 1))
    path = Path(name)
    if os.path.isdir(name):
        raise PerfDojoError(f"{name} is a folder, not a kernel file")
    if os.path.exists(name) or path.suffix or os.sep in name:
        try:
            with path.open("rb") as file:
                return read(
                    name, file.read(max(path.stat().st_size, MAX_BYTES) + 1 if path.is_file() else MAX_BYTES)
                )
        except FileNotFoundError:
            raise PerfDojoError(f"no file {name}", hint=_near(path.stem)) from None
        except OSError as error:
            raise PerfDojoError(f"cannot read {name}: {error.strerror}") from None
    known = dict(library())
    if name not in known:
        raise PerfDojoError(f"no file and no library kernel called '{name}'", hint=_near(name))
    return read(f"{name}.ir", known[name].read_bytes())


def _near(name: str) -> str:
    return nearest(name, [n for n, _ in library()]) or "perfdojoc --list-kernels lists the library"


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
