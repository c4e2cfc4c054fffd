"""A number of an element type as its bit pattern, so that -0.0, NaN payloads and rounding are never lost."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from ..dtype import DType
from ..errors import TypeRuleError


@dataclass(frozen=True)
class Scalar:
    """`bits` is the pattern of the value in `dtype`."""

    bits: int
    dtype: DType

    @property
    def value(self) -> float | int | bool:
        """The Python value."""
        return self.dtype.decode(self.bits)

    def __str__(self) -> str:
        return f"{self.digits()} : {self.dtype.name}"

    def digits(self) -> str:
        """The shortest text that reads back to the same bits: a decimal number, or the pattern in hexadecimal."""
        value = self.value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
        if not isfinite(value):
            return f"0x{self.bits:0{self.dtype.bits // 4}X}"
        for precision in range(1, 18):
            text = f"{value:.{precision}g}"
            if self.dtype.encode(float(text)) == self.bits:
                return _mlir_float(text)
        return f"0x{self.bits:0{self.dtype.bits // 4}X}"

    @classmethod
    def from_text(cls, spelled: str, number: float | int, negative: bool, dtype: DType) -> Scalar:
        """The scalar written as `spelled` (already read as `number`), with a minus sign before it if `negative`.

        Raises:
            TypeRuleError: the number is not a value of the type.
        """
        if dtype.is_float and spelled.lower().startswith("0x"):
            if int(number) >> dtype.bits:
                raise TypeRuleError(f"{spelled} has more than {dtype.bits} bits")
            return cls(int(number), dtype)
        value = -number if negative else number
        if dtype.is_float:
            return cls(dtype.encode(float(value)), dtype)
        if dtype.is_bool:
            return cls(int(bool(value)), dtype)
        low = -(1 << (dtype.bits - 1)) if dtype.category == "signed" else 0
        if int(value) != value or not low <= value < low + (1 << dtype.bits):
            raise TypeRuleError(f"{value} is not a value of {dtype.name}")
        return cls(dtype.encode(int(value)), dtype)


def _mlir_float(text: str) -> str:
    """A decimal that the lexer reads as one float token: a digit and a point before any exponent."""
    mantissa, exponent, rest = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + exponent + rest
