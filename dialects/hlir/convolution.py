"""Convolution over any number of spatial dimensions, and max pooling: both read windows of a padded input."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, var_operand_def

from ..dtype import F32, FLOATS, I1, I64, U8, DType
from ..op import Array, Environment, Sample, require, require_dtype, require_operands, tensor_of
from ..sym.expr import Expr, constant, floordiv, index
from .arranging import PadOp
from .builder import GraphBuilder
from .composite import Composite
from .conversion import cast_array
from .elementwise import AddOp
from .index_map import IndexMap
from .linear import contract
from .pointwise import NUMBERS
from .properties import int_property
from .reduction import MaxOp
from .types import ScalarAttr, ShapeAttr, TensorType, axes_attr, tensor_type


def ints_attr(values: Sequence[int]) -> DenseArrayBase:
    """Plain integers as `array<i64: ...>`."""
    return DenseArrayBase.from_list(i64, list(values))


def ints_of(attr: Attribute | None, count: int, what: str) -> tuple[int, ...]:
    """`count` integers of an `array<i64: ...>`."""
    require(isinstance(attr, DenseArrayBase), f"needs the property '{what}'")
    assert isinstance(attr, DenseArrayBase)
    values = tuple(int(v) for v in attr.get_values())
    require(len(values) == count, f"{what} has {len(values)} entries for {count} spatial dimensions")
    return values


def window_extent(extent: Expr, padding: int, kernel: int, stride: int, dilation: int) -> Expr:
    """Number of windows: floor((extent + 2 padding - dilation (kernel - 1) - 1) / stride) + 1."""
    return floordiv(extent + 2 * padding - dilation * (kernel - 1) - 1, _constant(stride)) + 1


def _constant(value: int) -> Expr:
    require(value >= 1, f"strides and dilations are positive, found {value}")
    return constant(value)


def padded(b: GraphBuilder, x: SSAValue, padding: Sequence[int], value: float) -> SSAValue:
    """x with `padding` elements of `value` on both sides of the dims from 2 on."""
    if not any(padding):
        return x
    amounts = ShapeAttr.get((0, 0, *padding))
    return b.emit(PadOp, [x], low=amounts, high=amounts, value=ScalarAttr.get(value, tensor_of(x).dtype))


_TWO = {"stride": ints_attr([2, 1]), "padding": ints_attr([1, 0]), "dilation": ints_attr([1, 2])}


def _conv_sample(dtype: DType = F32, groups: int = 1, error: str = "", x: Sequence[int] = (2, 4, 7, 8)) -> Sample:
    types = (tensor_type(x, dtype), tensor_type([6, 4 // groups, 3, 2], dtype), tensor_type([6], dtype))
    return Sample(types, {**_TWO, "groups": IntAttr(groups)}, error=error)


@irdl_op_definition
class ConvOp(Composite):
    """Cross-correlation of x[n, c, ...] with weight[o, c / groups, ...] plus bias[o] if given; stride, padding and
    dilation for each spatial dimension. Narrow floats are f32 inside, rounded once; integers wrap."""

    name = "hlir.conv"
    ABSOLUTE: ClassVar = 64.0
    SAMPLES: ClassVar = (
        *(_conv_sample(d) for d in (*FLOATS[:3], U8, I64)),
        _conv_sample(groups=2),
        _conv_sample(x=(0, 4, 7, 8)),
        _conv_sample(x=(2, 5, 7, 8), error="channels"),
        _conv_sample(dtype=I1, error="element type must be one of"),
    )

    operand = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = var_operand_def(TensorType)
    stride = prop_def(DenseArrayBase)
    padding = prop_def(DenseArrayBase)
    dilation = prop_def(DenseArrayBase)
    groups = prop_def(IntAttr)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require(len(operands) in (2, 3), f"takes 2 or 3 operands, found {len(operands)}")
        x, weight = operands[0], operands[1]
        require_dtype(x, NUMBERS, "the element type")
        require(
            x.rank == weight.rank and x.rank >= 3, f"takes x[n, c, ...] and weight[o, c, ...], found {x} and {weight}"
        )
        spatial = x.rank - 2
        stride, padding, dilation = (ints_of(properties.get(k), spatial, k) for k in ("stride", "padding", "dilation"))
        groups = int_property(properties, "groups")
        require(groups >= 1, f"groups is at least 1, found {groups}")
        require(weight.dtype == x.dtype, f"element types differ: {x.dtype.name} and {weight.dtype.name}")
        require(
            weight.dims[1] * groups == x.dims[1],
            f"the channels of {x} and {weight} differ with {groups} groups",
        )
        outputs = weight.dims[0].as_int()
        require(
            outputs is None or outputs % groups == 0,
            f"{outputs} output channels do not divide into {groups} groups",
        )
        kernel = [d.as_int() for d in weight.dims[2:]]
        require(None not in kernel, "the kernel extents are static")
        extents = (
            window_extent(x.dims[i + 2], padding[i], kernel[i] or 0, stride[i], dilation[i]) for i in range(spatial)
        )
        return (x.with_dims((x.dims[0], weight.dims[0], *extents)),)

    def _settings(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        spatial = self.result_type.rank - 2
        stride, padding, dilation = (
            ints_of(a, spatial, k)
            for a, k in ((self.stride, "stride"), (self.padding, "padding"), (self.dilation, "dilation"))
        )
        return stride, padding, dilation

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        stride, padding, dilation = self._settings()
        wide = [x.astype(self.result_type.dtype.compute.numpy, copy=False) for x in inputs]
        x = np.pad(wide[0], [(0, 0), (0, 0), *((p, p) for p in padding)])
        weight, groups = wide[1], self.groups.data
        out = env.shape(self.result_type)
        y = np.zeros(out, x.dtype)
        channels, outputs = x.shape[1] // groups, weight.shape[0] // groups
        for position in np.ndindex(*weight.shape[2:]):
            window = tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, s, n in zip(position, dilation, stride, out[2:], strict=True)
            )
            for g in range(groups):
                taps = weight[(slice(g * outputs, (g + 1) * outputs), slice(None), *position)]
                part = x[(slice(None), slice(g * channels, (g + 1) * channels), *window)]
                y[:, g * outputs : (g + 1) * outputs] += np.einsum("nc...,oc->no...", part, taps)
        if len(wide) == 3:
            y = y + wide[2].reshape((1, -1) + (1,) * len(stride))
        return (cast_array(y, self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        stride, padding, dilation = self._settings()
        x, weight, *bias = (b.cast(o, self.result_type.dtype.compute) for o in self.operands)
        x = padded(b, x, padding, 0.0)
        spatial, groups = len(stride), self.groups.data
        dims = self.result_type.dims
        channels, kernel = tensor_of(weight).dims[1], tensor_of(weight).dims[2:]
        outputs = floordiv(dims[1], _constant(groups))
        # Space: n, group, output in group, windows..., channel in group, taps...
        space = ShapeAttr.get((dims[0], groups, outputs, *dims[2:], channels, *kernel))
        rank, taps = space.rank, 4 + spatial
        windows = (index(3 + i) * stride[i] + index(taps + i) * dilation[i] for i in range(spatial))
        lhs = IndexMap(rank, (index(0), index(1) * channels + index(3 + spatial), *windows))
        rhs = IndexMap(
            rank, (index(1) * outputs + index(2), index(3 + spatial), *(index(taps + i) for i in range(spatial)))
        )
        y = contract(b, x, weight, space, lhs, rhs, list(range(3 + spatial, rank)))
        y = b.reshape(y, dims)
        if bias:
            y = b.emit(AddOp, [y, b.view(bias[0], IndexMap(len(dims), (index(1),)), dims)])
        return (b.cast(y, self.result_type.dtype),)


@irdl_op_definition
class MaxPoolOp(Composite):
    """The largest element of each window of x[n, c, ...]; NaN if any is. Padding counts as the smallest value."""

    name = "hlir.max_pool"
    SAMPLES: ClassVar = (
        *(Sample((tensor_type([2, 3, 7, 8], d),), {**_TWO, "kernel": ints_attr([3, 2])}) for d in FLOATS[:3]),
        Sample((tensor_type([2, 3, 7], F32),), {**_TWO, "kernel": ints_attr([3])}, error="spatial dimensions"),
    )

    operand = operand_def(TensorType)
    kernel = prop_def(DenseArrayBase)
    stride = prop_def(DenseArrayBase)
    padding = prop_def(DenseArrayBase)
    dilation = prop_def(DenseArrayBase)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        x = operands[0]
        require_dtype(x, NUMBERS, "the element type")
        spatial = x.rank - 2
        names = ("kernel", "stride", "padding", "dilation")
        kernel, stride, padding, dilation = (ints_of(properties.get(k), spatial, k) for k in names)
        extents = (window_extent(x.dims[i + 2], padding[i], kernel[i], stride[i], dilation[i]) for i in range(spatial))
        return (x.with_dims((*x.dims[:2], *extents)),)

    def _settings(self) -> list[tuple[int, ...]]:
        spatial = self.result_type.rank - 2
        return [ints_of(a, spatial, "") for a in (self.kernel, self.stride, self.padding, self.dilation)]

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        kernel, stride, padding, dilation = self._settings()
        dtype = self.result_type.dtype
        lowest = dtype.scalar(dtype.encode(MaxOp.identity(dtype)))
        x = np.pad(inputs[0], [(0, 0), (0, 0), *((p, p) for p in padding)], constant_values=lowest[()])
        out = env.shape(self.result_type)
        y = np.full(out, lowest)
        for position in np.ndindex(*kernel):
            window = tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, s, n in zip(position, dilation, stride, out[2:], strict=True)
            )
            with np.errstate(invalid="ignore"):  # ml_dtypes warns of NaN
                y = np.maximum(y, x[(slice(None), slice(None), *window)])
        return (y,)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        kernel, stride, padding, dilation = self._settings()
        x = padded(b, self.operand, padding, MaxOp.identity(self.result_type.dtype))
        dims, spatial = self.result_type.dims, len(kernel)
        rank = 2 + 2 * spatial
        windows = (index(2 + i) * stride[i] + index(2 + spatial + i) * dilation[i] for i in range(spatial))
        view = b.view(x, IndexMap(rank, (index(0), index(1), *windows)), (*dims, *kernel))
        return (b.emit(MaxOp, [view], axes=axes_attr(range(2 + spatial, rank))),)
