"""Putting tensors together: pad with a value, and concatenate."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from ..dtype import DTYPES, F32, I32
from ..op import Array, Environment, Kind, Sample, TensorOp, require, require_operands
from .properties import axis_property
from .types import ScalarAttr, ShapeAttr, TensorType, tensor_type


@irdl_op_definition
class PadOp(TensorOp):
    """x with `low` elements of `value` before and `high` after it on every dimension."""

    name = "hlir.pad"
    KIND: ClassVar[Kind] = Kind.IRREGULAR
    SAMPLES: ClassVar = (
        *(
            Sample(
                (tensor_type([2, 3], d),),
                {"low": ShapeAttr.get([1, 0]), "high": ShapeAttr.get([0, 2]), "value": ScalarAttr.get(1, d)},
            )
            for d in DTYPES
        ),
        Sample(
            (tensor_type([0], F32),),
            {"low": ShapeAttr.get([2]), "high": ShapeAttr.get([1]), "value": ScalarAttr.get(0, F32)},
        ),
        Sample(
            (tensor_type([2], F32),),
            {"low": ShapeAttr.get([-1]), "high": ShapeAttr.get([0]), "value": ScalarAttr.get(0, F32)},
            error="negative",
        ),
        Sample(
            (tensor_type([2], F32),),
            {"low": ShapeAttr.get([1]), "high": ShapeAttr.get([0]), "value": ScalarAttr.get(0, I32)},
            error="the value is i32",
        ),
    )

    operand = operand_def(TensorType)
    low = prop_def(ShapeAttr)
    high = prop_def(ShapeAttr)
    value = prop_def(ScalarAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require_operands(operands, 1)
        low, high, value = (properties.get(key) for key in ("low", "high", "value"))
        require(isinstance(low, ShapeAttr) and isinstance(high, ShapeAttr), "needs the properties 'low' and 'high'")
        require(isinstance(value, ScalarAttr), "needs the property 'value'")
        assert isinstance(low, ShapeAttr) and isinstance(high, ShapeAttr) and isinstance(value, ScalarAttr)
        x = operands[0]
        require(
            low.rank == x.rank and high.rank == x.rank, f"low and high have one entry for each of {x.rank} dimensions"
        )
        require(all((e.as_int() or 0) >= 0 for e in (*low.data, *high.data)), "negative padding: use a view to crop")
        require(value.data.dtype == x.dtype, f"the value is {value.data.dtype.name}, the tensor {x.dtype.name}")
        return (x.with_dims(a + d + b for a, d, b in zip(low.data, x.dims, high.data, strict=True)),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        scalar = self.value.data
        result = np.full(env.shape(self.result_type), scalar.dtype.scalar(scalar.bits))
        low = env.shape(self.low)
        result[tuple(slice(a, a + n) for a, n in zip(low, inputs[0].shape, strict=True))] = inputs[0]
        return (result,)


@irdl_op_definition
class ConcatOp(TensorOp):
    """The operands one after another along `axis`. Bits pass unchanged, which pad and add would not do for -0.0."""

    name = "hlir.concat"
    KIND: ClassVar[Kind] = Kind.IRREGULAR
    SAMPLES: ClassVar = (
        *(
            Sample((tensor_type([2, 3], d), tensor_type([2, 1], d), tensor_type([2, 0], d)), {"axis": IntAttr(1)})
            for d in DTYPES
        ),
        Sample((tensor_type([2], F32),), {"axis": IntAttr(0)}),
        Sample(
            (tensor_type([2, 3], F32), tensor_type([3, 3], F32)), {"axis": IntAttr(1)}, error="differ outside the axis"
        ),
        Sample((), {"axis": IntAttr(0)}, error="at least one operand"),
    )

    parts = var_operand_def(TensorType)
    axis = prop_def(IntAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require(len(operands) > 0, "needs at least one operand")
        first = operands[0]
        axis = axis_property(properties, first.rank)

        def outside(t: TensorType) -> tuple[object, ...]:
            return (*t.dims[:axis], *t.dims[axis + 1 :], t.element)

        require(all(outside(t) == outside(first) for t in operands), "operands differ outside the axis")
        total = reduce(lambda a, b: a + b, (t.dims[axis] for t in operands))
        return (first.with_dims(total if i == axis else d for i, d in enumerate(first.dims)),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        return (np.concatenate(list(inputs), axis=self.axis.data),)
