"""Reductions into computed positions: scatter_reduce and index_reduce, with or without what stands there already."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType

import numpy as np
from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import I1, I64, DType
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.elementwise import DivOp, EqualOp, FloorDivOp
from ....dialects.hlir.indexing import ScatterOp
from ....dialects.op import tensor_of
from ..call import Call, Handler
from .indexing import as_vector

MODES: Mapping[str, str] = MappingProxyType(
    {"sum": "add", "prod": "mul", "mean": "add", "amax": "maximum", "amin": "minimum"}
)
"""What torch calls a reduction -> the mode of a scatter; a mean is a sum that is divided afterwards."""
_IDENTITIES: Mapping[str, float] = MappingProxyType({"add": 0, "mul": 1, "maximum": -inf, "minimum": inf})


def scatter_slices(
    b: GraphBuilder, x: SSAValue, indices: SSAValue, updates: SSAValue, axis: int, mode: str
) -> SSAValue:
    """x with the slices at `indices` combined with `updates`."""
    return b.emit(ScatterOp, [x, indices, updates], axis=IntAttr(axis), mode=StringAttr(mode))


def reduce_into(
    b: GraphBuilder, x: SSAValue, indices: SSAValue, updates: SSAValue, axis: int, reduction: str, include_self: bool
) -> SSAValue:
    """x with the slices at `indices` reduced together with `updates`.

    Without `include_self` the updates of a place replace what is there; a place without any keeps it. Means of integers
    are rounded down.
    """
    mode, type_ = MODES[reduction], tensor_of(x)
    base = x
    if not include_self:
        untouched = b.constant(False, type_.with_dtype(I1))
        written = b.constant(True, tensor_of(updates).with_dtype(I1))
        touched = scatter_slices(b, untouched, indices, written, axis, "maximum")
        base = b.emit(SelectOp, [touched, b.constant(identity_of(mode, type_.dtype), type_), x])
    total = scatter_slices(b, base, indices, updates, axis, mode)
    if reduction != "mean":
        return total
    one = b.constant(1, type_)
    start = one if include_self else b.constant(0, type_)
    count = scatter_slices(b, start, indices, b.constant(1, tensor_of(updates)), axis, "add")
    count = b.emit(SelectOp, [b.emit(EqualOp, [count, b.constant(0, type_)]), one, count])
    return b.emit(DivOp if type_.dtype.is_float else FloorDivOp, [total, count])


def identity_of(mode: str, dtype: DType) -> float | int | bool:
    """The number that changes nothing: the extreme integer where a float has an infinity."""
    value = _IDENTITIES[mode]
    if dtype.is_bool:
        return value > 0
    if dtype.is_float or abs(value) != inf:
        return value
    limits = np.iinfo(dtype.numpy)
    return int(limits.min if value < 0 else limits.max)


def index_reduce(call: Call) -> SSAValue:
    """Whole slices of source reduced into self along one dim, at a vector of indices."""
    b = call.b
    x, indices = as_vector(b, call.tensor("self")), as_vector(b, call.tensor("index"))
    type_ = tensor_of(x)
    axis = call.axis("dim", type_.rank)
    dims = (*type_.dims[:axis], tensor_of(indices).dims[0], *type_.dims[axis + 1 :])
    source = b.reshape(b.cast(call.tensor("source"), type_.dtype), dims)
    reduction = {"prod": "prod", "mean": "mean", "amax": "amax", "amin": "amin"}[call.value("reduce")]
    include_self = call.flag("include_self")
    places = b.cast(indices, I64)
    return b.reshape(reduce_into(b, x, places, source, axis, reduction, include_self), call.dims)


HANDLERS: Mapping[str, Handler] = MappingProxyType({"aten.index_reduce.default": index_reduce})
