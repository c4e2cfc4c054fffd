"""Writing at computed positions, as new values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import I64
from ....dialects.hlir.arranging import ConcatOp
from ....dialects.hlir.bitwise import BitAndOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import MulOp
from ....dialects.hlir.types import MapAttr, ShapeAttr, TensorType, tensor_type
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, index
from ..call import Call, Handler, Operand
from ..promotion import number_tensor
from ..unsupported import UnsupportedNodeError
from .indexing import MASKS, Indexing, as_vector, checked, element_positions, flattened, is_empty, wrapped
from .masked import put_where
from .reducing_scatters import reduce_into, scatter_slices
from .signs import is_negative
from .views import clamped_start, slice_view

_REDUCTIONS = {"add": "sum", "multiply": "prod"}


def scatter(mode: str | None) -> Handler:
    """aten.scatter and its kin: each element of the index says where along the dim its source element goes."""

    def handler(call: Call) -> SSAValue:
        b = call.b
        x, indices = as_vector(b, call.tensor("self")), as_vector(b, call.tensor("index"))
        type_ = tensor_of(x)
        axis = call.axis("dim", type_.rank)
        reduction = "" if mode else str(call.value("reduce"))
        include_self = call.flag("include_self") if "include_self" in call.argument_names else True
        source = call.operand("value" if "value" in call.argument_names else "src")
        if is_empty(indices):
            return call.tensor("self")
        updates = flattened(b, _corner(call, source, tensor_of(indices).with_dtype(type_.dtype)))
        places = flattened(b, element_positions(b, indices, type_.dims, axis))
        flat = flattened(b, x)
        if mode:
            flat = scatter_slices(b, flat, places, updates, 0, mode)
        else:
            flat = reduce_into(b, flat, places, updates, 0, _REDUCTIONS.get(reduction, reduction), include_self)
        return b.reshape(flat, call.dims)

    return handler


def _corner(call: Call, source: Operand, wanted: TensorType) -> SSAValue:
    """What is written at each index: a number everywhere, or the corner of the source that the index covers."""
    if not isinstance(source, SSAValue):
        return number_tensor(call, source, wanted)
    if not tensor_of(source).rank:
        return call.b.broadcast(call.b.cast(source, wanted.dtype), wanted.dims)
    for i, extent in enumerate(wanted.dims):
        source = slice_view(call, source, i, constant(0), 1, extent)
    return source


def index_put(call: Call) -> SSAValue:
    """self with values at integer indices, added to what is there or put in its place."""
    b = call.b
    call.ignore("unsafe")
    x = call.tensor("self")
    given = call.value("indices")
    if any(i is not None and tensor_of(i).dtype in MASKS for i in given):
        return put_where(call, x, given)
    indexing = Indexing(call, x, given)
    values = b.cast(call.tensor("values"), tensor_of(x).dtype)
    picked_dims = (*indexing.picked, *(tensor_of(x).dims[i] for i in indexing.rest))
    order = indexing.result_order()
    values = b.broadcast(values, [picked_dims[i] for i in order])
    updates = b.permute(values, [order.index(i) for i in range(len(order))])
    mode = "add" if call.flag("accumulate") else "set"
    return indexing.unrows(b, scatter_slices(b, indexing.rows(b, x), indexing.positions, updates, 0, mode))


def _places(call: Call, extent: Expr) -> SSAValue:
    """The indices of index_add (RuntimeError out of range), index_copy (IndexError) or index_fill (may be negative)."""
    indices = as_vector(call.b, call.tensor("index"))
    if call.name.startswith("aten.index_fill"):
        return wrapped(call.b, indices, extent)
    return checked(call.b, indices, extent) if call.name.startswith("aten.index_add") else call.b.cast(indices, I64)


def index_write(mode: str, source: str) -> Handler:
    """index_add, index_copy and index_fill: whole slices along one dim at a vector of indices."""

    def handler(call: Call) -> SSAValue:
        b = call.b
        x = as_vector(b, call.tensor("self"))
        type_ = tensor_of(x)
        axis = call.axis("dim", type_.rank)
        indices = _places(call, type_.dims[axis])
        dims = (*type_.dims[:axis], tensor_of(indices).dims[0], *type_.dims[axis + 1 :])
        given = call.operand(source)
        updates = given if isinstance(given, SSAValue) else number_tensor(call, given, type_.with_dims(dims))
        updates = b.cast(updates, type_.dtype)
        updates = b.broadcast(updates, dims) if source == "value" else _slices(b, updates, dims)
        alpha = call.number("alpha") if "alpha" in call.argument_names else 1
        if alpha != 1:
            times = BitAndOp if type_.dtype.is_bool else MulOp
            updates = b.emit(times, [updates, number_tensor(call, alpha, tensor_of(updates))])
        return b.reshape(scatter_slices(b, x, indices, updates, axis, mode), call.dims)

    return handler


def _slices(b: GraphBuilder, source: SSAValue, dims: tuple[Expr, ...]) -> SSAValue:
    """The source, which has these sizes; a single number may have fewer dims."""
    found = tensor_of(source).dims
    if len(found) != len(dims) and all(extent.as_int() == 1 for extent in (*found, *dims)):
        return b.reshape(source, dims)
    if found != dims:
        sizes = [" x ".join(map(str, each)) for each in (dims, found)]
        raise UnsupportedNodeError(f"has slices of sizes {sizes[1] or 'one number'}, expected {sizes[0]}")
    return source


def put(call: Call) -> SSAValue:
    """self with the elements of source at positions of the flattened tensor, added to what is there or in its place."""
    b = call.b
    x = call.tensor("self")
    flat = flattened(b, x)
    places = flattened(b, wrapped(b, call.tensor("index"), tensor_of(flat).dims[0]))
    source = flattened(b, b.cast(call.tensor("source"), tensor_of(x).dtype))
    mode = "add" if call.flag("accumulate") else "set"
    return b.reshape(scatter_slices(b, flat, places, source, 0, mode), tensor_of(x).dims)


def slice_scatter(call: Call) -> SSAValue:
    """self with src in place of self[start:end:step] along one dim."""
    b = call.b
    x, src = call.tensor("self"), call.tensor("src")
    type_ = tensor_of(x)
    axis, step = call.axis("dim", type_.rank), call.integer("step")
    call.ignore("end")
    start = constant(0) if call.raw("start") is None else call.expression("start")
    start = clamped_start(call, start, type_.dims[axis])
    src = b.cast(src, type_.dtype)
    length = tensor_of(src).dims[axis]
    if step == 1:
        before = slice_view(call, x, axis, constant(0), 1, start)
        after = slice_view(call, x, axis, start + length, 1, type_.dims[axis] - start - length)
        parts = [p for p in (before, src, after) if tensor_of(p).dims[axis].as_int() != 0]
        return b.emit(ConcatOp, parts, axis=IntAttr(axis)) if parts else x
    shape = ShapeAttr.get([length])
    places = b.emit(IotaOp, [], value=MapAttr.get(1, [start + index(0) * step]), shape=shape, dtype=I64.attr)
    return scatter_slices(b, x, places, src, axis, "set")


def select_scatter(call: Call) -> SSAValue:
    """self with src in place of self[index] along one dim."""
    b = call.b
    x, src = call.tensor("self"), call.tensor("src")
    type_ = tensor_of(x)
    axis, start = call.axis("dim", type_.rank), call.expression("index")
    if is_negative(call, start):
        start = start + type_.dims[axis]
    piece = b.reshape(b.cast(src, type_.dtype), [constant(1) if i == axis else d for i, d in enumerate(type_.dims)])
    before = slice_view(call, x, axis, constant(0), 1, start)
    after = slice_view(call, x, axis, start + 1, 1, type_.dims[axis] - start - 1)
    parts = [p for p in (before, piece, after) if tensor_of(p).dims[axis].as_int() != 0]
    return b.emit(ConcatOp, parts, axis=IntAttr(axis))


def embedding_gradient(call: Call) -> SSAValue:
    """The rows of grad_output added up at their indices; the row of padding_idx stays 0."""
    from ....dialects.hlir.comparison import NotEqualOp
    from ....dialects.hlir.conversion import SelectOp

    b = call.b
    call.require("scale_grad_by_freq", False)
    grad, indices = call.tensor("grad_output"), call.tensor("indices")
    call.ignore("num_weights")
    type_ = call.type
    padding = call.integer("padding_idx")
    flat = flattened(b, b.cast(indices, I64))
    rows = b.reshape(grad, [*tensor_of(flat).dims, type_.dims[1]])
    if padding >= 0:
        used = b.emit(NotEqualOp, [flat, b.constant(padding, tensor_of(flat))])
        used = b.view(used, MapAttr.get(2, [index(0)]).data, tensor_of(rows).dims)
        rows = b.emit(SelectOp, [used, rows, b.constant(0, tensor_of(rows))])
    zeros = b.constant(0, tensor_type(type_.dims, type_.dtype))
    return scatter_slices(b, zeros, flat, rows, 0, "add")


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.scatter.src": scatter("set"),
        "aten.scatter.value": scatter("set"),
        "aten.scatter.reduce": scatter(None),
        "aten.scatter.value_reduce": scatter(None),
        "aten.scatter_add.default": scatter("add"),
        "aten.scatter_reduce.two": scatter(None),
        "aten.index_put.default": index_put,
        "aten._unsafe_index_put.default": index_put,
        "aten._index_put_impl.default": index_put,
        "aten.put.default": put,
        "aten.index_add.default": index_write("add", "source"),
        "aten.index_copy.default": index_write("set", "source"),
        "aten.index_fill.int_Scalar": index_write("set", "value"),
        "aten.index_fill.int_Tensor": index_write("set", "value"),
        "aten.slice_scatter.default": slice_scatter,
        "aten.select_scatter.default": select_scatter,
        "aten.embedding_dense_backward.default": embedding_gradient,
    }
)
