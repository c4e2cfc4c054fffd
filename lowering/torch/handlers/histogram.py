"""Counting elements by the cell they fall into."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import I64
from ....dialects.hlir.arithmetic import SubOp
from ....dialects.hlir.comparison import LessEqualOp, MinimumOp
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import DivOp, EqualOp, MulOp, TruncOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.reduction import SumOp
from ....dialects.hlir.types import MapAttr, ShapeAttr, axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import index
from ..call import Call, Handler
from ..promotion import number_tensor
from ..unsupported import UnsupportedNodeError
from .indexing import flattened


def histc(call: Call) -> SSAValue:
    """How many elements fall into each of `bins` equal cells of [min, max], whose last one holds max too; others and
    NaN count nowhere. The cell is trunc((x - min) bins / (max - min)), rounded in the element type as eager does."""
    b = call.b
    low, high, bins = call.number("min"), call.number("max"), call.integer("bins")
    if low == high:
        raise UnsupportedNodeError("takes its range from the data (min = max)")
    if not call.dtype.is_float:
        raise UnsupportedNodeError(f"counts {call.dtype}, which only CUDA's eager kernel does")
    x = flattened(b, call.tensor("self"))
    type_ = tensor_of(x)
    bottom, top, cells = (number_tensor(call, value, type_) for value in (low, high, bins))
    scaled = b.emit(MulOp, [b.emit(SubOp, [x, bottom]), cells])
    place = b.emit(TruncOp, [b.emit(DivOp, [scaled, b.emit(SubOp, [top, bottom])])])
    place = b.emit(MinimumOp, [place, number_tensor(call, bins - 1, type_)])
    inside = b.emit(MulOp, [b.cast(b.emit(LessEqualOp, [bottom, x]), I64), b.cast(b.emit(LessEqualOp, [x, top]), I64)])
    wide = (bins, *type_.dims)
    cell = b.emit(IotaOp, [], value=MapAttr.get(2, [index(0)]), shape=ShapeAttr.get(wide), dtype=type_.element)
    second = IndexMap(2, (index(1),))
    hit = b.cast(b.emit(EqualOp, [b.view(place, second, wide), cell]), I64)
    counted = b.emit(MulOp, [hit, b.view(inside, second, wide)])
    return b.cast(b.emit(SumOp, [counted], axes=axes_attr([1])), call.dtype)


HANDLERS: Mapping[str, Handler] = MappingProxyType({"aten.histc.default": histc})
