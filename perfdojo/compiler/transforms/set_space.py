"""Set space: the memory space of a temporary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfdojo.compiler.ir import SPACES, Program
from perfdojo.compiler.transforms._buffers import not_own, temporaries, with_buffer
from perfdojo.compiler.transforms.base import Setting, Transform, Violation, no_buffer
from perfdojo.compiler.transforms.spelling import arg


@dataclass(frozen=True, slots=True)
class SetSpace(Transform):
    """Say in which memory a temporary lies.

        set_space x stack
        tmp x: f32[8]   ->   tmp x: f32[8] space(stack)

    0. The buffer exists.
    1. It is a temporary.
    2. The target has the memory space.
    3. The buffer lies elsewhere so far, or the backend was to choose.
    """

    aliases = ("set_memory",)

    buffer: str = arg("buffer")
    space: str = arg("word", choices=tuple(sorted(SPACES)))

    @classmethod
    def candidates(cls, program: Program, setting: Setting) -> Iterator[SetSpace]:
        offered = sorted(setting.target.spaces)
        for buffer in temporaries(program):
            yield from (cls(buffer.name, space) for space in offered if space != buffer.space)

    def violations(self, program: Program, setting: Setting) -> Iterator[Violation]:
        yield from no_buffer(program, self.buffer)
        buffer = program.buffer(self.buffer)
        yield from not_own(buffer)
        if self.space not in setting.target.spaces:
            offered = f"it has {' '.join(sorted(setting.target.spaces))}"
            yield Violation(2, f"target {setting.target.name} has no memory space {self.space}", offered)
        if buffer.space == self.space:
            yield Violation(3, f"{self.buffer} lies in {self.space} already")

    def rewrite(self, program: Program) -> Program:
        return with_buffer(program, replace(program.buffer(self.buffer), space=self.space))


TRANSFORM = SetSpace
