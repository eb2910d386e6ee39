"""The loop of `perfdojoc play`: reads lines, finds their commands, survives what goes wrong in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import TextIOWrapper

from perfdojo.cli.play.game import Game, natural
from perfdojo.compiler.diagnostics import PerfDojoError, nearest
from perfdojo.compiler.transforms import aliases, transform_names

PROMPT = "> "
LONG = 40
"""Letters of a word that is no command, as far as it is repeated."""


def loop(game: Game) -> int:
    """Run commands until `quit` or the end of the input."""
    game.welcome()
    for line in _lines(game):
        if not game.console.is_terminal:
            game.console.print(f"\n{PROMPT}{line}", style="bold", markup=False)
        try:
            if not _run(game, line):
                return 0
        except PerfDojoError as error:
            game.say(str(error), "red")
        except KeyboardInterrupt:
            game.say("interrupted", "yellow")
        except BrokenPipeError:
            raise
        except OSError as error:
            game.say(f"error: {error.filename or 'the system'}: {error.strerror or error}", "red")
        except Exception as error:  # a bug must not cost the player the schedule
            game.say(f"that went wrong: {type(error).__name__}: {error}", "red")
    game.leave()
    return 0


def _lines(game: Game) -> Iterator[str]:
    """Yield the lines of the input, stripped; Ctrl-C at the prompt drops the line, Tab completes a word."""
    if sys.stdin is None:
        return
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # bytes that are no text: no command, but a file name
    if sys.stdin.isatty():
        import readline  # gives `input` a history and an editable line

        readline.set_completer(game.completed)
        readline.set_completer_delims(" \t\n")
        readline.parse_and_bind("tab: complete")
    while True:
        try:
            line = input(PROMPT) if sys.stdin.isatty() else sys.stdin.readline()
        except EOFError:
            return
        except KeyboardInterrupt:
            print()
            continue
        if not line and not sys.stdin.isatty():
            return
        if line.strip():
            yield line.strip()


def _run(game: Game, line: str) -> bool:
    """Run one line; False ends the game."""
    word, *rest = line.split()
    if word in ("quit", "exit", "q"):
        game.leave()
        return False
    number = natural(word)
    if number is not None and not rest:
        game.pick(number)
        return True
    command = game.commands().get(word)
    if command is not None:
        command(rest)
        return True
    if word in transform_names() or word in aliases():
        game.move(line)
        return True
    known = (*game.commands(), "quit", *transform_names(), *aliases())
    shown = word if len(word) <= LONG else word[:LONG] + "..."
    raise PerfDojoError(f"no command and no move '{shown}'", hint=nearest(shown, known) or "help lists them")
