"""Reductions: remove axes with a combiner. Each states its identity, so an empty extent is an ordinary value; order
has no meaning."""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from ..dtype import BF16, F32, FLOATS, I1, DType, dtype_of
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_dtype, require_operands
from .conversion import cast_array
from .pointwise import NUMBERS
from .types import TensorType, axes_attr, axes_of, tensor_type


def check_axes(axes: tuple[int, ...], rank: int) -> None:
    """Raises TypeRuleError unless the axes are sorted, distinct and inside the rank."""
    require(list(axes) == sorted(set(axes)), f"axes must be sorted and distinct, found {list(axes)}")
    require(all(0 <= a < rank for a in axes), f"axes {list(axes)} are outside a tensor of rank {rank}")


def check_accumulator(properties: Mapping[str, Attribute], dtype: DType) -> None:
    """Raises TypeRuleError where sums of `dtype` would be rounded between the terms."""
    if "accumulate" in properties:
        accumulate = dtype_of(properties["accumulate"])
        kept = accumulate.is_float == dtype.is_float and accumulate.bits >= dtype.compute.bits
        require(kept, f"cannot accumulate {dtype.name} in {accumulate.name}")


class Reduction(TensorOp, ABC):
    """Combines the elements along `axes`; those dims vanish. Narrow floats accumulate in `accumulate` (f32, the
    default, or wider), rounding once."""

    KIND: ClassVar[Kind] = Kind.REDUCTION
    COMBINE: ClassVar[str]
    """Name of the combiner: add, mul, maximum or minimum."""

    operand = operand_def(TensorType)
    axes = prop_def(DenseArrayBase)
    accumulate = opt_prop_def()
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        source = operands[0]
        require_dtype(source, NUMBERS, "the element type")
        require("axes" in properties, "needs the property 'axes'")
        axes = axes_of(properties["axes"])
        check_axes(axes, source.rank)
        check_accumulator(properties, source.dtype)
        return (source.with_dims(d for i, d in enumerate(source.dims) if i not in axes),)

    @property
    def axis_numbers(self) -> tuple[int, ...]:
        return axes_of(self.axes)

    @property
    def accumulator(self) -> DType:
        """The dtype that partial results have."""
        return dtype_of(self.accumulate) if self.accumulate is not None else self.operand_types[0].dtype.compute

    @classmethod
    def identity(cls, dtype: DType) -> float | int:
        """The value of an empty reduction."""
        raise NotImplementedError(cls.name)  # abstract: every concrete class defines it

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], identity: Array) -> Array:
        """numpy's reduction of `x` along `axes` in the dtype of x."""
        raise NotImplementedError(cls.name)  # abstract: every concrete class defines it

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        accumulator = self.accumulator
        x = inputs[0].astype(accumulator.numpy, copy=False)
        identity = accumulator.scalar(accumulator.encode(self.identity(accumulator)))
        with np.errstate(all="ignore"):
            value = np.asarray(self.combine(x, self.axis_numbers, identity) if self.axis_numbers else x)
            return (cast_array(value, self.result_type.dtype),)


def _samples(dtypes: Sequence[DType]) -> tuple[Sample, ...]:
    cases = [Sample((tensor_type([3, 5, 2], d),), {"axes": axes_attr([1])}) for d in dtypes]
    edges: list[tuple[tuple[int, ...], list[int]]] = [((0, 4), [0]), ((3, 4), [0, 1]), ((2, 3), []), ((2, 1), [1])]
    cases += [Sample((tensor_type(dims, F32),), {"axes": axes_attr(axes)}) for dims, axes in edges]
    cases += [
        Sample((tensor_type([3], F32),), {"axes": axes_attr([1])}, error="outside a tensor of rank 1"),
        Sample((tensor_type([3], F32),), {}, error="needs the property 'axes'"),
        Sample((tensor_type([3], I1),), {"axes": axes_attr([0])}, error="element type must be one of"),
        *(
            Sample((tensor_type([3], d),), {"axes": axes_attr([0]), "accumulate": BF16.attr}, error="cannot accumulate")
            for d in (F32, BF16)
        ),
    ]
    return tuple(cases)


@irdl_op_definition
class SumOp(Reduction):
    """The sum in unspecified order. Nothing sums to 0."""

    name = "hlir.sum"
    COMBINE: ClassVar = "add"
    SAMPLES: ClassVar = _samples(NUMBERS[:6] + FLOATS[:4])

    @classmethod
    def identity(cls, dtype: DType) -> float | int:
        return 0

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], identity: Array) -> Array:
        return x.sum(axis=axes, dtype=x.dtype)


@irdl_op_definition
class ProdOp(Reduction):
    """The product in unspecified order. The product of nothing is 1."""

    name = "hlir.prod"
    COMBINE: ClassVar = "mul"
    SAMPLES: ClassVar = _samples(NUMBERS[:6] + FLOATS[:4])

    @classmethod
    def identity(cls, dtype: DType) -> float | int:
        return 1

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], identity: Array) -> Array:
        return x.prod(axis=axes, dtype=x.dtype)


@irdl_op_definition
class MaxOp(Reduction):
    """The largest element, NaN if any is. The maximum of nothing is -inf, or the smallest integer."""

    name = "hlir.max"
    COMBINE: ClassVar = "maximum"
    SAMPLES: ClassVar = _samples(NUMBERS)

    @classmethod
    def identity(cls, dtype: DType) -> float | int:
        return dtype.extremes[0]

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], identity: Array) -> Array:
        return np.maximum.reduce(x, axis=axes, initial=identity[()])


@irdl_op_definition
class MinOp(Reduction):
    """The smallest element, NaN if any is. The minimum of nothing is inf, or the largest integer."""

    name = "hlir.min"
    COMBINE: ClassVar = "minimum"
    SAMPLES: ClassVar = _samples(NUMBERS)

    @classmethod
    def identity(cls, dtype: DType) -> float | int:
        return dtype.extremes[1]

    @classmethod
    def combine(cls, x: Array, axes: tuple[int, ...], identity: Array) -> Array:
        return np.minimum.reduce(x, axis=axes, initial=identity[()])
