"""`perfdojo.Session`: a schedule is made for a kernel, in Python, move by move."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from pathlib import Path
from typing import SupportsIndex

from perfdojo.backends import get_target
from perfdojo.compiler.bind import bind
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.lowering.target import FP_LEVELS, FpLevel, Target
from perfdojo.compiler.recipes import Recipe, run_recipe
from perfdojo.compiler.schedule import History, Schedule, parse_schedule
from perfdojo.compiler.schedule.validation import Validation, by_schedule, validate_made, with_sizes
from perfdojo.compiler.text.parse import parse
from perfdojo.compiler.text.render import render
from perfdojo.compiler.transforms.base import Setting
from perfdojo.compiler.verify import verify
from perfdojo.finding import choose_target, read_kernel, read_schedule


class Session(History):
    """A kernel, a target, and the moves made so far.

    Args:
        kernel: the text of a kernel, the path of one, the name of one of the library, or a program.
        target: name of a target, `host` (the best one that this machine runs), or a description.
        fp: floating-point level: strict, contract, reassoc or fast.
        sizes: sizes that differ from those in the kernel.
        schedule: moves to begin with: a schedule, its text, or its path.
    Raises:
        PerfDojoError: the kernel is wrong, or a step of the schedule is not legal.

    A move is one line of text, or a record out of `candidates()`:

    >>> import perfdojo
    >>> s = perfdojo.Session('''
    ... kernel add
    ... in x: f32[100]
    ... in y: f32[100]
    ... out z: f32[100]
    ... i:100 z[{0}] = x[{0}] + y[{0}]
    ... ''', target="avx2")
    >>> _ = s.apply("tile_scope i 8 remainder peel")
    >>> _ = s.apply("vectorize i_i")
    >>> print(s.body)
    i_o:12 i_i:8@vector z: z[{0} * 8 + {1}] = x[{0} * 8 + {1}] + y[{0} * 8 + {1}]
    i_t:4 z_t: z[{0} + 96] = x[{0} + 96] + y[{0} + 96]

    What is not legal says why, and changes nothing:

    >>> s.why_not("tile_scope i_o 5").reason
    '5 does not divide the extent 12 of scope i_o'
    >>> "parallelize i_o" in map(str, s.candidates())
    True

    Steps are undone, and edited in the middle; those behind are replayed:

    >>> _ = s.undo()
    >>> len(s.states)
    1
    >>> _ = s.redo()
    >>> _ = s.edit(1, "tile_scope i 4")
    >>> [str(state.step) for state in s.states]
    ['tile_scope i 4', 'vectorize i_i']
    >>> try:
    ...     s.remove(1)
    ... except perfdojo.PerfDojoError as error:
    ...     print(error)
    <session>:2:11: error: step 1, vectorize i_i: there is no scope i_i
    vectorize i_i
              ^^^
    hint: 'help vectorize' in perfdojoc play tells when it is legal

    That the moves kept the meaning is decided once more, without the rules that allowed them:

    >>> print(s.validate())
    identical at reassoc, 2 steps

    `text()` is the schedule, for `perfdojoc --schedule`; `save(path)` writes it:

    >>> print(s.text(), end="")
    schedule add on avx2 at strict
    tile_scope i 4
    vectorize i_i
    end

    A recipe makes many moves, as one change; it is named, or a function of one's own (docs/recipes.md):

    >>> s = perfdojo.Session("matmul", target="avx2", sizes={"M": 60, "N": 64, "K": 64})
    >>> _ = s.run("tile_and_vectorize", mr=6, nr=16)
    >>> len(s.states) > 10
    True
    >>> _ = s.undo()
    >>> len(s.states)
    0
    """

    __slots__ = ("kernel",)

    kernel: Program

    def __init__(
        self,
        kernel: str | Path | Program,
        target: str | Target = "host",
        fp: FpLevel = "reassoc",
        sizes: Mapping[str, SupportsIndex] | None = None,
        schedule: Schedule | str | Path | None = None,
    ) -> None:
        if not isinstance(fp, str) or fp not in FP_LEVELS:
            raise PerfDojoError(f"no floating-point level '{fp}'", hint=f"levels are {' '.join(FP_LEVELS)}")
        described = target if isinstance(target, Target) else get_target(choose_target(str(target)))
        read = read_program(kernel)
        given = _integers(sizes)
        original = bind(read, given)
        verify(original)
        self.kernel = with_sizes(read, given)
        History.__init__(self, original, Setting(described, fp))
        if schedule is not None:
            self.replay(_schedule(schedule))
            self._done.clear()

    def run(self, recipe: Recipe | str, **parameters: object) -> Program:
        """Make the moves of a recipe, by name or a function, as one change and return the new program.

        Raises:
            PerfDojoError: there is no such recipe or parameter, or a move is not legal; nothing has changed.
        """
        return run_recipe(self, recipe, **parameters)

    @property
    def body(self) -> str:
        """The loops of the program as text, with every name."""
        return render(self.program, named=True).split("\n\n", 1)[1].rstrip()

    def validate(self) -> Validation:
        """Compare each state with the kernel on symbolic values, at smaller sizes where these are too large.

        Raises:
            PerfDojoError: at no sizes that are small enough the schedule is legal.
        """
        make = by_schedule(self.schedule, self.setting)
        return validate_made(self.kernel, make, self.setting.fp, len(self.states))

    def save(self, path: str | Path) -> None:
        """Write the schedule to a file; `perfdojoc KERNEL --schedule FILE` takes it.

        Raises:
            PerfDojoError: it cannot be written.
        """
        text = self.text()
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise PerfDojoError(f"cannot write {path}: {error.strerror}") from None
        except ValueError:
            raise PerfDojoError(f"no file can be called {str(path)!r}") from None

    def __repr__(self) -> str:
        return (
            f"Session({self.original.name} on {self.setting.target.name} at {self.setting.fp}, "
            f"{len(self.states)} steps)"
        )


def read_program(kernel: str | Path | Program) -> Program:
    """Return a program that is given as such, as text, by its path or by its name in the library."""
    if isinstance(kernel, Program):
        return kernel
    if isinstance(kernel, str) and "\n" in kernel:
        return parse(kernel, "<kernel>")
    return read_kernel(str(kernel))


def _integers(sizes: Mapping[str, SupportsIndex] | None) -> dict[str, int]:
    """Return the sizes as Python's integers; NumPy's are taken too."""
    if not isinstance(sizes or {}, Mapping):
        raise PerfDojoError(f"sizes are given by name, not as {sizes!r}", hint='write sizes={"N": 1000}')
    found = {}
    for name, value in (sizes or {}).items():
        try:
            found[str(name)] = index(value)
        except TypeError:
            hint = 'write sizes={"N": 1000}'
            raise PerfDojoError(f"size {name} is {value!r}, not an integer", hint=hint) from None
    return found


def _schedule(schedule: Schedule | str | Path) -> Schedule:
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, str) and "\n" in schedule:
        return parse_schedule(schedule)
    return read_schedule(str(schedule))
