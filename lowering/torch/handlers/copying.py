"""Ops that copy, convert or only rename a value; values have no memory at this level."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import torch
from xdsl.ir import SSAValue

from ..call import Call, Handler
from ..unsupported import UnsupportedNodeError


def same(call: Call) -> SSAValue:
    """The value itself."""
    return call.tensor("self")


def clone(call: Call) -> SSAValue:
    """The value itself, whatever memory format is asked for."""
    call.ignore("memory_format")
    return call.tensor("self")


def convert(call: Call) -> SSAValue:
    """The value in another dtype, on the same device."""
    check_device(call, call.tensor_device("self"))
    call.ignore("dtype", "non_blocking", "memory_format", "copy")
    return call.b.cast(call.tensor("self"), call.dtype)


def check_device(call: Call, here: torch.device) -> None:
    """Consumes the arguments that say where and how memory lies; refuses another device or a sparse layout."""
    target: Any = call.value("device") if "device" in call.argument_names else None
    if target is not None and torch.device(target).type != here.type:
        raise UnsupportedNodeError(f"moves a tensor from {here} to {target}")
    if "layout" in call.argument_names:
        call.require("layout", None, torch.strided)
    call.ignore("pin_memory")


def type_as(call: Call) -> SSAValue:
    """The value in the dtype of other."""
    call.ignore("other")
    return call.b.cast(call.tensor("self"), call.dtype)


def overwrite(call: Call) -> SSAValue:
    """src, converted and broadcast to what it overwrites."""
    call.ignore("self", "non_blocking")
    return call.b.broadcast(call.b.cast(call.tensor("src"), call.dtype), call.dims)


def convert_element_type(call: Call) -> SSAValue:
    """prims.convert_element_type: the value in another dtype."""
    call.ignore("dtype")
    return call.b.cast(call.tensor("a"), call.dtype)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.alias.default": same,
        "aten.alias_copy.default": same,
        "aten.detach.default": same,
        "aten.detach_.default": same,
        "aten.lift_fresh.default": same,
        "aten.lift_fresh_copy.default": same,
        "aten.contiguous.default": clone,
        "aten.clone.default": clone,
        "aten._to_copy.default": convert,
        "aten.to.dtype": convert,
        "aten.to.dtype_layout": convert,
        "aten.to.device": convert,
        "aten.type_as.default": type_as,
        "aten.copy.default": overwrite,
        "aten.copy_.default": overwrite,
        "prims.convert_element_type.default": convert_element_type,
    }
)
