"""Convolutions and pooling over windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import I64
from ....dialects.hlir.argmax import ArgmaxOp
from ....dialects.hlir.convolution import ConvOp, MaxPoolOp, ints_attr, padded
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import DivOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.normalization import dim_scalar
from ....dialects.hlir.reduction import MaxOp, SumOp
from ....dialects.hlir.types import MapAttr, ShapeAttr, axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, index
from ..call import Call, Handler
from ..unsupported import UnsupportedNodeError
from .convolution_gradients import per_dim, transposed_convolution
from .indexing import gather_elements


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
    if not call.dtype.is_float:
        raise UnsupportedNodeError("is not supported on integers")
    settings = {name: ints_attr(per_dim(call.integers(name), spatial)) for name in ("stride", "padding", "dilation")}
    operands = [x, weight] if bias is None else [x, weight, bias]
    y = call.b.emit(ConvOp, operands, **settings, groups=IntAttr(call.integer("groups")))
    return y if batched else call.b.reshape(y, call.dims)


class Windows:
    """The windows of a pooling call: x padded and read as [n, c, windows..., taps...]."""

    def __init__(self, call: Call, x: SSAValue, dilated: bool):
        self.spatial = spatial = tensor_of(x).rank - 2
        self.kernel = per_dim(call.integers("kernel_size"), spatial)
        self.stride = per_dim(call.integers("stride") or self.kernel, spatial)
        self.padding = per_dim(call.integers("padding"), spatial)
        self.dilation = per_dim(call.integers("dilation"), spatial) if dilated else [1] * spatial
        call.require("ceil_mode", False)

    def read(self, call: Call, x: SSAValue, filler: float, dims: Sequence[Expr]) -> SSAValue:
        """x with `filler` around it, read at `dims` + taps."""
        rank = 2 + 2 * self.spatial
        taps = 2 + self.spatial
        places = (index(2 + i) * self.stride[i] + index(taps + i) * self.dilation[i] for i in range(self.spatial))
        index_map = IndexMap(rank, (index(0), index(1), *places))
        return call.b.view(padded(call.b, x, self.padding, filler), index_map, [*dims, *self.kernel])

    @property
    def axes(self) -> list[int]:
        """The dims of the taps."""
        return list(range(2 + self.spatial, 2 + 2 * self.spatial))


def _batched(call: Call, x: SSAValue) -> SSAValue:
    spatial = int(call.name.split("pool")[1][0])  # the digit in the overload's name: max_pool2d
    type_ = tensor_of(x)
    return x if type_.rank == spatial + 2 else call.b.reshape(x, [1, *type_.dims])


def max_pool(call: Call) -> SSAValue | list[SSAValue | None]:
    """Max pooling; with_indices also gives the place of each maximum in the flattened spatial dims of the input."""
    b = call.b
    x = _batched(call, call.tensor("self"))
    windows = Windows(call, x, dilated=True)
    names = ("kernel", "stride", "padding", "dilation")
    settings = (windows.kernel, windows.stride, windows.padding, windows.dilation)
    y = b.emit(MaxPoolOp, [x], **{name: ints_attr(value) for name, value in zip(names, settings, strict=True)})
    if "with_indices" not in call.name:
        return b.reshape(y, call.dims)
    values, places = call.fake(0), call.fake(1)
    found = _places(call, windows, x, tensor_of(y).dims) if call.is_read(1) else None
    return [b.reshape(y, values.dims), None if found is None else b.reshape(found, places.dims)]


def _places(call: Call, windows: Windows, x: SSAValue, dims: tuple[Expr, ...]) -> SSAValue:
    b = call.b
    type_ = tensor_of(x)
    taps = windows.read(call, x, MaxOp.identity(type_.dtype), dims)
    flat = b.reshape(taps, [*dims, prod(windows.kernel)])
    best = b.emit(ArgmaxOp, [flat], axis=IntAttr(len(dims)))
    # The place in the input of each tap of each window, in the same order as the taps.
    place: Expr = constant(0)
    for i in range(windows.spatial):
        coordinate = index(2 + i) * windows.stride[i] + index(2 + windows.spatial + i) * windows.dilation[i]
        place = place * type_.dims[2 + i] + coordinate - windows.padding[i]
    shape = [*dims, *windows.kernel]
    table = b.emit(
        IotaOp, [], value=MapAttr(IndexMap(len(shape), (place,))), shape=ShapeAttr.get(shape), dtype=I64.attr
    )
    table = b.reshape(table, [*dims, prod(windows.kernel)])
    return b.reshape(gather_elements(b, table, b.reshape(best, [*dims, 1]), len(dims)), dims)


def avg_pool(call: Call) -> SSAValue:
    """Average pooling; with count_include_pad=False or a divisor_override the divisor is what they say."""
    b = call.b
    x = _batched(call, b.cast(call.tensor("self"), call.dtype.compute))
    windows = Windows(call, x, dilated=False)
    type_ = tensor_of(x)
    dims = tuple(call.dims) if len(call.dims) == type_.rank else (constant(1), *call.dims)
    total = b.emit(SumOp, [windows.read(call, x, 0.0, dims)], axes=axes_attr(windows.axes))
    divisor = call.value("divisor_override") if "divisor_override" in call.argument_names else None
    if divisor is None and not call.flag("count_include_pad") and any(windows.padding):
        ones = b.constant(1, type_)
        count = b.emit(SumOp, [windows.read(call, ones, 0.0, dims)], axes=axes_attr(windows.axes))
    else:
        count = b.constant(prod(windows.kernel) if divisor is None else divisor, tensor_of(total))
    return b.reshape(b.cast(b.emit(DivOp, [total, count]), call.dtype), call.dims)


def adaptive_avg_pool(call: Call) -> SSAValue:
    """The mean of each cell, for cells of one size: output 1, or a size that divides the input's."""
    b = call.b
    x = b.cast(call.tensor("self"), call.dtype.compute)
    output = call.integers("output_size")
    type_ = tensor_of(x)
    lead = type_.rank - len(output)
    split: list[Expr | int] = list(type_.dims[:lead])
    cells: list[Expr] = []
    for extent, wanted in zip(type_.dims[lead:], output, strict=True):
        known = extent.as_int()
        if wanted != 1 and (known is None or known % wanted):
            raise UnsupportedNodeError(f"pools {extent} elements to {wanted}, which are cells of different sizes")
        cells.append(extent if known is None else constant(known // wanted))
        split += [wanted, cells[-1]]
    axes = [lead + 2 * i + 1 for i in range(len(output))]
    total = b.emit(SumOp, [b.reshape(x, split)], axes=axes_attr(axes))
    count = dim_scalar(b, reduce(lambda p, q: p * q, cells, constant(1)), tensor_of(total))
    return b.reshape(b.cast(b.emit(DivOp, [total, count]), call.dtype), call.dims)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.convolution.default": convolution,
        "aten.conv1d.default": convolution,
        "aten.conv2d.default": convolution,
        "aten.conv3d.default": convolution,
        "aten.max_pool1d.default": max_pool,
        "aten.max_pool2d.default": max_pool,
        "aten.max_pool3d.default": max_pool,
        "aten.max_pool2d_with_indices.default": max_pool,
        "aten.avg_pool1d.default": avg_pool,
        "aten.avg_pool2d.default": avg_pool,
        "aten.adaptive_avg_pool1d.default": adaptive_avg_pool,
        "aten.adaptive_avg_pool2d.default": adaptive_avg_pool,
        "aten._adaptive_avg_pool2d.default": adaptive_avg_pool,
    }
)
