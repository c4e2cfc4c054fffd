"""What all elementwise ops share: one shape in and out, a scalar function of each element, and how samples are
drawn."""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from ..dtype import FLOATS, I1, INTEGERS, DType
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_dtype, require_operands
from .types import TensorType, tensor_type

NUMBERS: tuple[DType, ...] = (*INTEGERS, *FLOATS)
BITS: tuple[DType, ...] = (I1, *INTEGERS)


class Elementwise(TensorOp, ABC):
    """One scalar function applied to each element. The result has the operands' type unless RESULT names another dtype.

    Floats narrower than f32 are computed in f32 and rounded once.
    """

    KIND: ClassVar[Kind] = Kind.ELEMENTWISE
    POINTWISE: ClassVar[bool] = True
    ARITY: ClassVar[int]
    DOMAIN: ClassVar[tuple[DType, ...]] = FLOATS
    RESULT: ClassVar[DType | None] = None
    COMMUTATIVE: ClassVar[bool] = False

    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, cls.ARITY)
        first = operands[0]
        require(all(t == first for t in operands), f"operand types differ: {', '.join(map(str, operands))}")
        require_dtype(first, cls.DOMAIN, "the element type")
        return (first if cls.RESULT is None else first.with_dtype(cls.RESULT),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        compute = self.operand_types[0].dtype.compute.numpy
        with np.errstate(all="ignore"):
            value = self.function(*(x.astype(compute, copy=False) for x in inputs))
            return (np.asarray(value).astype(self.result_type.dtype.numpy, copy=False),)

    def function(self, *args: Array) -> Array:
        """The scalar function on arrays of the compute dtype."""
        raise NotImplementedError(self.name)  # abstract: every concrete class defines it


class Unary(Elementwise, ABC):
    """y = f(x)."""

    ARITY: ClassVar[int] = 1
    operand = operand_def(TensorType)
    result = result_def(TensorType)


class Binary(Elementwise, ABC):
    """y = f(a, b)."""

    ARITY: ClassVar[int] = 2
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)


def samples(
    dtypes: Sequence[DType], arity: int, wrong: DType | None = None, low: float = -2.0, high: float = 2.0
) -> tuple[Sample, ...]:
    """A sample for each dtype, an empty and a 0-d one, one with mixed shapes, and one with the dtype `wrong`."""
    good = [Sample((tensor_type([3, 5], d),) * arity, low=low, high=high) for d in dtypes]
    edge = [Sample((tensor_type(dims, dtypes[-1]),) * arity, low=low, high=high) for dims in ((0, 4), ())]
    bad = [Sample((tensor_type([2], wrong),) * arity, error="element type must be one of")] if wrong else []
    if arity > 1:
        shapes = (tensor_type([2], dtypes[0]),) + (tensor_type([3], dtypes[0]),) * (arity - 1)
        bad.append(Sample(shapes, error="operand types differ"))
    return (*good, *edge, *bad)
