"""Emits single elements of the values in a kernel's body: what stands before and after the contraction of a matmul."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import BlockArgument, SSAValue

from ...dialects import simt
from ...dialects.dtype import BF16, F16, F32, I64, dtype_of
from ...dialects.errors import LoweringError
from ...dialects.hlir.contraction import ContractOp
from ...dialects.hlir.conversion import CastOp
from ...dialects.hlir.creation import ConstantOp, IotaOp
from ...dialects.hlir.index_map import IndexMap, compose, flat_address, row_major_strides
from ...dialects.hlir.pointwise import Elementwise
from ...dialects.hlir.view import ViewOp
from ...dialects.kernel.placement import Space
from ...dialects.op import TensorOp, tensor_of
from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import substitute_indices
from ..kernel_to_loop.scalar_ops import cast, constant, scalar_op
from ..loop_to_simt.emitter import Emitter

Indices = Sequence[Expr]
"""One expression of the emitter's variables for each index of the kernel's space."""
ValueAt = Callable[[SSAValue, IndexMap], SSAValue]
"""Emits the element of a value of the body that a map from the space gives."""


class RegionCode:
    """Evaluates values of a kernel body at one index of the kernel's space.

    The maps are composed over the space, whose extents decide their floor divisions; only then the space's indices are
    replaced by what a thread works on, which may lie beyond the edge of the space where a caller guards against it.
    """

    def __init__(self, emitter: Emitter, space: Space, pointers: Mapping[SSAValue, SSAValue]):
        self.emitter = emitter
        self.space = space
        self.pointers = pointers
        """The thread-level pointer of each argument of the body."""

    def address(self, value: SSAValue, at: IndexMap) -> Expr:
        """Where an element of a dense value lies, over the indices of the space."""
        return flat_address(at, row_major_strides(tensor_of(value).dims), self.space.extents)

    def replace(self, expr: Expr, indices: Indices) -> Expr:
        """An expression over the space's indices, at an index."""
        return self.emitter.space.simplify(substitute_indices(expr, dict(enumerate(indices))))

    def source(self, value: SSAValue, at: IndexMap) -> tuple[BlockArgument, IndexMap] | None:
        """The argument that a value is an element of, and where, if nothing but views stand between."""
        while isinstance(value.owner, ViewOp):
            at = compose(at, value.owner.map.data, self.space.extents)
            value = value.owner.source
        return (value, at) if isinstance(value, BlockArgument) else None

    def before_widening(self, value: SSAValue, at: IndexMap) -> tuple[SSAValue, IndexMap]:
        """The bf16 or f16 value whose exact conversion to f32 (with views around it) a value is, and where; otherwise
        the value itself."""
        narrow, place = value, at
        while isinstance(owner := narrow.owner, ViewOp | CastOp):
            if isinstance(owner, ViewOp):
                place, narrow = compose(place, owner.map.data, self.space.extents), owner.source
            elif tensor_of(owner.result).dtype == F32 and tensor_of(owner.operand).dtype in (BF16, F16):
                return owner.operand, place
            else:
                break
        return value, at

    def evaluation(self, indices: Indices, total: SSAValue | None = None) -> ValueAt:
        """A function that emits a value at a map; `total` is the contraction's element at this index. What it emitted
        once it gives again."""
        found: dict[tuple[SSAValue, IndexMap], SSAValue] = {}

        def value_at(value: SSAValue, at: IndexMap) -> SSAValue:
            key = (value, at)
            if key not in found:
                found[key] = self._emit(value, at, indices, total, value_at)
            return found[key]

        return value_at

    def _emit(
        self, value: SSAValue, at: IndexMap, indices: Indices, total: SSAValue | None, value_at: ValueAt
    ) -> SSAValue:
        if isinstance(value, BlockArgument):
            pointer = self.pointers[value]
            assert isinstance(pointer.type, simt.PtrType)
            offset = self.emitter.index(self.replace(self.address(value, at), indices))
            return self.emitter.add(simt.LoadOp(pointer, offset, pointer.type.element))
        op = value.owner
        if isinstance(op, ViewOp):
            return value_at(op.source, compose(at, op.map.data, self.space.extents))
        if isinstance(op, Elementwise):
            return scalar_op(self.emitter.add, op, [value_at(operand, at) for operand in op.operands])
        if isinstance(op, ConstantOp):
            return constant(self.emitter.add, op.scalar)
        if isinstance(op, IotaOp):
            expr = substitute_indices(op.expression.exprs[0], dict(enumerate(at.exprs)))
            number = self.emitter.index(self.replace(expr, indices))
            return cast(self.emitter.add, self.emitter.resize(number, i64), I64, dtype_of(op.dtype))
        if isinstance(op, ContractOp) and total is not None:
            return total
        raise LoweringError(
            "this op cannot stand beside the contraction of a matmul template",
            op=op if isinstance(op, TensorOp) else None,
            stage="lower-kernels",
        )
