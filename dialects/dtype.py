"""Element types: their names in IR text, their upstream attribute, their numpy type and their bit patterns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E5M2Type,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

from .errors import TypeRuleError


class Category(StrEnum):
    """What arithmetic an element type has."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


@dataclass(frozen=True)
class DType:
    """One element type. `bits` is the width in memory times 8 except for i1, which is stored as one byte."""

    name: str
    attr: Attribute
    numpy: np.dtype[Any]
    bits: int
    category: Category

    @property
    def is_float(self) -> bool:
        return self.category is Category.FLOAT

    @property
    def is_integer(self) -> bool:
        return self.category in (Category.SIGNED, Category.UNSIGNED)

    @property
    def is_bool(self) -> bool:
        return self.category is Category.BOOL

    @property
    def bytes(self) -> int:
        """Bytes an element takes in memory."""
        return self.numpy.itemsize

    @property
    def eps(self) -> float:
        """The distance from 1 to the next larger value of a float type; 0 for the others."""
        if not self.is_float:
            return 0.0
        return float(ml_dtypes.finfo(self.numpy).eps)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

    @property
    def extremes(self) -> tuple[float | int, float | int]:
        """The smallest and the largest value: infinities where a float type has them, its largest numbers where not."""
        if not self.is_float:
            info = np.iinfo(self.numpy)
            return int(info.min), int(info.max)
        if np.isinf(float(self.scalar(self.encode(float("inf"))))):
            return -float("inf"), float("inf")
        largest = float(ml_dtypes.finfo(self.numpy).max)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        return -largest, largest

    @property
    def compute(self) -> DType:
        """The type a scalar function of this one is computed in: f32 for narrower floats, itself otherwise."""
        return F32 if self.is_float and self.bits < 32 else self

    def encode(self, value: float | int | bool) -> int:
        """The bit pattern of `value` rounded (floats) or wrapped (integers) to this type."""
        if self.is_bool:
            return int(bool(value))
        if not self.is_float:
            return int(value) & ((1 << self.bits) - 1)
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.array([value], np.float64).astype(self.numpy)
        return int.from_bytes(array.tobytes(), "little")

    def decode(self, bits: int) -> float | int | bool:
        """The Python value of a bit pattern."""
        if self.is_bool:
            return bool(bits)
        return self.scalar(bits).item()

    def scalar(self, bits: int) -> np.ndarray:
        """A 0-d array of this type with the given bit pattern."""
        return np.frombuffer(bits.to_bytes(self.bytes, "little"), self.numpy)[0:1].reshape(())

    def __str__(self) -> str:
        return self.name


def _dtype(name: str, attr: Attribute, numpy: Any, bits: int, category: Category) -> DType:
    return DType(name, attr, np.dtype(numpy), bits, category)


u8 = IntegerType(8, Signedness.UNSIGNED)
u16 = IntegerType(16, Signedness.UNSIGNED)

I1 = _dtype("i1", i1, np.bool_, 1, Category.BOOL)
I8 = _dtype("i8", i8, np.int8, 8, Category.SIGNED)
U8 = _dtype("u8", u8, np.uint8, 8, Category.UNSIGNED)
I16 = _dtype("i16", i16, np.int16, 16, Category.SIGNED)
U16 = _dtype("u16", u16, np.uint16, 16, Category.UNSIGNED)
I32 = _dtype("i32", i32, np.int32, 32, Category.SIGNED)
I64 = _dtype("i64", i64, np.int64, 64, Category.SIGNED)
F16 = _dtype("f16", f16, np.float16, 16, Category.FLOAT)
BF16 = _dtype("bf16", bf16, ml_dtypes.bfloat16, 16, Category.FLOAT)
F32 = _dtype("f32", f32, np.float32, 32, Category.FLOAT)
F64 = _dtype("f64", f64, np.float64, 64, Category.FLOAT)
F8E4M3FN = _dtype("f8E4M3FN", Float8E4M3FNType(), ml_dtypes.float8_e4m3fn, 8, Category.FLOAT)
F8E5M2 = _dtype("f8E5M2", Float8E5M2Type(), ml_dtypes.float8_e5m2, 8, Category.FLOAT)

DTYPES: tuple[DType, ...] = (I1, I8, U8, I16, U16, I32, I64, F16, BF16, F32, F64, F8E4M3FN, F8E5M2)
FLOATS: tuple[DType, ...] = tuple(d for d in DTYPES if d.is_float)
INTEGERS: tuple[DType, ...] = tuple(d for d in DTYPES if d.is_integer)

_BY_NAME = {d.name: d for d in DTYPES}
_BY_ATTR = {d.attr: d for d in DTYPES}
_BY_NUMPY = {d.numpy: d for d in DTYPES}


def dtype_named(name: str) -> DType:
    """The element type with this name.

    Raises:
        TypeRuleError: no such type.
    """
    if name not in _BY_NAME:
        raise TypeRuleError(f"unknown element type {name!r}", hint="use one of " + " ".join(_BY_NAME))
    return _BY_NAME[name]


def dtype_of(attr: Attribute) -> DType:
    """The element type of an upstream type attribute.

    Raises:
        TypeRuleError: the attribute is not an element type of Albumen.
    """
    if attr not in _BY_ATTR:
        raise TypeRuleError(f"{attr} is not an element type", hint="use one of " + " ".join(_BY_NAME))
    return _BY_ATTR[attr]


def dtype_of_numpy(dtype: np.dtype[Any]) -> DType:
    """The element type of a numpy dtype.

    Raises:
        TypeRuleError: the numpy dtype has no counterpart.
    """
    if dtype not in _BY_NUMPY:
        raise TypeRuleError(f"numpy dtype {dtype} has no element type", hint="convert to one of " + " ".join(_BY_NAME))
    return _BY_NUMPY[dtype]
