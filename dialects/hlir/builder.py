"""Building hlir graphs: emits ops with inferred types at the end of a block, and spells the usual views and
constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Attribute, Block, SSAValue

from ..dtype import DType
from ..op import TensorOp, tensor_of
from ..sym.expr import IntLike, lift
from . import index_map as maps
from .index_map import IndexMap
from .types import MapAttr, ScalarAttr, ShapeAttr, TensorType


class GraphBuilder:
    """Appends ops to `block`; `location` is given to every op until it is changed."""

    def __init__(self, block: Block, location: Attribute | None = None):
        self.block = block
        self.location = location

    def emit_all(
        self, op_class: type[TensorOp], operands: Sequence[SSAValue], **properties: Attribute | None
    ) -> tuple[SSAValue, ...]:
        """Appends the op and returns its results.

        Raises:
            TypeRuleError: the operands or properties do not fit the op.
        """
        op = op_class.make(operands, properties, location=self.location)
        self.block.add_op(op)
        return tuple(op.results)

    def emit(self, op_class: type[TensorOp], operands: Sequence[SSAValue], **properties: Attribute | None) -> SSAValue:
        """Appends an op with one result and returns it."""
        (result,) = self.emit_all(op_class, operands, **properties)
        return result

    def expand(self, op: TensorOp) -> tuple[SSAValue, ...]:
        """Appends the expansion of a composite on its own operands."""
        return op.expand(self)

    def constant(self, value: float | int | bool, like: TensorType) -> SSAValue:
        """A tensor of the type `like` filled with `value`."""
        from .creation import ConstantOp

        return self.emit(ConstantOp, [], value=ScalarAttr.get(value, like.dtype), shape=like.shape)

    def view(self, x: SSAValue, index_map: IndexMap, dims: Iterable[IntLike]) -> SSAValue:
        """x read through a map, or x itself where the map is the identity."""
        from .view import ViewOp

        shape = ShapeAttr.get(dims)
        if maps.is_identity(index_map, tensor_of(x).dims, shape.data):
            return x
        return self.emit(ViewOp, [x], map=MapAttr(maps.canonical(index_map, shape.data)), shape=shape)

    def permute(self, x: SSAValue, order: Sequence[int]) -> SSAValue:
        """Result dim i is source dim order[i]."""
        dims = tensor_of(x).dims
        return self.view(x, maps.permutation(order), [dims[i] for i in order])

    def broadcast(self, x: SSAValue, dims: Iterable[IntLike]) -> SSAValue:
        """NumPy broadcasting of x to `dims`."""
        target = tuple(lift(d) for d in dims)
        return self.view(x, maps.broadcast(tensor_of(x).dims, target), target)

    def reshape(self, x: SSAValue, dims: Iterable[IntLike]) -> SSAValue:
        """Row-major reshape; the caller has checked that the element counts agree."""
        target = tuple(lift(d) for d in dims)
        return self.view(x, maps.reshape(tensor_of(x).dims, target), target)

    def restore_axes(self, reduced: SSAValue, axes: Iterable[int], dims: Iterable[IntLike]) -> SSAValue:
        """The result of a reduction over `axes` read at the shape `dims` that was reduced."""
        target = tuple(lift(d) for d in dims)
        return self.view(reduced, maps.insert_axes(len(target), axes), target)

    def cast(self, x: SSAValue, dtype: DType) -> SSAValue:
        """x in another dtype, or x itself where it has it."""
        from .conversion import CastOp

        return x if tensor_of(x).dtype == dtype else self.emit(CastOp, [x], dtype=dtype.attr)
