"""A table of instructions while it is being filled: records that are written from other records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perfdojo.backends.vectors.instruction import Instruction
from perfdojo.backends.vectors.isa import Isa, Register
from perfdojo.compiler.dtypes import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, U8, DType

Key = tuple[str, str, int]

FLOATS = (F32, F64)
ROUNDED = (F16, BF16)
INTEGERS = (I8, U8, I16, I32, I64)
NUMBERS = (*FLOATS, *ROUNDED, *INTEGERS)

C_SCALARS = {
    "f64": "double",
    "f32": "float",
    "f16": "float",
    "bf16": "float",
    "i64": "int64_t",
    "i32": "int32_t",
}
C_SCALARS |= {"i16": "int16_t", "i8": "int8_t", "u8": "uint8_t", "bool": "bool"}


class Table:
    """The records of one instruction set, by operation, element type and lanes."""

    def __init__(self, isa: Isa) -> None:
        self.isa = isa
        self.records: dict[Key, Instruction] = {}

    def shapes(self, dtypes: Sequence[DType], pairs: bool = False) -> Iterator[tuple[DType, int, Register]]:
        """Yield every type and number of lanes that fits into a register.

        With `pairs` also two lanes of 64 bits, which only reductions use.
        """
        for dtype in dtypes:
            known = self.isa.lanes
            own = (2, *known) if pairs and dtype.bits == 64 and 2 not in known else known
            for lanes in own:
                if self.isa.fits(dtype, lanes):
                    yield dtype, lanes, self.isa.register(dtype, lanes)

    def vector(self, dtype: DType, lanes: int) -> str:
        """Return the C type of a vector."""
        if dtype != BOOL:
            return self.isa.register(dtype, lanes).c_type
        return self.isa.mask_type(lanes)

    def has(self, op: str, dtype: DType, lanes: int) -> bool:
        """Tell whether the operation exists."""
        return (op, dtype.name, lanes) in self.records

    def use(self, op: str, dtype: DType, lanes: int, *operands: str) -> str:
        """Return the C expression that applies a record to C expressions."""
        return self.records[op, dtype.name, lanes].apply(*operands)

    def add(
        self,
        op: str,
        dtype: DType,
        lanes: int,
        format: str,
        takes: str,
        gives: str | None = None,
        setup: Sequence[str] = (),
        why: str = "",
        needs: str = "",
    ) -> None:
        """Add a record.

        Args:
            format, setup: with the parts of names that `Register.fill` knows.
            takes: the operands, separated by commas: v a vector of `dtype`, m a mask, r a comparison of this
                type as the machine leaves it, s a scalar, p memory, c const memory, n a count; or a C type.
            gives: C type of the result, or one of these letters; a vector of `dtype` without it.
            needs: see `Instruction`.
        """
        register = self.isa.register(dtype, lanes)
        parameters = tuple(self._c_type(t, dtype, lanes) for t in takes.split(",")) if takes else ()
        result = self._c_type(gives or "v", dtype, lanes)
        lines = tuple(register.fill(line) for line in setup)
        record = Instruction(
            op, dtype.name, lanes, register.fill(format), parameters, result, lines, why, needs
        )
        assert (op, dtype.name, lanes) not in self.records, record
        self.records[op, dtype.name, lanes] = record

    def _c_type(self, text: str, dtype: DType, lanes: int) -> str:
        match text:
            case "v":
                return self.vector(dtype, lanes)
            case "m":
                return self.vector(BOOL, lanes)
            case "r":
                return self.isa.comparison_type(dtype, lanes)
            case "s":
                return C_SCALARS[dtype.name]
            case "p":
                return f"{_stored(dtype)} *"
            case "c":
                return f"const {_stored(dtype)} *"
            case "n":
                return "int64_t"
        return text


def _stored(dtype: DType) -> str:
    """C type of one element in memory."""
    return {"f16": "uint16_t", "bf16": "uint16_t", "bool": "uint8_t"}.get(dtype.name, C_SCALARS[dtype.name])
