"""The position of the largest element along one axis."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from ..dtype import F32, FLOATS, I1, I64, INTEGERS
from ..op import Array, Environment, Sample, require_dtype, require_operands, tensor_of
from ..sym.expr import index
from .bitwise import BitOrOp
from .builder import GraphBuilder
from .comparison import IsNanOp
from .composite import Composite
from .conversion import SelectOp
from .creation import IotaOp
from .elementwise import EqualOp
from .normalization import dim_scalar
from .pointwise import NUMBERS
from .properties import axis_property
from .reduction import MaxOp, MinOp
from .types import MapAttr, TensorType, axes_attr, tensor_type


@irdl_op_definition
class ArgmaxOp(Composite):
    """The first index along `axis` at which x is largest, as i64; the first NaN if there is one. The axis vanishes."""

    name = "hlir.argmax"
    SAMPLES: ClassVar = (
        *(Sample((tensor_type([3, 5], d),), {"axis": IntAttr(1)}) for d in (*INTEGERS, *FLOATS[:4])),
        Sample((tensor_type([0, 5], F32),), {"axis": IntAttr(1)}),
        Sample((tensor_type([3], F32),), {"axis": IntAttr(1)}, error="outside a tensor of rank 1"),
        Sample((tensor_type([3], I1),), {"axis": IntAttr(0)}, error="element type must be one of"),
    )

    operand = operand_def(TensorType)
    axis = prop_def(IntAttr)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        x = operands[0]
        require_dtype(x, NUMBERS, "the element type")
        axis = axis_property(properties, x.rank)
        return (x.with_dims(d for i, d in enumerate(x.dims) if i != axis).with_dtype(I64),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        x = inputs[0].astype(np.float32) if inputs[0].dtype.kind == "V" else inputs[0]
        return (np.argmax(x, axis=self.axis.data).astype(np.int64),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        x, axis = self.operand, self.axis.data
        type_ = tensor_of(x)
        top = b.restore_axes(b.emit(MaxOp, [x], axes=axes_attr([axis])), [axis], type_.dims)
        best = b.emit(EqualOp, [x, top])
        if type_.dtype.is_float:
            best = b.emit(BitOrOp, [best, b.emit(IsNanOp, [x])])
        wide = type_.with_dtype(I64)
        positions = b.emit(IotaOp, [], value=MapAttr.get(type_.rank, [index(axis)]), shape=type_.shape, dtype=I64.attr)
        beyond = dim_scalar(b, type_.dims[axis], wide)
        return (b.emit(MinOp, [b.emit(SelectOp, [best, positions, beyond])], axes=axes_attr([axis])),)
