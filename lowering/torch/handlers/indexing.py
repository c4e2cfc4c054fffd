"""Reading at computed positions. Indices are those of eager: indexing counts negative ones from the end, embedding has
none.

An index outside its axis is an error of the run: a gather checks its own axis, and `checked` what is added up to one
position before a gather sees it, or what eager reports as another class of error. The CPU finishes the call and raises;
a kernel on a GPU stops, as a device-side assertion of eager does, and the next call that waits for it raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import OpResult, SSAValue

from ....dialects.dtype import I1, I32, I64, U8
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import AddOp, LessThanOp, MulOp
from ....dialects.hlir.index_map import IndexMap, row_major_strides
from ....dialects.hlir.indexing import CheckIndexOp, GatherOp
from ....dialects.hlir.normalization import dim_scalar
from ....dialects.hlir.types import MapAttr
from ....dialects.hlir.view import ViewOp
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, index
from ..call import Call, Handler
from ..unsupported import UnsupportedNodeError

MASKS = (I1, U8)
"""Element types of an index that chooses by position, which torch takes for a mask."""


def gather(b: GraphBuilder, x: SSAValue, indices: SSAValue, axis: int) -> SSAValue:
    """The slices of x at `indices` along the axis."""
    if tensor_of(indices).dtype not in (I32, I64):
        indices = b.cast(indices, I64)
    return b.emit(GatherOp, [x, indices], axis=IntAttr(axis))


def embedding(call: Call) -> SSAValue:
    """The rows of weight at the indices."""
    call.ignore("padding_idx", "scale_grad_by_freq", "sparse")
    return gather(call.b, call.tensor("weight"), call.tensor("indices"), 0)


def index_select(call: Call) -> SSAValue:
    """The slices of self at a vector of indices along one dim."""
    x, positions = as_vector(call.b, call.tensor("self")), as_vector(call.b, call.tensor("index"))
    return call.b.reshape(gather(call.b, x, positions, call.axis("dim", tensor_of(x).rank)), call.dims)


def as_vector(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x, or a 0-d tensor as a vector of one element."""
    return x if tensor_of(x).rank else b.reshape(x, [1])


def checked(b: GraphBuilder, indices: SSAValue, extent: Expr, error: str = "value") -> SSAValue:
    """The indices as i64; one outside [0, extent) fails the run with IndexError (`index`) or RuntimeError (`value`)."""
    positions = b.cast(indices, I64)
    last = dim_scalar(b, extent - 1, tensor_of(positions))
    return b.emit(CheckIndexOp, [positions, last], error=StringAttr(error))


def element_positions(
    b: GraphBuilder, indices: SSAValue, dims: Sequence[Expr], axis: int, error: str = "value"
) -> SSAValue:
    """Where in the flattened tensor of sizes `dims` the element lies that has `indices` along the axis and its own
    place elsewhere. An index out of range is an error as `checked` has it."""
    type_ = tensor_of(indices).with_dtype(I64)
    strides = row_major_strides(dims)
    rest = reduce(lambda a, c: a + c, (index(i) * s for i, s in enumerate(strides) if i != axis), constant(0))
    base = b.emit(IotaOp, [], value=MapAttr(IndexMap(type_.rank, (rest,))), shape=type_.shape, dtype=I64.attr)
    inside = checked(b, indices, dims[axis], error)
    scaled = b.emit(MulOp, [inside, dim_scalar(b, strides[axis], type_)])
    return b.emit(AddOp, [scaled, base])


def flattened(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x as a vector."""
    return b.reshape(x, [reduce(lambda p, q: p * q, tensor_of(x).dims, constant(1))])


def gather_elements(b: GraphBuilder, x: SSAValue, indices: SSAValue, axis: int, error: str = "value") -> SSAValue:
    """result[i, j, ...] = x with indices[i, j, ...] in place of the index along the axis."""
    positions = element_positions(b, indices, tensor_of(x).dims, axis, error)
    return gather(b, flattened(b, x), positions, 0)


def gather_along(call: Call) -> SSAValue:
    """aten.gather."""
    call.ignore("sparse_grad")
    x, indices = as_vector(call.b, call.tensor("self")), as_vector(call.b, call.tensor("index"))
    axis = call.axis("dim", tensor_of(x).rank)
    if is_empty(indices):
        return call.b.constant(0, call.type)
    return call.b.reshape(gather_elements(call.b, x, indices, axis), call.dims)


def is_empty(x: SSAValue) -> bool:
    """Whether a tensor is known to have no elements; an index without any may have any rank."""
    return any(extent.as_int() == 0 for extent in tensor_of(x).dims)


def wrapped(b: GraphBuilder, indices: SSAValue, extent: Expr) -> SSAValue:
    """Indices with negative ones counted from the end."""
    positions = b.cast(indices, I64)
    type_ = tensor_of(positions)
    if _never_negative(indices):
        return positions
    negative = b.emit(LessThanOp, [positions, b.constant(0, type_)])
    return b.emit(SelectOp, [negative, b.emit(AddOp, [positions, dim_scalar(b, extent, type_)]), positions])


def _never_negative(value: SSAValue) -> bool:
    """Whether a value is an iota of non-negative terms seen through views: index grids need no correction."""
    while isinstance(value, OpResult) and isinstance(value.op, ViewOp):
        value = value.op.source
    if not isinstance(value, OpResult) or not isinstance(value.op, IotaOp):
        return False
    return all(coefficient >= 0 for expr in value.op.value.data.exprs for _, coefficient in expr.terms)


class Indexing:
    """x[i, :, j, ...] with index tensors on some dims: moved to the front, flattened, one position for each element
    picked."""

    def __init__(self, call: Call, x: SSAValue, indices: Sequence[SSAValue | None]):
        b = call.b
        given = [(axis, i) for axis, i in enumerate(indices) if i is not None]
        if any(tensor_of(i).dtype in MASKS for _, i in given):
            raise UnsupportedNodeError("indexes with a mask, whose number of results depends on data")
        self.axes = [axis for axis, _ in given]
        self.source = x
        dims = tensor_of(x).dims
        self.rest = [i for i in range(len(dims)) if i not in self.axes]
        self.order = [*self.axes, *self.rest]
        self.picked = broadcast_dims([tensor_of(i).dims for _, i in given])
        self.count = reduce(lambda p, q: p * q, (dims[a] for a in self.axes), constant(1))
        position: SSAValue | None = None
        for axis, value in given:
            places = wrapped(b, value, dims[axis])
            if len(given) > 1:
                places = checked(b, places, dims[axis], "index")
            wide = b.broadcast(places, self.picked)
            if position is None:
                position = wide
            else:
                scaled = b.emit(MulOp, [position, dim_scalar(b, dims[axis], tensor_of(wide))])
                position = b.emit(AddOp, [scaled, wide])
        assert position is not None
        self.positions = position

    def rows(self, b: GraphBuilder, x: SSAValue) -> SSAValue:
        """A tensor of the source's sizes as [indexed elements, rest...]."""
        dims = tensor_of(x).dims
        return b.reshape(b.permute(x, self.order), [self.count, *(dims[i] for i in self.rest)])

    def unrows(self, b: GraphBuilder, rows: SSAValue) -> SSAValue:
        """The inverse of `rows`."""
        dims = tensor_of(self.source).dims
        moved = b.reshape(rows, [dims[i] for i in self.order])
        return b.permute(moved, [self.order.index(i) for i in range(len(dims))])

    @property
    def adjacent_at(self) -> int:
        """Where the picked dims stand in the result: in place of the indexed dims if these are adjacent, else first."""
        adjacent = self.axes == list(range(self.axes[0], self.axes[0] + len(self.axes)))
        return self.axes[0] if adjacent else 0

    def placed(self, b: GraphBuilder, picked: SSAValue) -> SSAValue:
        """[picked..., rest...] with the picked dims at their place."""
        return b.permute(picked, self.result_order())

    def result_order(self) -> list[int]:
        """The dims of [picked..., rest...] in the order of the result."""
        count, at = len(self.picked), self.adjacent_at
        rest = list(range(count, count + len(self.rest)))
        return [*rest[:at], *range(count), *rest[at:]]


def broadcast_dims(shapes: Sequence[tuple[Expr, ...]]) -> tuple[Expr, ...]:
    """The sizes that shapes broadcast to."""
    rank = max(len(dims) for dims in shapes)
    padded = [(constant(1),) * (rank - len(dims)) + dims for dims in shapes]
    return tuple(next((d for d in column if d.as_int() != 1), constant(1)) for column in zip(*padded, strict=True))


def index_tensor(call: Call) -> SSAValue:
    """aten.index.Tensor with integer indices."""
    b = call.b
    x = call.tensor("self")
    indexing = Indexing(call, x, call.value("indices"))
    picked = gather(b, indexing.rows(b, x), indexing.positions, 0)
    return indexing.placed(b, picked)


def take(call: Call) -> SSAValue:
    """The elements of the flattened tensor at the indices."""
    x = flattened(call.b, call.tensor("self"))
    return gather(call.b, x, wrapped(call.b, call.tensor("index"), tensor_of(x).dims[0]), 0)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.embedding.default": embedding,
        "aten.index_select.default": index_select,
        "aten.gather.default": gather_along,
        "aten.index.Tensor": index_tensor,
        "aten._unsafe_index.Tensor": index_tensor,
        "aten.take.default": take,
    }
)
