"""What is known at a point of straight code: elements that variables equal, and values that have a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from perfdojo.compiler.lowering.arena import Arena
from perfdojo.compiler.lowering.linear import Linear
from perfdojo.compiler.lowering.lir import Const, Load, Store, Value, Var
from perfdojo.compiler.lowering.walk import Facts, Key, key_of, place_of


class Element(NamedTuple):
    """An element, or `span` neighbouring ones, and the variable or constant that equals them.

    Attributes:
        where: the offset.
        place: what says which elements these are: the offset, and the mask where there is one.
    """

    where: Linear
    value: Value
    span: int
    place: tuple[Value, ...]


@dataclass(slots=True)
class Known:
    """Knowledge that stores and assignments take away.

    Attributes:
        memory: variable or constant that equals an element (or vector of elements), by buffer and key.
        names: immutable variable that holds a value, by the id of the value.
        copies: what a variable that was only another name stands for; valid in the whole function.
    """

    arena: Arena
    memory: dict[str, dict[Key, Element]] = field(default_factory=dict)
    names: dict[int, tuple[Value, Var]] = field(default_factory=dict)
    copies: dict[str, Value] = field(default_factory=dict)
    _depends: set[str] = field(default_factory=set)

    def copy(self) -> Known:
        """Return knowledge that can be taken away from without changing this."""
        return Known(
            self.arena,
            {b: dict(m) for b, m in self.memory.items()},
            dict(self.names),
            self.copies,
            set(self._depends),
        )

    def name(self, value: Value, var: Var) -> None:
        """Learn that the immutable `var` holds `value`."""
        if not isinstance(value, (Const, Var)):
            self.names[id(value)] = value, var
            self._depends |= self.arena.variables(value)
        if isinstance(value, Load) and value.lane_offset is None:
            self.element(value, var, value.type.lanes)

    def element(self, access: Load | Store, value: Value, lanes: int) -> None:
        """Learn that the element that a load or a store names equals `value`."""
        place = place_of(access)
        self._depends |= self.arena.variables(value).union(*map(self.arena.variables, place))
        span = self.arena.span(lanes, access.mask)
        entry = Element(self.arena.linear(access.offset), value, span, place)
        self.memory.setdefault(access.buffer, {})[key_of(access)] = entry

    def find(self, value: Value) -> Value | None:
        """Return the variable or constant that equals `value`."""
        named = self.names.get(id(value))
        if named is not None:
            return named[1]
        if isinstance(value, Load) and value.lane_offset is None:
            entry = self.memory.get(value.buffer, {}).get(key_of(value))
            if entry is not None:
                return entry.value
        return None

    def forget_variables(self, gone: frozenset[str]) -> None:
        """Forget what depends on variables that change."""
        if gone.isdisjoint(self._depends):
            return
        variables = self.arena.variables

        def steady(entry: Element) -> bool:
            return all(variables(v).isdisjoint(gone) for v in (entry.value, *entry.place))

        for buffer, entries in self.memory.items():
            self.memory[buffer] = {k: e for k, e in entries.items() if steady(e)}
        self.names = {
            k: e for k, e in self.names.items() if variables(e[0]).isdisjoint(gone) and e[1].name not in gone
        }

    def forget_buffers(self, gone: frozenset[str]) -> None:
        """Forget what depends on the content of buffers."""
        if not gone:
            return
        read = self.arena.buffers
        for buffer, entries in self.memory.items():
            if buffer in gone:
                self.memory[buffer] = {}
            elif entries:
                self.memory[buffer] = {
                    k: e for k, e in entries.items() if all(read(v).isdisjoint(gone) for v in e.place)
                }
        self.names = {k: e for k, e in self.names.items() if read(e[0]).isdisjoint(gone)}

    def forget_span(self, buffer: str, where: Linear, span: int, facts: Facts) -> None:
        """Forget what a store may have changed: elements, and values, not surely apart from its span.

        An element is forgotten too where its own place is read from what changed.
        """

        def steady(value: Value) -> bool:
            return self._untouched(value, buffer, where, span, facts)

        for name, entries in self.memory.items():
            self.memory[name] = {
                k: e
                for k, e in entries.items()
                if (name != buffer or apart(e.where, e.span, where, span)) and all(map(steady, e.place))
            }
        self.names = {k: e for k, e in self.names.items() if steady(e[0])}

    def _untouched(self, value: Value, buffer: str, where: Linear, span: int, facts: Facts) -> bool:
        return buffer not in self.arena.buffers(value) or all(
            load.buffer != buffer
            or (
                load.lane_offset is None
                and apart(
                    self.arena.linear(load.offset), self.arena.span(load.type.lanes, load.mask), where, span
                )
            )
            for load, _ in facts.loads(value)
        )


def apart(a: Linear, a_span: int, b: Linear, b_span: int) -> bool:
    """Tell whether two spans of elements surely have none in common."""
    distance = a.const - b.const
    return a.terms == b.terms and (distance >= b_span or -distance >= a_span)
