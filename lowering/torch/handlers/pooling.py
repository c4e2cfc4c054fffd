"""Pooling over sliding windows and over the cells of adaptive pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import I64
from ....dialects.hlir.arithmetic import TruncDivOp
from ....dialects.hlir.arranging import PadOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.comparison import IsNanOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.convolution import MaxPoolOp, ints_attr
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import DivOp, EqualOp, LessThanOp
from ....dialects.hlir.index_map import IndexMap, row_major_strides
from ....dialects.hlir.normalization import dim_scalar
from ....dialects.hlir.reduction import MaxOp, MinOp, SumOp
from ....dialects.hlir.types import MapAttr, ScalarAttr, ShapeAttr, axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, ceildiv, constant, floordiv, index, maximum, minimum
from ..call import Call, Handler
from .convolution_gradients import per_dim

BEYOND = 1 << 62
"""The place of a tap that lies outside the input: larger than every real one."""


def spatial_rank(call: Call) -> int:
    """The digit in the overload's name: 2 of max_pool2d."""
    return int(call.name.split("pool")[1][0])


def batched(call: Call, x: SSAValue) -> SSAValue:
    """x as [n, c, ...]."""
    type_ = tensor_of(x)
    return x if type_.rank == spatial_rank(call) + 2 else call.b.reshape(x, [1, *type_.dims])


def filled(b: GraphBuilder, x: SSAValue, low: Sequence[int], high: Sequence[int], filler: float) -> SSAValue:
    """x with `filler` before and after each dim from 2 on."""
    if not any((*low, *high)):
        return x
    amounts = (ShapeAttr.get((0, 0, *side)) for side in (low, high))
    value = ScalarAttr.get(filler, tensor_of(x).dtype)
    return b.emit(PadOp, [x], **dict(zip(("low", "high"), amounts, strict=True)), value=value)


class Windows:
    """The sliding windows of a call on x[n, c, ...]: tap k of window w is element w stride + k dilation - padding."""

    def __init__(self, call: Call, dims: Sequence[Expr]):
        self.spatial = spatial = len(dims) - 2
        self.dims = tuple(dims)
        self.outputs = call.fake(0).dims[-spatial:]
        self.kernel = per_dim(call.integers("kernel_size"), spatial)
        self.stride = per_dim(call.integers("stride") or self.kernel, spatial)
        self.padding = per_dim(call.integers("padding"), spatial)
        dilated = "dilation" in call.argument_names
        self.dilation = per_dim(call.integers("dilation"), spatial) if dilated else [1] * spatial
        self.partial = call.flag("ceil_mode")

    @property
    def extents(self) -> tuple[Expr | int, ...]:
        """The number of taps in each dim."""
        return tuple(self.kernel)

    @property
    def beyond(self) -> list[int]:
        """How far windows may reach past the input; with ceil_mode, the last one only starts inside."""
        return [p + s - 1 if self.partial else p for p, s in zip(self.padding, self.stride, strict=True)]

    def read(self, b: GraphBuilder, x: SSAValue, filler: float) -> SSAValue:
        """[n, c, windows..., taps...] of x, with `filler` outside it."""
        taps = 2 + self.spatial
        places = (index(2 + i) * self.stride[i] + index(taps + i) * self.dilation[i] for i in range(self.spatial))
        index_map = IndexMap(taps + self.spatial, (index(0), index(1), *places))
        wide = filled(b, x, self.padding, self.beyond, filler)
        return b.view(wide, index_map, [*self.dims[:2], *self.outputs, *self.kernel])

    def sizes(self, include_padding: bool) -> list[Expr]:
        """How many elements each window has in each dim, of the input and, if asked, its padding."""
        found: list[Expr] = []
        for i in range(self.spatial):
            start = index(2 + i) * self.stride[i] - self.padding[i]
            end = start + self.kernel[i]
            extent, padding = self.dims[2 + i], self.padding[i]
            if include_padding:
                found.append(minimum(end, extent + padding) - start if self.partial else constant(self.kernel[i]))
            elif padding or self.partial:
                found.append(minimum(end, extent) - maximum(start, 0))
            else:
                found.append(constant(self.kernel[i]))
        return found


class Cells:
    """The cells of adaptive pooling of x[n, c, ...]: cell w of m over an extent e is floor(w e / m) up to, without,
    ceil((w + 1) e / m)."""

    def __init__(self, call: Call, dims: Sequence[Expr]):
        self.spatial = spatial = len(dims) - 2
        self.dims = tuple(dims)
        self.outputs = call.fake(0).dims[-spatial:]
        wanted = [d.as_int() or 0 for d in self.outputs]
        self.starts = [floordiv(index(2 + i) * dims[2 + i], m or 1) for i, m in enumerate(wanted)]
        ends = [ceildiv((index(2 + i) + 1) * dims[2 + i], m or 1) for i, m in enumerate(wanted)]
        self.lengths = [end - start for start, end in zip(self.starts, ends, strict=True)]
        self.extents = tuple(_largest_cell(extent, m) for extent, m in zip(dims[2:], wanted, strict=True))

    @property
    def even(self) -> list[bool]:
        """Whether all cells are of one size, in each dim."""
        return [
            length.as_int() is not None or length == e for length, e in zip(self.lengths, self.extents, strict=True)
        ]

    def read(self, b: GraphBuilder, x: SSAValue, filler: float) -> SSAValue:
        """[n, c, cells..., elements...] of x, with `filler` where a cell is smaller than the largest."""
        first, rank = 2 + self.spatial, 2 + 2 * self.spatial
        uneven = [not even for even in self.even]
        high = [1 if grows else 0 for grows in uneven]  # a cell lacks at most one element of the largest
        places = (start + index(first + i) for i, start in enumerate(self.starts))
        shape = [*self.dims[:2], *self.outputs, *self.extents]
        wide = filled(b, x, [0] * self.spatial, high, filler)
        taps = b.view(wide, IndexMap(rank, (index(0), index(1), *places)), shape)
        for i, grows in enumerate(uneven):
            if grows:
                inside = _below(b, index(first + i), self.lengths[i], shape)
                taps = b.emit(SelectOp, [inside, taps, b.constant(filler, tensor_of(taps))])
        return taps

    def sizes(self) -> list[Expr]:
        """How many elements each cell has in each dim."""
        return self.lengths


def _largest_cell(extent: Expr, cells: int) -> Expr:
    known = extent.as_int()
    if known is None:
        return ceildiv(extent, cells) if cells == 1 else ceildiv(extent, cells) + 1
    ends = ((-((w + 1) * known // -cells), w * known // cells) for w in range(cells))
    return constant(max((end - start for end, start in ends), default=0))


def _below(b: GraphBuilder, left: Expr, right: Expr, shape: Sequence[Expr]) -> SSAValue:
    dims = ShapeAttr.get(shape)
    sides = [b.emit(IotaOp, [], value=MapAttr.get(dims.rank, [e]), shape=dims, dtype=I64.attr) for e in (left, right)]
    return b.emit(LessThanOp, sides)


def maxima(b: GraphBuilder, x: SSAValue, windows: Windows | Cells) -> SSAValue:
    """The largest element of each window; NaN if any is."""
    axes = range(2 + windows.spatial, 2 + 2 * windows.spatial)
    return b.emit(MaxOp, [windows.read(b, x, MaxOp.identity(tensor_of(x).dtype))], axes=axes_attr(axes))


def places(b: GraphBuilder, x: SSAValue, windows: Windows | Cells) -> SSAValue:
    """Where each maximum lies in the flattened spatial dims of x: the first of several, the last of several NaN."""
    type_ = tensor_of(x)
    taps = windows.read(b, x, MaxOp.identity(type_.dtype))
    axes = list(range(2 + windows.spatial, 2 + 2 * windows.spatial))
    strides = row_major_strides(type_.dims[2:])
    place = reduce(lambda p, q: p + q, (index(2 + i) * s for i, s in enumerate(strides)), constant(0))
    table = b.emit(IotaOp, [], value=MapAttr(IndexMap(type_.rank, (place,))), shape=type_.shape, dtype=I64.attr)
    where = windows.read(b, table, BEYOND)
    top = b.restore_axes(b.emit(MaxOp, [taps], axes=axes_attr(axes)), axes, tensor_of(taps).dims)
    best = b.emit(SelectOp, [b.emit(EqualOp, [taps, top]), where, b.constant(BEYOND, tensor_of(where))])
    first = b.emit(MinOp, [best], axes=axes_attr(axes))
    if not type_.dtype.is_float:
        return first
    missing = b.emit(SelectOp, [b.emit(IsNanOp, [taps]), where, b.constant(-1, tensor_of(where))])
    last = b.emit(MaxOp, [missing], axes=axes_attr(axes))
    return b.emit(SelectOp, [b.emit(LessThanOp, [last, b.constant(0, tensor_of(last))]), first, last])


def _with_places(
    call: Call, x: SSAValue, windows: Windows | Cells, values: SSAValue
) -> SSAValue | list[SSAValue | None]:
    b = call.b
    values = b.reshape(values, call.fake(0).dims)
    if call.result_count == 1:
        return values
    return [values, b.reshape(places(b, x, windows), call.fake(1).dims) if call.is_read(1) else None]


def max_pool(call: Call) -> SSAValue | list[SSAValue | None]:
    """Max pooling; with_indices also gives the place of each maximum in the flattened spatial dims of the input."""
    b = call.b
    x = batched(call, call.tensor("self"))
    windows = Windows(call, tensor_of(x).dims)
    padding = [0] * windows.spatial if windows.partial else windows.padding
    lowest = MaxOp.identity(tensor_of(x).dtype)
    wide = filled(b, x, windows.padding, windows.beyond, lowest) if windows.partial else x
    settings = (windows.kernel, windows.stride, padding, windows.dilation)
    names = ("kernel", "stride", "padding", "dilation")
    y = b.emit(MaxPoolOp, [wide], **{name: ints_attr(value) for name, value in zip(names, settings, strict=True)})
    # The last window of the padded input may start outside the input: it does not count.
    identity = IndexMap(tensor_of(y).rank, tuple(index(i) for i in range(tensor_of(y).rank)))
    y = b.view(y, identity, [*tensor_of(y).dims[:2], *windows.outputs])
    return _with_places(call, x, windows, y)


def adaptive_max_pool(call: Call) -> list[SSAValue | None]:
    """The maximum of each cell, and its place in the flattened spatial dims of the input."""
    call.ignore("output_size")
    x = batched(call, call.tensor("self"))
    cells = Cells(call, tensor_of(x).dims)
    results = _with_places(call, x, cells, maxima(call.b, x, cells))
    assert isinstance(results, list)
    return results


def _quotient(call: Call, total: SSAValue, sizes: Sequence[Expr], divisor: int | None) -> SSAValue:
    """total / the product of the sizes, which are expressions of its indices; integers are cut towards 0."""
    b = call.b
    type_ = tensor_of(total)
    count = constant(divisor) if divisor is not None else reduce(lambda p, q: p * q, sizes, constant(1))
    varies = divisor is None and any(e.as_int() is None for e in sizes)
    if varies:
        value = MapAttr(IndexMap(type_.rank, (count,)))
        below = b.emit(IotaOp, [], value=value, shape=type_.shape, dtype=type_.element)
    else:
        below = dim_scalar(b, count, type_)
    y = b.emit(DivOp if type_.dtype.is_float else TruncDivOp, [total, below])
    return b.reshape(b.cast(y, call.dtype), call.dims)


def avg_pool(call: Call) -> SSAValue:
    """Average pooling; with count_include_pad=False or a divisor_override the divisor is what they say."""
    b = call.b
    x = batched(call, b.cast(call.tensor("self"), call.dtype.compute))
    windows = Windows(call, tensor_of(x).dims)
    axes = range(2 + windows.spatial, 2 + 2 * windows.spatial)
    total = b.emit(SumOp, [windows.read(b, x, 0)], axes=axes_attr(axes))
    divisor = call.value("divisor_override") if "divisor_override" in call.argument_names else None
    sizes = windows.sizes(call.flag("count_include_pad"))
    return _quotient(call, total, sizes, divisor)


def adaptive_avg_pool(call: Call) -> SSAValue:
    """The mean of each cell."""
    b = call.b
    call.ignore("output_size")
    x = batched(call, b.cast(call.tensor("self"), call.dtype.compute))
    cells = Cells(call, tensor_of(x).dims)
    if all(cells.even):
        total = _even_sums(b, x, cells)
    else:
        axes = range(2 + cells.spatial, 2 + 2 * cells.spatial)
        total = b.emit(SumOp, [cells.read(b, x, 0)], axes=axes_attr(axes))
    return _quotient(call, total, cells.sizes(), None)


def _even_sums(b: GraphBuilder, x: SSAValue, cells: Cells) -> SSAValue:
    """Sums over cells of one size, which are a reshape apart."""
    split: list[Expr] = list(cells.dims[:2])
    for outputs, extent in zip(cells.outputs, cells.extents, strict=True):
        split += [outputs, extent]
    return b.emit(SumOp, [b.reshape(x, split)], axes=axes_attr(range(3, len(split), 2)))


_SLIDING = ("max_pool1d", "max_pool2d", "max_pool3d", "max_pool2d_with_indices", "max_pool3d_with_indices")
_AVERAGE = ("avg_pool1d", "avg_pool2d", "avg_pool3d")
_MEANS = ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
_MAXIMA = ("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **{f"aten.{name}.default": max_pool for name in _SLIDING},
        **{f"aten.{name}.default": avg_pool for name in _AVERAGE},
        **{f"aten.{name}.default": adaptive_avg_pool for name in _MEANS},
        **{f"aten.{name}.default": adaptive_max_pool for name in _MAXIMA},
    }
)
