"""Primitive elementwise ops that compute nothing: selection, and elements as another type by value or by bits."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from ..dtype import DTYPES, F32, F64, I1, INTEGERS, DType, dtype_of
from ..op import Array, Environment, Sample, require, require_dtype, require_operands
from .pointwise import NUMBERS, Elementwise
from .types import TensorType, tensor_type


@irdl_op_definition
class SelectOp(Elementwise):
    """a where the condition holds, else b. Bits pass unchanged."""

    name = "hlir.select"
    SPELLING: ClassVar = "select"
    ARITY: ClassVar[int] = 3
    DOMAIN: ClassVar = DTYPES
    SAMPLES: ClassVar = (
        *(Sample((tensor_type([3, 5], I1), tensor_type([3, 5], d), tensor_type([3, 5], d))) for d in DTYPES),
        Sample(
            (tensor_type([2], F32), tensor_type([2], F32), tensor_type([2], F32)),
            error="the condition must be one of i1",
        ),
        Sample((tensor_type([2], I1), tensor_type([2], F32), tensor_type([3], F32)), error="operand types differ"),
    )

    condition = operand_def(TensorType)
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 3)
        condition, a, b = operands
        require_dtype(condition, (I1,), "the condition")
        require(a == b and condition.dims == a.dims, f"operand types differ: {', '.join(map(str, operands))}")
        return (a,)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        return (np.where(inputs[0], inputs[1], inputs[2]),)


@irdl_op_definition
class CastOp(Elementwise):
    """x in another element type: floats round to nearest even, float to integer truncates, anything to i1 is x != 0."""

    name = "hlir.cast"
    SPELLING: ClassVar = "cast"
    ARITY: ClassVar[int] = 1
    DOMAIN: ClassVar = DTYPES
    SAMPLES: ClassVar = (
        *(Sample((tensor_type([3, 5], d),), {"dtype": e.attr}, low=0.0, high=9.0) for d in DTYPES for e in DTYPES),
        Sample((tensor_type([3], F32),), {}, error="needs the property 'dtype'"),
    )

    operand = operand_def(TensorType)
    result = result_def(TensorType)
    dtype = prop_def()

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        require("dtype" in properties, "needs the property 'dtype'")
        return (operands[0].with_dtype(dtype_of(properties["dtype"])),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (cast_array(inputs[0], self.result_type.dtype),)


def cast_array(x: Array, dtype: DType) -> Array:
    """numpy's conversion, through f32 where a narrow float meets an integer type."""
    if x.dtype == dtype.numpy:
        return x
    if dtype.is_bool:
        return x.astype(np.float64) != 0 if x.dtype.kind == "V" else x != 0
    narrow = x.dtype.kind == "V" or x.dtype == np.float16
    return (x.astype(np.float32) if narrow else x).astype(dtype.numpy)


@irdl_op_definition
class BitcastOp(Elementwise):
    """The bits of x read as another element type of the same width."""

    name = "hlir.bitcast"
    SPELLING: ClassVar = "bitcast"
    ARITY: ClassVar[int] = 1
    DOMAIN: ClassVar = NUMBERS
    SAMPLES: ClassVar = (
        Sample((tensor_type([3, 5], F32),), {"dtype": dtype_of(INTEGERS[4].attr).attr}),
        Sample((tensor_type([3], F32),), {"dtype": F64.attr}, error="same width"),
    )

    operand = operand_def(TensorType)
    result = result_def(TensorType)
    dtype = prop_def()

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        require("dtype" in properties, "needs the property 'dtype'")
        to, source = dtype_of(properties["dtype"]), operands[0].dtype
        require_dtype(operands[0], cls.DOMAIN, "the element type")
        require(to.bits == source.bits, f"needs element types of the same width, found {source.name} and {to.name}")
        return (operands[0].with_dtype(to),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        return (np.ascontiguousarray(inputs[0]).view(self.result_type.dtype.numpy).reshape(inputs[0].shape),)
