"""What a planted fault is: one place of the compiler's source that becomes something wrong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """`old`, which occurs once in the source of `module`, becomes `new`."""

    title: str
    module: str
    old: str
    new: str

    def planted(self, source: str) -> str:
        """Return the faulty source.

        Raises:
            ValueError: the source has changed and the fault has to be written anew.
        """
        return _changed(source, self.old, self.new, f"{self.title}, {self.module}")


@dataclass(frozen=True, slots=True)
class FileFault:
    """`old`, which occurs once in `file`, a path from the root of the sources, becomes `new`."""

    title: str
    file: str
    old: str
    new: str

    def planted(self, text: str) -> str:
        """Return the faulty text of the file.

        Raises:
            ValueError: the file has changed and the fault has to be written anew.
        """
        return _changed(text, self.old, self.new, f"{self.title}, {self.file}")


def _changed(text: str, old: str, new: str, what: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"{what}: {old!r} occurs {text.count(old)} times")
    return text.replace(old, new)


def fault(module: str, title: str, old: str, new: str) -> Fault:
    """Return the fault of a module of the compiler, which its title names first."""
    return Fault(f"{module.rsplit('.', 1)[-1]}: {title}", f"perfdojo.compiler.{module}", old, new)
