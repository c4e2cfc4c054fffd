"""Which elements of its operands one element of a tensor op reads, as expressions over the loop variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from ...dialects.errors import LoweringError
from ...dialects.hlir.arranging import ConcatOp, PadOp
from ...dialects.hlir.contraction import ContractOp
from ...dialects.hlir.elementwise import Elementwise
from ...dialects.hlir.index_map import IndexMap, row_major_strides
from ...dialects.hlir.indexing import GatherOp
from ...dialects.hlir.reduction import Reduction
from ...dialects.hlir.view import ViewOp
from ...dialects.kernel.placement import combined_axes, operand_dims
from ...dialects.op import Kind, TensorOp, tensor_of
from ...dialects.sym.bounds import Bounds, simplify
from ...dialects.sym.expr import Expr, constant
from ...dialects.sym.substitute import substitute_indices

At: TypeAlias = tuple[Expr, ...]
"""An element of a tensor: one index expression a dim."""
Key: TypeAlias = tuple[SSAValue, At]


@dataclass(frozen=True)
class Reader:
    """`parallel` and `reduced` are the dims of the kernel, in terms of the loop variables that `bounds` describes. A
    reduction or contraction is read at the parallel dims, in whatever form a view may write them."""

    bounds: Bounds
    parallel: At = ()
    reduced: At = ()

    def place(self, value: SSAValue, at: At) -> At:
        """The element that `at` means, in the one form that it is remembered under."""
        op = value.owner
        combined = isinstance(op, TensorOp) and op.KIND in (Kind.REDUCTION, Kind.CONTRACTION)
        return self.parallel if combined else at

    def through(self, index_map: IndexMap, at: At) -> At:
        """The element of the source that a view shows at `at`."""
        values = dict(enumerate(at))
        return tuple(simplify(substitute_indices(e, values), self.bounds) for e in index_map.exprs)

    def address(self, value: SSAValue, at: At) -> Expr:
        """The offset of an element of a dense row-major tensor."""
        total = constant(0)
        for expr, stride in zip(at, row_major_strides(tensor_of(value).dims), strict=True):
            total = total + expr * stride
        return simplify(total, self.bounds)

    def over(self, op: TensorOp) -> At:
        """The index of the space that a reduction or contraction runs over."""
        axes = combined_axes(op)
        kept, reduced = iter(self.parallel), iter(self.reduced)
        return tuple(next(reduced) if i in axes else next(kept) for i in range(len(operand_dims(op))))

    def reads(self, op: TensorOp, at: At) -> list[Key]:
        """The elements of the operands; a computed index counts as 0."""
        if isinstance(op, Elementwise):
            return [(operand, at) for operand in op.operands]
        if isinstance(op, ViewOp):
            return [(op.source, self.through(op.map.data, at))]
        if isinstance(op, Reduction):
            return [(op.operand, self.over(op))]
        if isinstance(op, ContractOp):
            over = self.over(op)
            return [(op.lhs, self.through(op.lhs_map.data, over)), (op.rhs, self.through(op.rhs_map.data, over))]
        if op.KIND is Kind.CREATION:
            return []
        if isinstance(op, GatherOp):
            axis, rank = op.axis.data, tensor_of(op.indices).rank
            source = (*at[:axis], constant(0), *at[axis + rank :])
            return [(op.indices, at[axis : axis + rank]), (op.source, source)]
        if isinstance(op, PadOp):
            return [(op.operand, inside_pad(op, at))]
        if isinstance(op, ConcatOp):
            return list(zip(op.operands, parts_of_concat(op, at), strict=True))
        raise LoweringError("a row program cannot hold this op", op=op, stage="lower-kernels")


def inside_pad(op: PadOp, at: At) -> At:
    """The index of the padded tensor's source."""
    return tuple(e - low for e, low in zip(at, op.low.data, strict=True))


def parts_of_concat(op: ConcatOp, at: At) -> Sequence[At]:
    """The index in each part, meaningful only in the one that holds the element."""
    axis, start = op.axis.data, constant(0)
    found: list[At] = []
    for part in op.operands:
        found.append((*at[:axis], at[axis] - start, *at[axis + 1 :]))
        start = start + tensor_of(part).dims[axis]
    return found
