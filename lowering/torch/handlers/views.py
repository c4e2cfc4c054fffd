"""Ops that only rearrange: every one is a hlir.view, whatever torch does about memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.hlir.index_map import IndexMap, identity
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, floordiv, index, maximum, minimum
from ..call import Call, Handler
from .signs import is_at_most, is_negative


def reshape(call: Call) -> SSAValue:
    """Row-major reshape to the sizes that torch worked out."""
    call.ignore("size", "shape")
    return call.b.reshape(call.tensor("self"), call.dims)


def flatten(call: Call) -> SSAValue:
    """A reshape that merges dimensions."""
    call.ignore("start_dim", "end_dim")
    return call.b.reshape(call.tensor("self"), call.dims)


def unflatten(call: Call) -> SSAValue:
    """A reshape that splits a dimension."""
    call.ignore("dim", "sizes")
    return call.b.reshape(call.tensor("self"), call.dims)


def permute(call: Call) -> SSAValue:
    """Result dim i is source dim dims[i]."""
    x = call.tensor("self")
    order = call.integers("dims")
    return call.b.permute(x, [d % len(order) for d in order])


def transpose(call: Call) -> SSAValue:
    """Two dims exchanged."""
    x = call.tensor("self")
    rank = tensor_of(x).rank
    order = list(range(rank))
    i, j = call.axis("dim0", rank), call.axis("dim1", rank)
    if rank:
        order[i], order[j] = order[j], order[i]
    return call.b.permute(x, order)


def transpose_matrix(call: Call) -> SSAValue:
    """The transpose of a matrix; a vector is itself."""
    x = call.tensor("self")
    return call.b.permute(x, list(reversed(range(tensor_of(x).rank))))


def expand(call: Call) -> SSAValue:
    """Broadcasting to the sizes that torch worked out."""
    call.ignore("size", "implicit")
    return call.b.broadcast(call.tensor("self"), call.dims)


def expand_as(call: Call) -> SSAValue:
    """Broadcasting to the sizes of other."""
    call.ignore("other")
    return call.b.broadcast(call.tensor("self"), call.dims)


def unsqueeze(call: Call) -> SSAValue:
    """A dim of extent 1 inserted."""
    call.ignore("dim")
    return call.b.reshape(call.tensor("self"), call.dims)


def squeeze(call: Call) -> SSAValue:
    """Dims of extent 1 dropped."""
    call.ignore("dim")
    return call.b.reshape(call.tensor("self"), call.dims)


def slice_view(call: Call, x: SSAValue, axis: int, start: Expr, step: int, length: Expr) -> SSAValue:
    """x[..., start : : step, ...] with `length` elements along the axis."""
    type_ = tensor_of(x)
    exprs = list(identity(type_.rank).exprs)
    exprs[axis] = start + index(axis) * step
    dims = [length if i == axis else d for i, d in enumerate(type_.dims)]
    return call.b.view(x, IndexMap(type_.rank, tuple(exprs)), dims)


def clamped_start(call: Call, value: Expr, extent: Expr) -> Expr:
    """Python's start of a slice: negative counts from the end, then it is limited to [0, extent]."""
    if is_negative(call, value):
        value = maximum(value + extent, constant(0))
    return value if is_at_most(call, value, extent) else minimum(value, extent)


def slice_along(call: Call) -> SSAValue:
    """self[start:end:step] along one dim. The length is the one torch worked out."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    axis, step = call.axis("dim", type_.rank), call.integer("step")
    start = constant(0) if call.raw("start") is None else call.expression("start")
    call.ignore("end")
    start = clamped_start(call, start, type_.dims[axis])
    return slice_view(call, x, axis, start, step, call.dims[axis])


def select(call: Call) -> SSAValue:
    """self[index] along one dim, which vanishes."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    axis = call.axis("dim", type_.rank)
    position = call.expression("index")
    if is_negative(call, position):
        position = position + type_.dims[axis]
    kept = [i for i in range(type_.rank) if i != axis]
    exprs = [position if i == axis else index(kept.index(i)) for i in range(type_.rank)]
    return call.b.view(x, IndexMap(len(kept), tuple(exprs)), [type_.dims[i] for i in kept])


def narrow(call: Call) -> SSAValue:
    """`length` elements from `start` along one dim."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    axis = call.axis("dim", type_.rank)
    start = clamped_start(call, call.expression("start"), type_.dims[axis])
    call.ignore("length")
    return slice_view(call, x, axis, start, 1, call.dims[axis])


def pieces(call: Call) -> list[SSAValue]:
    """self cut along one dim into pieces of the lengths that torch worked out: split, split_with_sizes, chunk,
    unsafe_split."""
    x = call.tensor("self")
    axis = call.axis("dim", tensor_of(x).rank)
    call.ignore("split_size", "split_sizes", "chunks")
    parts: list[SSAValue] = []
    start: Expr = constant(0)
    for number in range(call.result_count):
        length = call.fake(number).dims[axis]
        parts.append(slice_view(call, x, axis, start, 1, length))
        start = start + length
    return parts


def unbind(call: Call) -> list[SSAValue]:
    """Every slice along one dim, which vanishes."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    axis = call.axis("dim", type_.rank)
    kept = [i for i in range(type_.rank) if i != axis]
    parts: list[SSAValue] = []
    for number in range(call.result_count):
        exprs = [constant(number) if i == axis else index(kept.index(i)) for i in range(type_.rank)]
        parts.append(call.b.view(x, IndexMap(len(kept), tuple(exprs)), [type_.dims[i] for i in kept]))
    return parts


def flip(call: Call) -> SSAValue:
    """Dims reversed."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    axes = call.axes("dims", type_.rank) if call.value("dims") else []
    exprs = [d - 1 - index(i) if i in axes else index(i) for i, d in enumerate(type_.dims)]
    return call.b.view(x, IndexMap(type_.rank, tuple(exprs)), type_.dims)


def roll(call: Call) -> SSAValue:
    """Elements moved along dims, those that fall off coming back at the other end."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    shifts, axes = call.integers("shifts"), call.integers("dims")
    if not axes:
        flat = call.b.reshape(x, [reduce(lambda a, b: a * b, type_.dims, constant(1))])
        return call.b.reshape(_rolled(call, flat, [(0, shifts[0])]), type_.dims)
    return _rolled(call, x, [(a % type_.rank, s) for a, s in zip(axes, shifts, strict=True)])


def _rolled(call: Call, x: SSAValue, moves: Sequence[tuple[int, int]]) -> SSAValue:
    type_ = tensor_of(x)
    exprs = list(identity(type_.rank).exprs)
    for axis, shift in moves:
        extent = type_.dims[axis]
        position = exprs[axis] - shift
        exprs[axis] = position - extent * floordiv(position, extent) if extent.as_int() != 0 else position
    return call.b.view(x, IndexMap(type_.rank, tuple(exprs)), type_.dims)


def repeat(call: Call) -> SSAValue:
    """Copies of self side by side."""
    call.ignore("repeats", "dims")
    x = call.tensor("self")
    type_, dims = tensor_of(x), call.dims
    shift = len(dims) - type_.rank
    exprs: list[Expr] = []
    for i, extent in enumerate(type_.dims):
        position = index(i + shift)
        whole = extent == dims[i + shift] or extent.as_int() == 0
        exprs.append(position if whole else position - extent * floordiv(position, extent))
    return call.b.view(x, IndexMap(len(dims), tuple(exprs)), dims)


def unfold(call: Call) -> SSAValue:
    """Windows of `size` along a dim every `step`; the window is the last dim of the result."""
    x = call.tensor("self")
    rank = tensor_of(x).rank
    axis, step = call.axis("dimension", rank), call.integer("step")
    call.ignore("size")
    exprs = [index(i) * step + index(rank) if i == axis else index(i) for i in range(rank)]
    if not rank:
        return call.b.reshape(x, call.dims)
    return call.b.view(x, IndexMap(rank + 1, tuple(exprs)), call.dims)


def diagonal(call: Call) -> SSAValue:
    """The elements with dim2 - dim1 = offset, as the last dim of the result."""
    x = call.tensor("self")
    rank = tensor_of(x).rank
    first, second, offset = call.axis("dim1", rank), call.axis("dim2", rank), call.integer("offset")
    kept = [i for i in range(rank) if i not in (first, second)]
    last = index(len(kept))
    special = {first: last + max(-offset, 0), second: last + max(offset, 0)}
    exprs = [special.get(i) or index(kept.index(i)) for i in range(rank)]
    return call.b.view(x, IndexMap(len(kept) + 1, tuple(exprs)), call.dims)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.view.default": reshape,
        "aten._unsafe_view.default": reshape,
        "aten.reshape.default": reshape,
        "aten._reshape_alias.default": reshape,
        "aten.flatten.using_ints": flatten,
        "aten.unflatten.int": unflatten,
        "aten.permute.default": permute,
        "aten.transpose.int": transpose,
        "aten.t.default": transpose_matrix,
        "aten.numpy_T.default": transpose_matrix,
        "aten.expand.default": expand,
        "aten.expand_as.default": expand_as,
        "aten.unsqueeze.default": unsqueeze,
        "aten.squeeze.default": squeeze,
        "aten.squeeze.dim": squeeze,
        "aten.squeeze.dims": squeeze,
        "aten.slice.Tensor": slice_along,
        "aten.select.int": select,
        "aten.narrow.default": narrow,
        "aten.split.Tensor": pieces,
        "aten.split_with_sizes.default": pieces,
        "aten.unsafe_split.Tensor": pieces,
        "aten.chunk.default": pieces,
        "aten.unsafe_chunk.default": pieces,
        "aten.unbind.int": unbind,
        "aten.flip.default": flip,
        "aten.roll.default": roll,
        "aten.repeat.default": repeat,
        "aten.tile.default": repeat,
        "aten.unfold.default": unfold,
        "aten.diagonal.default": diagonal,
        **{
            f"aten.{copied}": handler
            for copied, handler in (
                ("view_copy.default", reshape),
                ("permute_copy.default", permute),
                ("transpose_copy.int", transpose),
                ("t_copy.default", transpose_matrix),
                ("expand_copy.default", expand),
                ("unsqueeze_copy.default", unsqueeze),
                ("squeeze_copy.default", squeeze),
                ("squeeze_copy.dim", squeeze),
                ("squeeze_copy.dims", squeeze),
                ("slice_copy.Tensor", slice_along),
                ("select_copy.int", select),
                ("narrow_copy.default", narrow),
                ("split_copy.Tensor", pieces),
                ("split_with_sizes_copy.default", pieces),
                ("unbind_copy.int", unbind),
                ("unfold_copy.default", unfold),
                ("diagonal_copy.default", diagonal),
            )
        },
    }
)
