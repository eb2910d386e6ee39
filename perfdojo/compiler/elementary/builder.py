"""Writes routines: names steps, shares constants."""

from __future__ import annotations

from collections.abc import Sequence

from perfdojo.compiler.elementary.routine import PRIMITIVES, Routine, Step


class Builder:
    """Collects the steps of one routine. Values are names of steps; numbers stand for constants."""

    def __init__(self, name: str, formula: str, *params: str) -> None:
        self._name, self._formula, self._params = name, formula, params
        self._constants: dict[tuple[str, str], Step] = {}
        self._steps: list[Step] = []
        self._types = dict.fromkeys(params, "f32")

    def __call__(self, name: str, op: str, *operands: str | float | int, comment: str = "") -> str:
        """Append `name = op(operands)`; the operand after those of an immediate primitive is its number."""
        primitive = PRIMITIVES[op]
        assert name not in self._types, name
        count = len(primitive.operands)
        assert len(operands) == count + primitive.immediate, (op, operands)
        args = tuple(
            self._operand(v, want) for v, want in zip(operands[:count], primitive.operands, strict=True)
        )
        value = operands[count] if primitive.immediate else 0
        assert not isinstance(value, str), value
        self._steps.append(Step(name, op, args, value, comment))
        self._types[name] = primitive.result
        return name

    def horner(self, name: str, coefficients: Sequence[float], x: str, comment: str = "") -> str:
        """Append the polynomial with `coefficients`, lowest power first, at `x`: `name`1, `name`2, ..."""
        value: str | float = coefficients[-1]
        for k, c in enumerate(reversed(coefficients[:-1]), 1):
            value = self(f"{name}{k}", "fma", value, x, c, comment=comment if k == 1 else "")
        assert isinstance(value, str), value
        return value

    def even_odd(self, name: str, coefficients: Sequence[float], x: str, square: str) -> str:
        """Append the same as even part(square) + x * odd part(square): as many steps, half the latency."""
        even = self.horner(f"{name}_even", coefficients[0::2], square)
        odd = self.horner(f"{name}_odd", coefficients[1::2], square)
        return self(name, "fma", odd, x, even)

    def routine(self) -> Routine:
        """Return the finished routine, its constants first."""
        return Routine(self._name, self._formula, self._params, (*self._constants.values(), *self._steps))

    def _operand(self, value: str | float | int, want: str) -> str:
        if isinstance(value, str):
            assert self._types[value] == want, (value, want)
            return value
        # The text of a number tells -0.0 from 0.0.
        key = (want, repr(value))
        if key not in self._constants:
            name = f"c{len(self._constants)}"
            self._constants[key] = Step(name, f"const_{want}", (), value)
            self._types[name] = want
        return self._constants[key].name
