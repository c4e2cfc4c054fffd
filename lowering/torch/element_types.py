"""torch dtypes and Albumen's element types."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch

from ...dialects.dtype import BF16, F8E4M3FN, F8E5M2, F16, F32, F64, I1, I8, I16, I32, I64, U8, U16, DType
from ...dialects.errors import TypeRuleError

DTYPE_OF_TORCH: Mapping[torch.dtype, DType] = MappingProxyType(
    {
        torch.bool: I1,
        torch.int8: I8,
        torch.uint8: U8,
        torch.int16: I16,
        torch.uint16: U16,
        torch.int32: I32,
        torch.int64: I64,
        torch.float16: F16,
        torch.bfloat16: BF16,
        torch.float32: F32,
        torch.float64: F64,
        torch.float8_e4m3fn: F8E4M3FN,
        torch.float8_e5m2: F8E5M2,
    }
)
TORCH_OF_NAME: Mapping[str, torch.dtype] = MappingProxyType({dtype.name: t for t, dtype in DTYPE_OF_TORCH.items()})

SCALAR_NAMES: Mapping[DType, str] = MappingProxyType(
    {
        I1: "Bool",
        I8: "Char",
        U8: "Byte",
        I16: "Short",
        U16: "UInt16",
        I32: "Int",
        I64: "Long",
        F16: "Half",
        BF16: "BFloat16",
        F32: "Float",
        F64: "Double",
        F8E4M3FN: "Float8_e4m3fn",
        F8E5M2: "Float8_e5m2",
    }
)
"""What torch's messages call an element type."""


def element_type(dtype: torch.dtype) -> DType:
    """The element type of a torch dtype.

    Raises:
        TypeRuleError: Albumen has no such element type.
    """
    if dtype not in DTYPE_OF_TORCH:
        known = " ".join(str(t).removeprefix("torch.") for t in DTYPE_OF_TORCH)
        raise TypeRuleError(f"tensors of {dtype} are not supported", hint=f"use one of {known}")
    return DTYPE_OF_TORCH[dtype]
