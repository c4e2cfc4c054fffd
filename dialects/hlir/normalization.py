"""Layer norm, RMS norm over the last dimensions, and batch norm with given statistics."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, var_operand_def

from ..dtype import F32, F64, FLOATS, I32
from ..op import Array, Environment, Sample, require, require_dtype, tensor_of
from ..sym.expr import Expr, constant, index
from .arithmetic import RsqrtOp, SubOp
from .builder import GraphBuilder
from .composite import Composite
from .conversion import cast_array
from .creation import IotaOp
from .elementwise import AddOp, DivOp, MulOp
from .index_map import IndexMap
from .properties import int_property, property_of
from .reduction import SumOp
from .types import MapAttr, ScalarAttr, ShapeAttr, TensorType, axes_attr, tensor_type


def mean_over(b: GraphBuilder, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """sum(x, axes) / count, read at the shape of x; count may be symbolic."""
    type_ = tensor_of(x)
    total = b.emit(SumOp, [x], axes=axes_attr(axes))
    count = reduce(lambda p, q: p * q, (type_.dims[a] for a in axes), constant(1))
    mean = b.emit(DivOp, [total, dim_scalar(b, count, tensor_of(total))])
    return b.restore_axes(mean, axes, type_.dims)


def dim_scalar(b: GraphBuilder, value: Expr, like: TensorType) -> SSAValue:
    """The integer `value` as a number, at the type `like`."""
    known = value.as_int()
    if known is not None:
        return b.constant(known, like)
    scalar = b.emit(IotaOp, [], value=MapAttr(IndexMap(0, (value,))), shape=ShapeAttr.get([]), dtype=like.element)
    return b.broadcast(scalar, like.dims)


def _samples(operands: int) -> tuple[Sample, ...]:
    one = {"dims": IntAttr(1), "epsilon": ScalarAttr.get(1e-5, F64)}
    rows = [((3, 8), d) for d in FLOATS[:3]] + [((0, 8), F32), ((2, 3, 4), F32)]
    good = [
        Sample((tensor_type(dims, d), *(tensor_type(dims[-1:], d),) * k), one)
        for dims, d in rows
        for k in range(operands + 1)
    ]
    bad = [
        Sample((tensor_type([3, 8], F32), tensor_type([7], F32)), one, error="weight"),
        Sample((tensor_type([8], F32),), {**one, "dims": IntAttr(2)}, error="dims"),
        Sample((tensor_type([8], I32),), one, error="element type must be one of"),
    ]
    return (*good, *bad)


class RowNorm(Composite):
    """A norm over the last `dims` dimensions with optional weight and bias of their shape; epsilon is an f64 scalar.

    Narrow floats are computed in f32 and rounded once.
    """

    MAX_PARAMETERS: ClassVar[int]

    operand = operand_def(TensorType)
    parameters = var_operand_def(TensorType)
    dims = prop_def(IntAttr)
    epsilon = prop_def(ScalarAttr)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require(1 <= len(operands) <= 1 + cls.MAX_PARAMETERS, f"takes 1 to {1 + cls.MAX_PARAMETERS} operands")
        x = operands[0]
        require_dtype(x, FLOATS, "the element type")
        property_of(properties, "epsilon", ScalarAttr)
        dims = int_property(properties, "dims")
        require(1 <= dims <= x.rank, f"dims is {dims} for a tensor of rank {x.rank}")
        for parameter in operands[1:]:
            wanted = x.with_dims(x.dims[x.rank - dims :])
            require(parameter == wanted, f"weight and bias must be {wanted}, found {parameter}")
        return (x,)

    @property
    def axes(self) -> tuple[int, ...]:
        rank = self.operand_types[0].rank
        return tuple(range(rank - self.dims.data, rank))

    @property
    def epsilon_value(self) -> float:
        return float(self.epsilon.data.value)

    def scale_and_shift(self, b: GraphBuilder, x: SSAValue) -> SSAValue:
        """x * weight + bias, as far as given."""
        for op_class, parameter in zip((MulOp, AddOp), self.parameters, strict=False):
            wide = b.cast(parameter, tensor_of(x).dtype)
            x = b.emit(op_class, [x, b.broadcast(wide, tensor_of(x).dims)])
        return x


@irdl_op_definition
class LayerNormOp(RowNorm):
    """(x - mean) / sqrt(mean((x - mean)^2) + epsilon) * weight + bias."""

    name = "hlir.layer_norm"
    MAX_PARAMETERS: ClassVar = 2
    SAMPLES: ClassVar = _samples(2)
    ABSOLUTE: ClassVar = 8.0

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        wide = [x.astype(self.result_type.dtype.compute.numpy, copy=False) for x in inputs]
        x = wide[0]
        with np.errstate(all="ignore"):
            centred = x - x.mean(self.axes, keepdims=True)
            y = centred / np.sqrt((centred * centred).mean(self.axes, keepdims=True) + x.dtype.type(self.epsilon_value))
            for ufunc, parameter in zip((np.multiply, np.add), wide[1:], strict=False):
                y = ufunc(y, parameter)
            return (cast_array(y.astype(x.dtype), self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        x = b.cast(self.operand, self.result_type.dtype.compute)
        centred = b.emit(SubOp, [x, mean_over(b, x, self.axes)])
        variance = mean_over(b, b.emit(MulOp, [centred, centred]), self.axes)
        spread = b.emit(AddOp, [variance, b.constant(self.epsilon_value, tensor_of(variance))])
        y = self.scale_and_shift(b, b.emit(MulOp, [centred, b.emit(RsqrtOp, [spread])]))
        return (b.cast(y, self.result_type.dtype),)


@irdl_op_definition
class RmsNormOp(RowNorm):
    """x / sqrt(mean(x^2) + epsilon) * weight."""

    name = "hlir.rms_norm"
    MAX_PARAMETERS: ClassVar = 1
    SAMPLES: ClassVar = _samples(1)
    ABSOLUTE: ClassVar = 8.0

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        wide = [x.astype(self.result_type.dtype.compute.numpy, copy=False) for x in inputs]
        x = wide[0]
        with np.errstate(all="ignore"):
            y = x / np.sqrt((x * x).mean(self.axes, keepdims=True) + x.dtype.type(self.epsilon_value))
            y = y * wide[1] if len(wide) > 1 else y
            return (cast_array(y.astype(x.dtype), self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        x = b.cast(self.operand, self.result_type.dtype.compute)
        power = mean_over(b, b.emit(MulOp, [x, x]), self.axes)
        spread = b.emit(AddOp, [power, b.constant(self.epsilon_value, tensor_of(power))])
        y = self.scale_and_shift(b, b.emit(MulOp, [x, b.emit(RsqrtOp, [spread])]))
        return (b.cast(y, self.result_type.dtype),)


@irdl_op_definition
class BatchNormOp(Composite):
    """(x - mean) / sqrt(var + epsilon) * weight + bias with statistics of dim 1 given, as in evaluation mode."""

    name = "hlir.batch_norm"
    ABSOLUTE: ClassVar = 8.0
    SAMPLES: ClassVar = (
        *(
            Sample(
                (tensor_type([2, 3, 4], d), *(tensor_type([3], d),) * 4),
                {"epsilon": ScalarAttr.get(1e-5, F64)},
                low=0.5,
            )
            for d in FLOATS[:3]
        ),
        Sample(
            (tensor_type([2, 3], F32), *(tensor_type([2], F32),) * 4),
            {"epsilon": ScalarAttr.get(1e-5, F64)},
            error="statistics",
        ),
    )

    operand = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = operand_def(TensorType)
    epsilon = prop_def(ScalarAttr)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require(len(operands) == 5, f"takes 5 operands, found {len(operands)}")
        x = operands[0]
        require_dtype(x, FLOATS, "the element type")
        property_of(properties, "epsilon", ScalarAttr)
        require(x.rank >= 2, f"needs a tensor of rank 2 or more, found {x.rank}")
        wanted = x.with_dims(x.dims[1:2])
        require(all(t == wanted for t in operands[1:]), f"the statistics and parameters must be {wanted}")
        return (x,)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        wide = [x.astype(self.result_type.dtype.compute.numpy, copy=False) for x in inputs]
        column = (1, -1) + (1,) * (wide[0].ndim - 2)
        mean, variance, weight, bias = (p.reshape(column) for p in wide[1:])
        epsilon = wide[0].dtype.type(float(self.epsilon.data.value))
        with np.errstate(all="ignore"):
            y = (wide[0] - mean) / np.sqrt(variance + epsilon) * weight + bias
            return (cast_array(y, self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        compute = self.result_type.dtype.compute
        x, mean, variance, weight, bias = (b.cast(o, compute) for o in self.operands)
        dims = tensor_of(x).dims
        channel = IndexMap(len(dims), (index(1),))
        spread = b.emit(AddOp, [variance, b.constant(float(self.epsilon.data.value), tensor_of(variance))])
        scale = b.emit(MulOp, [b.emit(RsqrtOp, [spread]), weight])
        centred = b.emit(SubOp, [x, b.view(mean, channel, dims)])
        y = b.emit(AddOp, [b.emit(MulOp, [centred, b.view(scale, channel, dims)]), b.view(bias, channel, dims)])
        return (b.cast(y, self.result_type.dtype),)
