"""What masks choose, where the number of results does not depend on data: writing where a mask holds, and places of
nonzero elements in a table of known length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, StringAttr, i64
from xdsl.ir import SSAValue

from ....dialects.dtype import I1, I64
from ....dialects.hlir.arithmetic import SubOp
from ....dialects.hlir.arranging import ConcatOp
from ....dialects.hlir.bitwise import BitOrOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.comparison import MinimumOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import AddOp, FloorDivOp, LessThanOp, MulOp
from ....dialects.hlir.index_map import IndexMap, row_major_strides
from ....dialects.hlir.ordering import ScanOp
from ....dialects.hlir.reduction import SumOp
from ....dialects.hlir.types import MapAttr, ShapeAttr, TensorType, tensor_type
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, index
from ..call import Call, Handler
from ..unsupported import UnsupportedNodeError
from .indexing import MASKS, as_vector, checked, flattened, gather, is_empty
from .reducing_scatters import scatter_slices


def running_count(b: GraphBuilder, counts: SSAValue) -> SSAValue:
    """The inclusive prefix sums of a vector, as i64."""
    return b.emit(ScanOp, [b.cast(counts, I64)], axis=IntAttr(0), combine=StringAttr("add"))


def total_of(b: GraphBuilder, counts: SSAValue) -> SSAValue:
    """The sum of a vector, as a 0-d i64."""
    return b.emit(SumOp, [b.cast(counts, I64)], axes=DenseArrayBase.from_list(i64, [0]))


def chosen_places(b: GraphBuilder, mask: SSAValue) -> SSAValue:
    """For each element where the mask holds its number among these, in row-major order; 0 elsewhere."""
    flat = flattened(b, mask)
    before = b.emit(SubOp, [running_count(b, flat), b.constant(1, tensor_of(flat).with_dtype(I64))])
    zero = b.constant(0, tensor_of(before))
    return b.reshape(b.emit(SelectOp, [flat, before, zero]), tensor_of(mask).dims)


def masked_scatter(call: Call) -> SSAValue:
    """self with the elements of source, one after another, where the mask holds."""
    b = call.b
    x = b.broadcast(call.tensor("self"), call.dims)
    mask = call.tensor("mask")
    if not tensor_of(mask).dtype.is_bool:
        raise UnsupportedNodeError(f"has a mask of {tensor_of(mask).dtype.name}, expected booleans")
    mask = b.broadcast(mask, call.dims)
    source = flattened(b, b.cast(call.tensor("source"), call.dtype))
    if is_empty(x):
        return x
    if is_empty(source):
        raise UnsupportedNodeError("takes elements from an empty source")
    places = checked(b, chosen_places(b, mask), tensor_of(source).dims[0])
    return b.emit(SelectOp, [mask, gather(b, source, places, 0), x])


def put_where(call: Call, x: SSAValue, indices: Sequence[SSAValue | None]) -> SSAValue:
    """index_put with one mask: one value for all elements chosen, or as many as there are, which the run checks."""
    b = call.b
    given = [(axis, i) for axis, i in enumerate(indices) if i is not None]
    if len(given) != 1 or tensor_of(given[0][1]).dtype not in MASKS:
        raise UnsupportedNodeError("indexes with a mask and other tensors, whose number of elements depends on data")
    (axis, mask), type_ = given[0], tensor_of(x)
    mask = b.cast(mask, I1)
    rank = tensor_of(mask).rank
    rest = type_.rank - axis - rank
    values = b.cast(call.tensor("values"), type_.dtype)
    given_dims = tensor_of(values).dims
    dims = (*(constant(1),) * (axis + 1 + rest - len(given_dims)), *given_dims)
    wide = b.reshape(values, dims)
    accumulate = call.flag("accumulate")
    if is_empty(x):
        return x
    chosen = b.view(mask, IndexMap(type_.rank, tuple(index(axis + i) for i in range(rank))), type_.dims)
    if dims[axis].as_int() == 1:
        spread = (*dims[:axis], *(constant(1),) * rank, *dims[axis + 1 :])
        updates = b.broadcast(b.reshape(wide, spread), type_.dims)
    else:
        wide = b.broadcast(wide, (*type_.dims[:axis], dims[axis], *type_.dims[axis + rank :]))
        updates = gather(b, wide, _numbered(b, mask, dims[axis]), axis)
    if accumulate:
        updates = b.emit(BitOrOp if type_.dtype.is_bool else AddOp, [x, updates])
    return b.emit(SelectOp, [chosen, updates, x])


def _numbered(b: GraphBuilder, mask: SSAValue, count: Expr) -> SSAValue:
    """`chosen_places`, with a RuntimeError unless the mask holds at exactly `count` places."""
    places = chosen_places(b, mask)
    missing = b.emit(SubOp, [total_of(b, flattened(b, mask)), _number(b, count)])
    none = checked(b, missing, constant(1))
    return b.emit(AddOp, [places, b.broadcast(none, tensor_of(places).dims)])


def _number(b: GraphBuilder, value: Expr) -> SSAValue:
    shape = ShapeAttr.get([])
    return b.emit(IotaOp, [], value=MapAttr(IndexMap(0, (value,))), shape=shape, dtype=I64.attr)


def positions(b: GraphBuilder, type_: TensorType) -> SSAValue:
    """The index of each element of a vector."""
    return b.emit(IotaOp, [], value=MapAttr(IndexMap(1, (index(0),))), shape=type_.shape, dtype=I64.attr)


def nonzero_static(call: Call) -> SSAValue:
    """The indices of the first `size` nonzero elements, one row each; rows beyond the last are `fill_value`."""
    b = call.b
    x = as_vector(b, call.tensor("self"))
    dims, size = tensor_of(x).dims, call.dims[0]
    call.ignore("size")
    fill = b.constant(call.integer("fill_value"), call.type)
    if is_empty(fill) or is_empty(x):
        return fill
    mask = flattened(b, b.cast(x, I1))
    numbers = positions(b, tensor_of(mask))
    limit = b.broadcast(_number(b, size), tensor_of(mask).dims)
    place = b.emit(MinimumOp, [chosen_places(b, mask), limit])
    place = b.emit(SelectOp, [mask, place, limit])
    table = b.constant(0, tensor_type([size + 1], I64))
    found = scatter_slices(b, table, place, numbers, 0, "set")
    kept = b.view(found, IndexMap(2, (index(0),)), call.dims)
    columns = [_number_column(b, stride, size) for stride in row_major_strides(dims)]
    parts = [_coordinate(b, kept, columns[i], dims[i], size) for i in range(len(dims))]
    rows = _stacked(b, parts, size)
    valid = b.emit(LessThanOp, [positions(b, tensor_type([size], I64)), b.broadcast(total_of(b, mask), [size])])
    valid = b.view(valid, IndexMap(2, (index(0),)), call.dims)
    return b.emit(SelectOp, [valid, rows, fill])


def _number_column(b: GraphBuilder, value: Expr, size: Expr) -> SSAValue:
    return b.broadcast(_number(b, value), [size])


def _coordinate(b: GraphBuilder, kept: SSAValue, stride: SSAValue, extent: Expr, size: Expr) -> SSAValue:
    """One coordinate of each flat position: floor(position / stride) modulo the extent."""
    flat = b.view(kept, IndexMap(1, (index(0), constant(0))), [size])
    whole = b.emit(FloorDivOp, [flat, stride])
    limit = _number_column(b, extent, size)
    turns = b.emit(MulOp, [b.emit(FloorDivOp, [whole, limit]), limit])
    return b.emit(SubOp, [whole, turns])


def _stacked(b: GraphBuilder, columns: Sequence[SSAValue], size: Expr) -> SSAValue:
    """Vectors as the columns of a matrix."""
    return b.emit(ConcatOp, [b.reshape(c, [size, constant(1)]) for c in columns], axis=IntAttr(1))


def repeat_numbers(call: Call) -> SSAValue:
    """repeat_interleave of a vector of counts: number i stands counts[i] times, `output_size` numbers in all."""
    b = call.b
    if call.raw("output_size") is None:
        raise UnsupportedNodeError("makes a tensor whose size depends on data; pass output_size")
    (size,) = call.dims
    counts = checked(b, call.tensor("repeats"), constant(2**63 - 1))
    if is_empty(counts) or size.as_int() == 0:
        return b.constant(0, call.type)
    ends = running_count(b, counts)
    limit = b.broadcast(_number(b, size), tensor_of(ends).dims)
    ends = b.emit(MinimumOp, [ends, limit])
    marks = b.constant(0, tensor_type([size + 1], I64))
    marks = scatter_slices(b, marks, ends, b.constant(1, tensor_of(ends)), 0, "add")
    numbers = b.view(running_count(b, marks), IndexMap(1, (index(0),)), [size])
    missing = b.emit(SubOp, [total_of(b, counts), _number(b, size)])
    numbers = b.emit(AddOp, [numbers, b.broadcast(checked(b, missing, constant(1)), [size])])
    return b.cast(numbers, call.dtype)


def refuse(call: Call) -> SSAValue:
    """Ops whose number of results depends on data."""
    raise UnsupportedNodeError("makes a tensor whose size depends on data")


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.masked_scatter.default": masked_scatter,
        "aten.nonzero_static.default": nonzero_static,
        "aten.repeat_interleave.Tensor": repeat_numbers,
        "aten.masked_select.default": refuse,
        "aten.nonzero.default": refuse,
    }
)
