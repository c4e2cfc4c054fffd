"""numpy's types of the runtime's element types, and back; narrow floats need ml_dtypes, which is optional here."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from .dtype import ITEM_BYTES, item_bytes

_NUMPY = MappingProxyType({"i1": "bool", "f16": "float16", "f32": "float32", "f64": "float64"})
_ML_DTYPES = MappingProxyType(
    {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E8M0": "float8_e8m0fnu"}
)


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """numpy's type; for narrow floats ml_dtypes' type when that is installed, else the unsigned integer of that
    size.
    """
    size = item_bytes(dtype)
    if dtype in _NUMPY:
        return np.dtype(_NUMPY[dtype])
    if dtype in _ML_DTYPES:
        try:
            import ml_dtypes
        except ImportError:
            return np.dtype(f"uint{8 * size}")
        return np.dtype(getattr(ml_dtypes, _ML_DTYPES[dtype]))
    return np.dtype(f"{'int' if dtype[0] == 'i' else 'uint'}{8 * size}")


@cache
def dtype_name(dtype: np.dtype[Any]) -> str | None:
    """The runtime's name of a numpy type, or None for a type that programs do not have (and for swapped byte order)."""
    if not dtype.isnative:
        return None
    if dtype.kind in "iu":
        return f"{dtype.kind}{8 * dtype.itemsize}"
    names = {**_NUMPY, **_ML_DTYPES}
    return next((name for name, spelled in names.items() if spelled == dtype.name), None)


def accepts(expected: str, found: str | None) -> bool:
    """Whether an array of type `found` holds elements of type `expected`.

    Raw unsigned integers stand for the narrow floats that numpy itself has no type for.
    """
    return found == expected or (expected in _ML_DTYPES and found == f"u{8 * ITEM_BYTES[expected]}")
