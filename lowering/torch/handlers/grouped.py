"""Products of groups of rows, each group with a matrix of its own: mixtures of experts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import I64
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.comparison import LessEqualOp, MinimumOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import AddOp, LessThanOp, MulOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.linear import contract
from ....dialects.hlir.normalization import dim_scalar
from ....dialects.hlir.reduction import SumOp
from ....dialects.hlir.types import MapAttr, ShapeAttr, axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.bounds import interval
from ....dialects.sym.expr import Expr, index
from ..call import Call, Handler
from ..unsupported import UnsupportedNodeError
from .indexing import gather


def group_of_each(b: GraphBuilder, ends: SSAValue, rows: Expr) -> SSAValue:
    """The group of each row, group g ending before row ends[g]: how many groups end at or before the row."""
    shape = (rows, tensor_of(ends).dims[0])
    wide = b.view(b.cast(ends, I64), IndexMap(2, (index(1),)), shape)
    row = b.emit(IotaOp, [], value=MapAttr.get(2, [index(0)]), shape=ShapeAttr.get(shape), dtype=I64.attr)
    return b.emit(SumOp, [b.cast(b.emit(LessEqualOp, [wide, row]), I64)], axes=axes_attr([1]))


def grouped_product(rows: str, matrices: str, ends: str) -> Handler:
    """result[s] = rows[s] @ matrices[g], g the group of row s. Rows after the last group, which torch leaves
    undefined, are 0.

    Few rows take copies of their matrices. Many are multiplied with every matrix, and their own product is picked: the
    copies would need more memory than that by depth / groups. Either way nothing of another group reaches a row.
    """

    def handler(call: Call) -> SSAValue:
        b = call.b
        x, weights, limits = call.tensor(rows), call.tensor(matrices), call.optional_tensor(ends)
        if limits is None or tensor_of(x).rank != 2 or tensor_of(weights).rank != 3:
            raise UnsupportedNodeError("groups something else than the rows of a matrix")
        count, groups = tensor_of(x).dims[0], tensor_of(weights).dims[0]
        group = group_of_each(b, limits, count)
        type_ = tensor_of(group)
        own = b.emit(MinimumOp, [group, dim_scalar(b, groups - 1, type_)])
        few = interval(groups - count, call.bounds).low
        y = (_by_copies if few is not None and few >= 0 else _by_all)(b, x, weights, own)
        inside = b.emit(LessThanOp, [group, dim_scalar(b, groups, type_)])
        inside = b.view(inside, IndexMap(2, (index(0),)), tensor_of(y).dims)
        return b.emit(SelectOp, [inside, y, b.constant(0, tensor_of(y))])

    return handler


def _by_copies(b: GraphBuilder, x: SSAValue, weights: SSAValue, group: SSAValue) -> SSAValue:
    """sum over k of x[s, k] weights[group[s], k, n]."""
    count, depth = tensor_of(x).dims
    space = ShapeAttr.get((count, tensor_of(weights).dims[2], depth))
    left, right = IndexMap(3, (index(0), index(2))), IndexMap(3, (index(0), index(2), index(1)))
    return _rounded_product(b, x, gather(b, weights, group, 0), space, left, right)


def _by_all(b: GraphBuilder, x: SSAValue, weights: SSAValue, group: SSAValue) -> SSAValue:
    """Row s of the product of x with weights[group[s]], out of the products with all."""
    count, depth = tensor_of(x).dims
    groups, _, columns = tensor_of(weights).dims
    space = ShapeAttr.get((groups, count, columns, depth))
    left, right = IndexMap(4, (index(1), index(3))), IndexMap(4, (index(0), index(3), index(2)))
    every = _rounded_product(b, x, weights, space, left, right)
    type_ = tensor_of(group)
    row = b.emit(IotaOp, [], value=MapAttr.get(1, [index(0)]), shape=type_.shape, dtype=I64.attr)
    place = b.emit(AddOp, [b.emit(MulOp, [group, dim_scalar(b, count, type_)]), row])
    return gather(b, b.reshape(every, (groups * count, columns)), place, 0)


def _rounded_product(
    b: GraphBuilder, x: SSAValue, y: SSAValue, space: ShapeAttr, left: IndexMap, right: IndexMap
) -> SSAValue:
    """The contraction over the last axis, summed in the computation dtype and rounded once."""
    dtype = tensor_of(x).dtype
    operands = [b.cast(value, dtype.compute) for value in (x, y)]
    return b.cast(contract(b, operands[0], operands[1], space, left, right, [space.rank - 1]), dtype)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten._grouped_mm.default": grouped_product("self", "mat2", "offs"),
        # What transformers calls where torch.compile would not take the above.
        "transformers.grouped_mm_fallback.default": grouped_product("input", "weight", "offs"),
    }
)
