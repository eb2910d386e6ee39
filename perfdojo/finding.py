"""What names stand for: kernels, targets, and the schedules that go with them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.ir import Program

if TYPE_CHECKING:
    from perfdojo.compiler.schedule import Schedule
    from perfdojo.compiler.transforms.base import Setting

SCHEDULED = frozenset(("c", "avx2", "avx512", "cuda", "neon"))
"""Targets for which the schedule beside a kernel is taken without being asked for."""


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
        except ValueError:
            raise PerfDojoError(f"no file is called {name!r}", hint=_near(path.stem)) from None
    known = dict(library())
    if name not in known:
        raise PerfDojoError(f"no file and no library kernel called '{name}'", hint=_near(name))
    return read(f"{name}.ir", known[name].read_bytes())


def _near(name: str) -> str:
    return nearest(name, [n for n, _ in library()]) or "perfdojoc --list-kernels lists the library"


def choose_target(name: str) -> str:
    """Return the target that `name` means, with its extensions behind a colon.

    `host` is the best one that this CPU runs, with the extensions that it has.

    Raises:
        PerfDojoError: no such target.
    """
    from perfdojo.backends import extensions_of, get_target, host_targets

    if name != "host":
        return get_target(name).spelled
    from perfdojo.toolchains.cpu import read_cpu

    cpu = read_cpu()
    able = [t for n in host_targets() if not cpu.missing((t := get_target(n)).features)]
    best = max(able, key=lambda t: t.vector_bits).name
    isa = ",".join(word for word, feature in extensions_of(best).items() if cpu.has(feature))
    return get_target(f"{best}:{isa}").spelled


def read_schedule(path: str) -> Schedule:
    """Return the schedule in a file.

    Raises:
        PerfDojoError: no such file, unreadable, or not a schedule.
    """
    from perfdojo.compiler.schedule.text import MAX_BYTES, read_text

    if os.path.isdir(path):
        raise PerfDojoError(f"{path} is a folder, not a schedule", hint="give a file, or --no-schedule")
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        beside = Path(path).parent
        near = [f.name for f in beside.glob("*.sched") if f.exists()] if beside.is_dir() else []
        hint = nearest(Path(path).name, near) or "perfdojoc play makes a schedule and saves it"
        raise PerfDojoError(f"no file {path}", hint=hint) from None
    except OSError as error:
        raise PerfDojoError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise PerfDojoError(f"no file is called {path!r}") from None
    return read_text(data, path)


def default_schedule(kernel: str, target: str) -> Schedule | None:
    """Return the schedule that goes with a kernel, as it was named, on a target; None when there is none.

    A library kernel has `<name>.<target>.sched` beside it in the library, a file `k.ir` a file
    `k.<target>.sched`.

    Raises:
        PerfDojoError: that file is no schedule.
    """
    from perfdojo.compiler.schedule import parse_schedule

    if kernel == "-" or target not in SCHEDULED:
        return None
    path = Path(kernel)
    if os.path.exists(kernel) or path.suffix or os.sep in kernel:
        beside = path.with_suffix(f".{target}.sched")
        if not os.path.lexists(beside):
            return None
        if beside.exists() and not beside.is_file():
            raise PerfDojoError(f"{beside} is no file", hint="--no-schedule plans without it")
        return read_schedule(str(beside))
    file = resources.files("perfdojo").joinpath("kernels", f"{kernel}.{target}.sched")
    return parse_schedule(file.read_text("utf-8"), file.name) if file.is_file() else None


def products_of(bound: Program, setting: Setting) -> str:
    """Return the extensions of a target that have an instruction for products of a kernel, "" for none.

    What was written for the target without them does not know that instruction.
    """
    from perfdojo.compiler.lowering.dots import has_dots

    target = setting.target
    if not target.isa or not has_dots(bound, target, setting.fp):
        return ""
    from perfdojo.backends import get_target

    return "" if has_dots(bound, get_target(target.name), setting.fp) else target.isa


def fitting_schedule(kernel: str, bound: Program, setting: Setting) -> Schedule | None:
    """Return the schedule that a compile takes by itself: None too where a step of it is not legal here.

    Raises:
        PerfDojoError: that file is no schedule, or one for another kernel.
    """
    from perfdojo.compiler.schedule import LevelError, StepError, replay

    found = default_schedule(kernel, setting.target.name)
    if found is None or products_of(bound, setting):
        return None
    try:
        replay(bound, found, setting)
    except (StepError, LevelError):
        return None
    return found
