"""Ops that copy, convert or only rename a value; values have no memory at this level."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch
from xdsl.ir import SSAValue

from ..call import Call, Handler


def same(call: Call) -> SSAValue:
    """The value itself."""
    return call.tensor("self")


def clone(call: Call) -> SSAValue:
    """The value itself, whatever memory format is asked for."""
    call.ignore("memory_format")
    return call.tensor("self")


def convert(call: Call) -> SSAValue:
    """The value in another dtype."""
    ignore_placement(call)
    call.ignore("dtype", "non_blocking", "memory_format", "copy")
    return call.b.cast(call.tensor("self"), call.dtype)


def ignore_placement(call: Call) -> None:
    """Consumes the arguments that say where and how memory lies; refuses a sparse layout.

    A program runs on one device; inputs are brought there, and outputs to where torch says they lie.
    """
    call.ignore("device")
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
