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
        if source.count(self.old) != 1:
            raise ValueError(
                f"{self.title}: {self.old!r} occurs {source.count(self.old)} times in {self.module}"
            )
        return source.replace(self.old, self.new)


def fault(module: str, title: str, old: str, new: str) -> Fault:
    """Return the fault of a module of the compiler, which its title names first."""
    return Fault(f"{module.rsplit('.', 1)[-1]}: {title}", f"perfdojo.compiler.{module}", old, new)
