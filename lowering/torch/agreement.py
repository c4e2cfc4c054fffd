"""Operators whose tensors must have one element type: eager raises where they differ, torch's trace does not."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch
from torch.fx import Node

from .fx import given_arguments, overload_name, traced
from .unsupported import EagerRaisesError

_NORM = ("input", "weight", "bias")

ONE_DTYPE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "aten.addmm.default": ("self", "mat1", "mat2"),
        "aten.linear.default": ("input", "weight", "bias"),
        "aten.index_add.default": ("self", "source"),
        "aten.index_copy.default": ("self", "source"),
        "aten.index_put.default": ("self", "values"),
        "aten._index_put_impl.default": ("self", "values"),
        "aten.linalg_cross.default": ("self", "other"),
    }
)
"""Overload -> the arguments that must agree."""

MIXED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "aten.layer_norm.default": _NORM,
        "aten.native_layer_norm.default": _NORM,
        "aten.group_norm.default": _NORM,
        "aten.native_group_norm.default": _NORM,
    }
)
"""The same, but beside a first one in bf16 or f16 the others may be in f32."""


def check_agreement(node: Node) -> None:
    """Raises EagerRaisesError for a call on which eager raises because its tensors differ in element type."""
    name = overload_name(node)
    names = ONE_DTYPE.get(name) or MIXED.get(name)
    if names is None:
        return
    given = given_arguments(node)
    dtypes = {key: traced(given[key]).dtype for key in names if isinstance(given.get(key), Node)}
    first, *others = dtypes.values()
    narrow = first in (torch.bfloat16, torch.float16)
    agree = set(others) <= {first} or (name in MIXED and narrow and set(others) == {torch.float32})
    if not agree:
        found = ", ".join(f"{key} is {dtype}" for key, dtype in dtypes.items())
        raise EagerRaisesError(RuntimeError(f"{name}: expected tensors of the same dtype, but {found}"))
