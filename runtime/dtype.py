"""Element types of the runtime and their size in bytes."""

from __future__ import annotations

from types import MappingProxyType

from .errors import ArtifactError

ITEM_BYTES = MappingProxyType(
    {
        "i1": 1,
        "i8": 1,
        "u8": 1,
        "i16": 2,
        "u16": 2,
        "i32": 4,
        "u32": 4,
        "i64": 8,
        "u64": 8,
        "f16": 2,
        "bf16": 2,
        "f32": 4,
        "f64": 8,
        "f8E4M3FN": 1,
        "f8E5M2": 1,
        "f8E8M0": 1,
    }
)
"""dtype -> bytes of one element; i1 is stored as one byte that holds 0 or 1."""


def item_bytes(dtype: str) -> int:
    """Bytes of one element; raises ArtifactError for a name that is no dtype."""
    size = ITEM_BYTES.get(dtype)
    if size is None:
        raise ArtifactError(f"unknown element type {dtype!r}", hint=f"known types: {', '.join(ITEM_BYTES)}")
    return size
