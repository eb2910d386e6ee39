"""Lines of assembly as they are written, with the integer registers and labels that are taken so far."""

from __future__ import annotations

from dataclasses import dataclass, field

IMMEDIATE = 2048


@dataclass(frozen=True, slots=True)
class Text:
    """A line: an instruction or a label, and what is said about it."""

    code: str
    comment: str = ""


@dataclass(slots=True)
class Writer:
    """The text of one nest.

    Attributes:
        name: what its labels begin with.
        free: integer registers that hold nothing; t0 is scratch and never among them.
        pointers: register of each pointer of the nest.
        pool: constants in memory: label, and value as hexadecimal digits of 64 bits.
    """

    name: str
    free: list[str]
    pointers: list[str] = field(default_factory=list)
    lines: list[Text] = field(default_factory=list)
    pool: list[tuple[str, str]] = field(default_factory=list)
    _counts: dict[int, str] = field(default_factory=dict)
    _labels: int = 0

    def say(self, code: str, comment: str = "") -> None:
        """Write a line."""
        self.lines.append(Text(code, comment))

    def label(self) -> str:
        """Return a label that is not used yet."""
        self._labels += 1
        return f".L{self.name}_{self._labels}"

    def add(self, to: str, register: str, amount: int) -> None:
        """Add a number to a register; t0 holds one that is too large for the instruction."""
        if amount == 0:
            self.say(f"mv {to}, {register}")
        elif -IMMEDIATE <= amount < IMMEDIATE:
            self.say(f"addi {to}, {register}, {amount}")
        else:
            self.say(f"li t0, {amount}")
            self.say(f"add {to}, {register}, t0")

    def passes(self, value: int) -> str:
        """Return a register that holds the number of additional passes of an FPU loop."""
        if value == 0:
            return "x0"
        if value not in self._counts:
            register = self._counts[value] = self.free.pop()
            self.say(f"li {register}, {value}")
        return self._counts[value]
