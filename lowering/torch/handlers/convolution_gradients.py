"""Transposed convolution, and the gradients of convolution and pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import SSAValue

from ....dialects.hlir.arranging import PadOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.convolution import padded
from ....dialects.hlir.elementwise import AddOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.indexing import ScatterOp
from ....dialects.hlir.linear import contract
from ....dialects.hlir.reduction import SumOp
from ....dialects.hlir.types import ScalarAttr, ShapeAttr, axes_attr, tensor_type
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, floordiv, index
from ..call import Call, Handler
from ..unsupported import UnsupportedNodeError
from .indexing import element_positions, flattened


def per_dim(values: Sequence[int], spatial: int) -> list[int]:
    """One value for each spatial dimension; a single one stands for all."""
    return list(values) * spatial if len(values) == 1 else list(values)


class Geometry:
    """Stride, padding, dilation and groups of a convolution call."""

    def __init__(self, call: Call, spatial: int):
        self.spatial = spatial
        self.stride, self.padding, self.dilation = (
            per_dim(call.integers(name), spatial) for name in ("stride", "padding", "dilation")
        )
        self.groups = call.integer("groups")


def _spread(b: GraphBuilder, x: SSAValue, axis: int, stride: int) -> SSAValue:
    """x with stride - 1 zeros between neighbours along the axis."""
    dims = list(tensor_of(x).dims)
    if stride == 1:
        return x
    split = b.reshape(x, [*dims[: axis + 1], 1, *dims[axis + 1 :]])
    none = [0] * (len(dims) + 1)
    high = [stride - 1 if i == axis + 1 else 0 for i in range(len(dims) + 1)]
    zero = ScalarAttr.get(0, tensor_of(x).dtype)
    wide = b.emit(PadOp, [split], low=ShapeAttr.get(none), high=ShapeAttr.get(high), value=zero)
    merged = [*dims[:axis], dims[axis] * stride, *dims[axis + 1 :]]
    return _cropped(b, b.reshape(wide, merged), axis, 0, dims[axis] * stride - (stride - 1))


def _cropped(b: GraphBuilder, x: SSAValue, axis: int, start: int, length: Expr) -> SSAValue:
    dims = tensor_of(x).dims
    exprs = [index(i) + start if i == axis else index(i) for i in range(len(dims))]
    return b.view(x, IndexMap(len(dims), tuple(exprs)), [length if i == axis else d for i, d in enumerate(dims)])


def _around(b: GraphBuilder, x: SSAValue, axis: int, low: int, length: Expr) -> SSAValue:
    """x with `low` zeros before it (or -low elements cropped), cut or filled to `length`."""
    if low < 0:
        return _around(b, _cropped(b, x, axis, -low, tensor_of(x).dims[axis] + low), axis, 0, length)
    dims = tensor_of(x).dims
    missing = length - dims[axis] - low
    known = missing.as_int()
    if known is not None and known < 0:
        return _around(b, _cropped(b, x, axis, 0, dims[axis] + known), axis, low, length)
    if low == 0 and known == 0:
        return x
    before, after = ([amount if i == axis else 0 for i in range(len(dims))] for amount in (low, missing))
    zero = ScalarAttr.get(0, tensor_of(x).dtype)
    return b.emit(PadOp, [x], low=ShapeAttr.get(before), high=ShapeAttr.get(after), value=zero)


def transposed(
    b: GraphBuilder, grad: SSAValue, weight: SSAValue, geometry: Geometry, extents: Sequence[Expr]
) -> SSAValue:
    """result[n, c, p] = sum of grad[n, o, w] weight[o, c, k] over all o, k with p + padding = w stride + k dilation."""
    o, c, *taps = tensor_of(weight).dims
    sizes = [t.as_int() or 0 for t in taps]
    for i in range(geometry.spatial):
        reach = geometry.dilation[i] * (sizes[i] - 1)
        grad = _spread(b, grad, 2 + i, geometry.stride[i])
        grad = _around(b, grad, 2 + i, reach - geometry.padding[i], extents[i] + reach)
    outputs, groups, s = floordiv(o, constant(geometry.groups)), geometry.groups, geometry.spatial
    # Space: n, group, channel in group, places..., output in group, taps...
    space = ShapeAttr.get((tensor_of(grad).dims[0], groups, c, *extents, outputs, *taps))
    rank, first = space.rank, 4 + s
    channel = index(1) * outputs + index(3 + s)
    places = (index(3 + i) + index(first + i) * geometry.dilation[i] for i in range(s))
    flipped = (index(first + i) * -1 + (sizes[i] - 1) for i in range(s))
    lhs, rhs = IndexMap(rank, (index(0), channel, *places)), IndexMap(rank, (channel, index(2), *flipped))
    y = contract(b, grad, weight, space, lhs, rhs, list(range(3 + s, rank)))
    return b.reshape(y, [tensor_of(grad).dims[0], c * groups, *extents])


def weight_gradient(b: GraphBuilder, grad: SSAValue, x: SSAValue, geometry: Geometry, dims: Sequence[Expr]) -> SSAValue:
    """result[o, c, k] = sum of x[n, c, w stride + k dilation - padding] grad[n, o, w] over all n, w."""
    x = padded(b, x, geometry.padding, 0.0)
    o, c, *taps = dims
    outputs, s = floordiv(o, constant(geometry.groups)), geometry.spatial
    # Space: group, output in group, channel in group, taps..., n, windows...
    space = ShapeAttr.get((geometry.groups, outputs, c, *taps, tensor_of(x).dims[0], *tensor_of(grad).dims[2:]))
    rank, n = space.rank, 3 + s
    places = (index(n + 1 + i) * geometry.stride[i] + index(3 + i) * geometry.dilation[i] for i in range(s))
    lhs = IndexMap(rank, (index(n), index(0) * c + index(2), *places))
    rhs = IndexMap(rank, (index(n), index(0) * outputs + index(1), *(index(n + 1 + i) for i in range(s))))
    return b.reshape(contract(b, x, grad, space, lhs, rhs, list(range(n, rank))), dims)


def convolution_gradients(call: Call) -> list[SSAValue | None]:
    """aten.convolution_backward: of input, weight and bias, as far as output_mask asks."""
    b = call.b
    call.require("transposed", False)
    call.ignore("output_padding", "bias_sizes")
    dtype = tensor_of(call.tensor("grad_output")).dtype
    grad, x, weight = (b.cast(call.tensor(name), dtype.compute) for name in ("grad_output", "input", "weight"))
    geometry = Geometry(call, tensor_of(x).rank - 2)
    wanted = call.value("output_mask")
    dx = transposed(b, grad, weight, geometry, tensor_of(x).dims[2:]) if wanted[0] else None
    dw = weight_gradient(b, grad, x, geometry, tensor_of(weight).dims) if wanted[1] else None
    axes = [i for i in range(tensor_of(grad).rank) if i != 1]
    db = b.emit(SumOp, [grad], axes=axes_attr(axes)) if wanted[2] else None
    return [None if r is None else b.cast(r, dtype) for r in (dx, dw, db)]


def transposed_convolution(call: Call) -> SSAValue:
    """aten.convolution with transposed=True, and conv_transpose1d, 2d and 3d."""
    b = call.b
    x, weight, bias = call.tensor("input"), call.tensor("weight"), call.optional_tensor("bias")
    call.ignore("output_padding", "transposed")
    geometry = Geometry(call, tensor_of(weight).rank - 2)
    if tensor_of(x).rank != geometry.spatial + 2:
        raise UnsupportedNodeError("is a transposed convolution without a batch dimension")
    compute = call.dtype.compute
    y = transposed(b, b.cast(x, compute), b.cast(weight, compute), geometry, call.dims[2:])
    if bias is not None:
        wide = b.view(b.cast(bias, compute), IndexMap(len(call.dims), (index(1),)), call.dims)
        y = b.emit(AddOp, [y, wide])
    return b.cast(y, call.dtype)


def max_pool_gradient(call: Call) -> SSAValue:
    """grad_output added up at the places that the forward op noted."""
    b = call.b
    call.ignore("self", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
    grad, places, type_ = call.tensor("grad_output"), call.tensor("indices"), call.type
    lead = type_.dims[:-2]
    sizes = (*lead, type_.dims[-1] * type_.dims[-2])
    small = tensor_of(grad).dims
    window = [*lead, small[-1] * small[-2]]
    positions = element_positions(b, b.reshape(places, window), sizes, len(lead))
    total = sizes[-1]
    for extent in lead:
        total = extent * total
    zeros = b.constant(0, tensor_type([total], type_.dtype))
    operands = [zeros, flattened(b, positions), flattened(b, grad)]
    return b.reshape(b.emit(ScatterOp, operands, axis=IntAttr(0), mode=StringAttr("add")), type_.dims)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.convolution_backward.default": convolution_gradients,
        "aten.conv_transpose1d.default": transposed_convolution,
        "aten.conv_transpose2d.input": transposed_convolution,
        "aten.conv_transpose3d.input": transposed_convolution,
        "aten.max_pool2d_with_indices_backward.default": max_pool_gradient,
    }
)
