"""The commands of `perfdojoc play`, on a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import getdoc
from pathlib import Path

from rich.console import Console
from rich.text import Text

from perfdojo.cli.options import Options
from perfdojo.cli.play.show import changed, grouped, matching, program
from perfdojo.cli.play.trial import Trial
from perfdojo.compiler.diagnostics import PerfDojoError
from perfdojo.compiler.ir import Program
from perfdojo.compiler.recipes import get_recipe, parameters, recipe_names
from perfdojo.compiler.schedule.difference import effect
from perfdojo.compiler.transforms import get_transform, transform_names
from perfdojo.compiler.transforms.base import Transform
from perfdojo.compiler.transforms.spelling import usage
from perfdojo.finding import read_schedule
from perfdojo.session import Session

Command = Callable[[list[str]], None]
DIGITS = 18
"""Digits of a number; what is longer is no number of anything."""


class Game:
    """What the player sees of a session. Each command takes its words; help prints their docstrings.

    A docstring is the arguments of the command, a colon, and what it does.
    """

    def __init__(self, session: Session, o: Options) -> None:
        self.session, self.options = session, o
        self.console = Console(highlight=False, soft_wrap=True, markup=False)
        self.trial = Trial(session, o)
        self.listed: Sequence[Transform] = ()
        self.saved = self.text
        self.files: set[Path] = {Path(o.schedule).resolve()} if o.schedule else set()

    @property
    def text(self) -> str:
        """The steps so far."""
        return "\n".join(str(s.step) for s in self.session.states)

    def say(self, text: str | Text, style: str = "") -> None:
        """Print a line or some."""
        self.console.print(text, style=style)

    def commands(self) -> dict[str, Command]:
        """Return the commands by name, in the order of help."""
        return {
            "moves": self.moves,
            "why": self.why,
            "show": self.show,
            "recipe": self.recipe,
            "undo": self.undo,
            "redo": self.redo,
            "steps": self.steps,
            "edit": self.edit,
            "insert": self.insert,
            "drop": self.drop,
            "time": self.time,
            "check": self.check,
            "validate": self.validate,
            "save": self.save,
            "load": self.load,
            "help": self.help,
        }

    def completed(self, begin: str, number: int) -> str | None:
        """Return the `number`-th word that begins so: commands, moves, and the names in the program."""
        now = self.session.program
        buffers = (b.name for b in now.buffers)
        words = {*self.commands(), "quit", *transform_names(), *now.scopes, *now.statements, *buffers}
        found = sorted(w for w in words if w.startswith(begin))
        return found[number] + " " if number < len(found) else None

    # ------------------------------------------------------------ begin and end

    def welcome(self) -> None:
        """Print the kernel and how to begin."""
        s = self.session
        sizes = (f"{size.name}={v}" for size, v in self.trial.sizes())
        head = " · ".join((s.original.name, s.setting.target.name, s.setting.fp, " ".join(sizes)))
        self.say(head.rstrip(" ·"), "bold")
        self.show([])
        count = len(s.candidates())
        self.say(f"\n{count} moves: 'moves' lists them, a number or text makes one, 'help' tells the rest.")

    def leave(self) -> None:
        """Say what would be lost."""
        if self.text and self.text != self.saved:
            self.say("the schedule is not saved; its moves were")
            self.say(self.session.text().rstrip())

    # ------------------------------------------------------------ moves

    def moves(self, words: list[str]) -> None:
        """[WORD ...]: List the legal moves, all or those with each word: a move, scope, buffer."""
        self.listed = self.session.candidates()
        found = matching(self.listed, words)
        if not found:
            which = f" with {' '.join(words)}" if words else ""
            self.say(f"no legal move{which}; 'why MOVE' tells what is in the way of one")
            return
        for line in grouped(found, self.session.program, self.session.setting, words):
            self.say(line)

    def pick(self, number: int) -> None:
        """Make the move with a number of the last list, which may be older than the last move."""
        found = self.listed or self.session.candidates()
        if not 1 <= number <= len(found):
            raise PerfDojoError(f"there is no move {number}", hint=f"moves are 1 to {len(found)}")
        self.move(found[number - 1])

    def move(self, move: Transform | str) -> None:
        """Make a move and show what it changed."""
        found = self.session.why_not(move)
        if found is not None:
            self.say(f"not legal, condition {found.condition}: {found.reason}", "red")
            if found.hint:
                self.say(f"hint: {found.hint}")
            return
        before = self.session.program
        self._changed(before, self.session.apply(move), str(self.session.states[-1].step))

    def recipe(self, words: list[str]) -> None:
        """[NAME [PARAMETER=VALUE ...]]: Make the moves of a recipe; alone, list the recipes."""
        if not words:
            for name in recipe_names():
                shown = " ".join(f"{p}=.." for p in parameters(get_recipe(name)))
                self.say(f"{name} {shown}".rstrip())
            return
        name, *given = words
        before, count = self.session.program, len(self.session.states)
        after = self.session.run(name, **dict(map(_parameter, given)))
        self._changed(before, after, f"{name}, {len(self.session.states) - count} moves")

    def why(self, words: list[str]) -> None:
        """MOVE: Tell why a move is not legal."""
        if not words:
            raise PerfDojoError("which move?", hint="why tile_scope i 4")
        found = self.session.why_not(" ".join(words))
        if found is None:
            self.say("it is legal", "green")
            return
        self.say(f"condition {found.condition}: {found.reason}")
        if found.hint:
            self.say(f"hint: {found.hint}")

    def _changed(self, before: Program, after: Program, what: str) -> None:
        told = effect(before, after)
        self.say(f"{what}: {told}" if told else what, "bold")
        for line in changed(before, after):
            self.say(line)

    # ------------------------------------------------------------ program and steps

    def show(self, words: list[str]) -> None:
        """: Show the program with the last change highlighted."""
        states = self.session.states
        if len(states) == 0:
            for line in program(self.session.program):
                self.say(line)
            return
        before = states[-2].program if len(states) > 1 else self.session.start
        for line in changed(before, self.session.program, whole=True):
            self.say(line)

    def undo(self, words: list[str]) -> None:
        """: Take the last change back."""
        before = self.session.program
        self._changed(before, self.session.undo(), "undone")

    def redo(self, words: list[str]) -> None:
        """: Make the change again that was undone."""
        before = self.session.program
        self._changed(before, self.session.redo(), "redone")

    def steps(self, words: list[str]) -> None:
        """: List the moves so far."""
        if not self.session.states:
            self.say("no move yet")
        for number, state in enumerate(self.session.states, 1):
            left_out = f"   left out: {state.skipped}" if state.skipped else ""
            self.say(f"{number:>4}  {state.step}{left_out}")

    def edit(self, words: list[str]) -> None:
        """N MOVE: Replace step N by a move, and replay those behind it."""
        number, move = _numbered(words, "edit 2 tile_scope i 8")
        before = self.session.program
        self._changed(before, self.session.edit(number, move), f"step {number} is {move}")

    def insert(self, words: list[str]) -> None:
        """N MOVE: Put a move before step N, and replay those behind it."""
        number, move = _numbered(words, "insert 2 tile_scope i 8")
        before = self.session.program
        self._changed(before, self.session.insert(number, move), f"step {number} is {move}")

    def drop(self, words: list[str]) -> None:
        """N: Take step N away, and replay those behind it."""
        number = natural(words[0]) if len(words) == 1 else None
        if number is None:
            raise PerfDojoError("which step?", hint="drop 2; 'steps' lists them")
        before = self.session.program
        self._changed(before, self.session.remove(number), f"without step {number}")

    # ------------------------------------------------------------ run

    def time(self, words: list[str]) -> None:
        """: Build and measure the program, beside the first and the previous time."""
        self.trial.time(self.say)

    def check(self, words: list[str]) -> None:
        """: Run the program and compare with the reference."""
        self.trial.check(self.say)

    def validate(self, words: list[str]) -> None:
        """: Decide on symbolic values that the moves kept the meaning of the kernel."""
        found = self.session.validate()
        self.say(str(found), "green" if found.equal else "red")
        if found.note:
            self.say(found.note)

    # ------------------------------------------------------------ files and help

    def save(self, words: list[str]) -> None:
        """[FILE] [force]: Write the schedule."""
        force = words[-1:] == ["force"]
        names = words[:-1] if force else words
        s = self.session
        path = Path(names[0] if names else f"{s.original.name}.{s.setting.target.name}.sched")
        if path.exists() and path.resolve() not in self.files and not force:
            raise PerfDojoError(f"{path} exists", hint=f"save {path} force overwrites it")
        s.save(path)
        self.files.add(path.resolve())
        self.saved = self.text
        how = f"perfdojoc {self.options.kernel} --target {s.setting.target.name} --schedule {path}"
        self.say(f"saved {path}: {how}", "green")

    def load(self, words: list[str]) -> None:
        """FILE: Replace the moves so far by those of a schedule."""
        if len(words) != 1:
            raise PerfDojoError("which file?", hint="load matmul.avx2.sched")
        before = self.session.program
        self._changed(before, self.session.replay(read_schedule(words[0])), f"loaded {words[0]}")
        self.files.add(Path(words[0]).resolve())
        self.saved = self.text

    def help(self, words: list[str]) -> None:
        """[MOVE]: Tell what there is; of a move how it is written, what it does, and when it is legal."""
        if words:
            cls = get_transform(words[0])
            self.say(f"{usage(cls)}\n", "bold")
            self.say(getdoc(cls) or "")
            return
        rows = [("N", "Make move N of the last list."), ("MOVE", "Make a move, for instance tile_scope i 8.")]
        for name, command in self.commands().items():
            arguments, text = (command.__doc__ or "").split(": ", 1)
            rows.append((f"{name} {arguments}", text))
        rows.append(("quit", "End; so does the end of the input."))
        for row in rows:
            self.say(f"   {row[0]:<20}  {row[1]}")


def _numbered(words: list[str], example: str) -> tuple[int, str]:
    number = natural(words[0]) if len(words) > 1 else None
    if number is None:
        raise PerfDojoError("a number of a step and a move belong here", hint=example)
    return number, " ".join(words[1:])


def natural(word: str) -> int | None:
    """Return the number that a word is; None for other words and for digits without end."""
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= DIGITS else None


def _parameter(text: str) -> tuple[str, object]:
    """Return what `mc=96`, `at=i`, `sizes=8,16` say of a parameter of a recipe."""
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise PerfDojoError(f"'{text}' is no parameter", hint="write recipe matmul mr=6 nr=16")
    items = [v if (n := natural(v)) is None else n for v in value.split(",") if v]
    return name, tuple(items) if "," in value else items[0]
