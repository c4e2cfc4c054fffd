"""A linear layer as one op: the product and the bias are summed before the one rounding."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, var_operand_def

from ..dtype import F32, FLOATS
from ..op import Array, Environment, Sample, require, require_dtype, tensor_of
from ..sym.expr import index
from .builder import GraphBuilder
from .composite import Composite
from .contraction import ContractOp, contraction_properties
from .conversion import cast_array
from .elementwise import AddOp
from .index_map import IndexMap, canonical
from .types import ShapeAttr, TensorType, tensor_type


@irdl_op_definition
class LinearOp(Composite):
    """x[..., k] * weight[n, k] summed over k, plus bias[n] if given: shape [..., n]. Narrow floats are f32 inside,
    rounded once."""

    name = "hlir.linear"
    ATEN: ClassVar = ("aten.linear.default",)
    ABSOLUTE: ClassVar = 64.0
    SAMPLES: ClassVar = (
        *(Sample((tensor_type([3, 5], d), tensor_type([4, 5], d), tensor_type([4], d))) for d in FLOATS[:4]),
        Sample((tensor_type([2, 3, 5], F32), tensor_type([4, 5], F32))),
        Sample((tensor_type([5], F32), tensor_type([4, 5], F32))),
        Sample((tensor_type([0, 5], F32), tensor_type([4, 5], F32))),
        Sample((tensor_type([3, 5], F32), tensor_type([4, 6], F32)), error="weight"),
        Sample((tensor_type([3, 5], F32), tensor_type([4, 5], F32), tensor_type([5], F32)), error="bias"),
    )

    operand = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = var_operand_def(TensorType)
    result = result_def(TensorType)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        require(len(operands) in (2, 3), f"takes 2 or 3 operands, found {len(operands)}")
        x, weight = operands[0], operands[1]
        require_dtype(x, FLOATS, "the element type")
        require(x.rank >= 1 and weight.rank == 2, f"takes x[..., k] and weight[n, k], found {x} and {weight}")
        fits = weight.dims[1] == x.dims[-1] and weight.dtype == x.dtype
        require(fits, f"the weight {weight} does not fit {x}")
        if len(operands) == 3:
            wanted = weight.with_dims(weight.dims[:1])
            require(operands[2] == wanted, f"the bias must be {wanted}, found {operands[2]}")
        return (x.with_dims((*x.dims[:-1], weight.dims[0])),)

    def reference(self, inputs: Sequence[Array], env: Environment) -> tuple[Array, ...]:
        wide = [x.astype(self.result_type.dtype.compute.numpy, copy=False) for x in inputs]
        with np.errstate(all="ignore"):
            y = wide[0] @ wide[1].T
            return (cast_array(y + wide[2] if len(wide) == 3 else y, self.result_type.dtype),)

    def expand(self, b: GraphBuilder) -> tuple[SSAValue, ...]:
        compute = self.result_type.dtype.compute
        x, weight, *bias = (b.cast(o, compute) for o in self.operands)
        rows = tensor_of(x).dims[:-1]
        n, k = tensor_of(weight).dims
        rank = len(rows)
        space = ShapeAttr.get((*rows, n, k))
        lhs = IndexMap(rank + 2, (*(index(i) for i in range(rank)), index(rank + 1)))
        rhs = IndexMap(rank + 2, (index(rank), index(rank + 1)))
        y = contract(b, x, weight, space, lhs, rhs, [rank + 1])
        if bias:
            y = b.emit(AddOp, [y, b.broadcast(bias[0], tensor_of(y).dims)])
        return (b.cast(y, self.result_type.dtype),)


def contract(
    b: GraphBuilder,
    lhs: SSAValue,
    rhs: SSAValue,
    space: ShapeAttr,
    lhs_map: IndexMap,
    rhs_map: IndexMap,
    axes: Sequence[int],
) -> SSAValue:
    """A contraction with the maps made canonical for the space."""
    maps = (canonical(lhs_map, space.data), canonical(rhs_map, space.data))
    return b.emit(ContractOp, [lhs, rhs], **contraction_properties(space, *maps, axes))
