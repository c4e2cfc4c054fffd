"""Softmax and log-softmax along one axis."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from ..dtype import F32, FLOATS, I32
from ..op import Array, Environment, Sample, require_dtype, require_operands, tensor_of
from .arithmetic import ExpOp, LogOp, SubOp
from .builder import GraphBuilder
from .composite import Composite
from .conversion import cast_array
from .elementwise import DivOp
from .properties import axis_property
from .reduction import MaxOp, SumOp
from .types import TensorType, axes_attr, tensor_type

_SAMPLES = (
    *(Sample((tensor_type([3, 5], d),), {"axis": IntAttr(1)}) for d in FLOATS[:3]),
    Sample((tensor_type([3, 5, 2], F32),), {"axis": IntAttr(0)}),
    Sample((tensor_type([0, 5], F32),), {"axis": IntAttr(1)}),
    Sample((tensor_type([3], F32),), {"axis": IntAttr(1)}, error="outside a tensor of rank 1"),
    Sample((tensor_type([3], I32),), {"axis": IntAttr(0)}, error="element type must be one of"),
)


class AlongAxis(Composite):
    """A composite of one tensor along one axis, computed in f32 for narrow floats and rounded once."""

    SAMPLES: ClassVar = _SAMPLES

    operand = operand_def(TensorType)
    axis = prop_def(IntAttr)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        require_dtype(operands[0], FLOATS, "the element type")
        axis_property(properties, operands[0].rank)
        return (operands[0],)

    def centred(self, b: GraphBuilder) -> SSAValue:
        """x minus its largest element along the axis, in the compute dtype."""
        x = b.cast(self.operand, self.operand_types[0].dtype.compute)
        dims, axes = tensor_of(x).dims, [self.axis.data]
        top = b.emit(MaxOp, [x], axes=axes_attr(axes))
        return b.emit(SubOp, [x, b.restore_axes(top, axes, dims)])

    def total(self, b: GraphBuilder, terms: SSAValue) -> SSAValue:
        """The sum along the axis, read at the full shape."""
        axes = [self.axis.data]
        return b.restore_axes(b.emit(SumOp, [terms], axes=axes_attr(axes)), axes, tensor_of(terms).dims)


@irdl_op_definition
class SoftmaxOp(AlongAxis):
    """e^(x - max x) / sum e^(x - max x) along `axis`."""

    name = "hlir.softmax"
    ULP: ClassVar = 4.0

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        x = inputs[0].astype(self.result_type.dtype.compute.numpy, copy=False)
        axis = self.axis.data
        with np.errstate(all="ignore"):
            e = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
            return (cast_array(e / e.sum(axis, keepdims=True), self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        e = b.emit(ExpOp, [self.centred(b)])
        return (b.cast(b.emit(DivOp, [e, self.total(b, e)]), self.result_type.dtype),)


@irdl_op_definition
class LogSoftmaxOp(AlongAxis):
    """x - max x - ln sum e^(x - max x) along `axis`."""

    name = "hlir.log_softmax"
    ABSOLUTE: ClassVar = 4.0

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        x = inputs[0].astype(self.result_type.dtype.compute.numpy, copy=False)
        axis = self.axis.data
        with np.errstate(all="ignore"):
            z = x - x.max(axis, keepdims=True, initial=-np.inf)
            return (cast_array(z - np.log(np.exp(z).sum(axis, keepdims=True)), self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        z = self.centred(b)
        logs = b.emit(LogOp, [self.total(b, b.emit(ExpOp, [z]))])
        return (b.cast(b.emit(SubOp, [z, logs]), self.result_type.dtype),)
