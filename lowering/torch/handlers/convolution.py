"""Convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.hlir.convolution import ConvOp, ints_attr
from ....dialects.op import tensor_of
from ..call import Call, Handler
from .convolution_gradients import per_dim, transposed_convolution


def convolution(call: Call) -> SSAValue:
    """aten.convolution; and conv1d, conv2d, conv3d, whose input may lack the batch dim."""
    if "transposed" in call.argument_names:
        if call.flag("transposed"):
            return transposed_convolution(call)
        call.ignore("output_padding")
    x = call.tensor("input")
    weight, bias = call.tensor("weight"), call.optional_tensor("bias")
    spatial = tensor_of(weight).rank - 2
    batched = tensor_of(x).rank == spatial + 2
    x = x if batched else call.b.reshape(x, [1, *tensor_of(x).dims])
    settings = {name: ints_attr(per_dim(call.integers(name), spatial)) for name in ("stride", "padding", "dilation")}
    operands = [x, weight] if bias is None else [x, weight, bias]
    y = call.b.emit(ConvOp, operands, **settings, groups=IntAttr(call.integer("groups")))
    return y if batched else call.b.reshape(y, call.dims)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.convolution.default": convolution,
        "aten.conv1d.default": convolution,
        "aten.conv2d.default": convolution,
        "aten.conv3d.default": convolution,
    }
)
