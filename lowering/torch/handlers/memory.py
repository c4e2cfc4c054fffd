"""Ops that speak of memory: as_strided and its kin, diagonals written, and elements read as another dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import I16, I32, I64, U8, DType
from ....dialects.hlir.bitwise import BitAndOp, BitOrOp, ShiftLeftOp, ShiftRightOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.conversion import BitcastOp
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.indexing import ScatterOp
from ....dialects.hlir.types import MapAttr, ShapeAttr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, floordiv, index
from ..call import Call, Handler
from ..element_types import element_type
from ..layout import inverse, memory_order
from ..unsupported import UnsupportedNodeError
from .indexing import flattened


@dataclass(frozen=True)
class Memory:
    """The memory that a tensor is a view of: its elements in their order, and where the first one lies."""

    elements: SSAValue
    start: Expr
    dims: tuple[Expr, ...]
    order: tuple[int, ...]

    @property
    def size(self) -> Expr:
        return tensor_of(self.elements).dims[0]

    def position(self, offset: Expr, strides: Sequence[Expr]) -> Expr:
        """Which element lies at an index of a view with these strides, as an expression of the index."""
        terms = (index(i) * stride for i, stride in enumerate(strides))
        return reduce(lambda a, b: a + b, terms, offset - self.start)


def memory_of(call: Call) -> Memory:
    """The memory behind `self`, which a tensor that is dense in memory stands for."""
    value, fake = call.viewed("self")
    dims = tensor_of(value).dims
    order = memory_order(dims, [call.lift(s) for s in fake.stride()])
    if order is None:
        raise UnsupportedNodeError("reads the memory of a tensor that is not dense")
    elements = flattened(call.b, call.b.permute(value, order))
    return Memory(elements, call.lift(fake.storage_offset()), dims, order)


def _position(call: Call, memory: Memory) -> Expr:
    """The position that `stride` and `storage_offset` name, which must lie in the memory."""
    offset = call.value("storage_offset")
    if offset is None:
        offset = call.fake_argument("self").storage_offset()
    strides = [call.lift(s) for s in call.value("stride")]
    sizes = [call.lift(s) for s in call.value("size")]
    first = (call.lift(offset) - memory.start).as_int()
    reach = [(n.as_int(), s.as_int()) for n, s in zip(sizes, strides, strict=True)]
    total = memory.size.as_int()
    if first is not None and total is not None and all(n is not None and s is not None for n, s in reach):
        last = first + sum(((n or 0) - 1) * (s or 0) for n, s in reach)
        if all(n for n, _ in reach) and (first < 0 or last >= total):
            raise UnsupportedNodeError("reaches beyond the memory of the tensor that it is given a view of")
    return memory.position(call.lift(offset), strides)


def as_strided(call: Call) -> SSAValue:
    """A view of the memory behind self."""
    memory = memory_of(call)
    return call.b.view(memory.elements, IndexMap(len(call.dims), (_position(call, memory),)), call.dims)


def as_strided_scatter(call: Call) -> SSAValue:
    """self with src written where such a view of its memory would lie."""
    b = call.b
    memory = memory_of(call)
    source = b.cast(call.tensor("src"), call.dtype)
    dims = tensor_of(source).dims
    written = _written(b, memory.elements, _position(call, memory), dims, source)
    fake = call.fake_argument("self")
    strides = [call.lift(s) for s in fake.stride()]
    if call.viewed("self")[1] is fake:
        moved = b.reshape(written, [memory.dims[i] for i in memory.order])
        return b.permute(moved, inverse(memory.order))
    position = memory.position(call.lift(fake.storage_offset()), strides)
    return b.view(written, IndexMap(len(call.dims), (position,)), call.dims)


def _written(b: GraphBuilder, elements: SSAValue, position: Expr, dims: Sequence[Expr], source: SSAValue) -> SSAValue:
    """A vector with the elements of the source at positions that are an expression of their index."""
    shape = ShapeAttr.get(dims)
    places = b.emit(IotaOp, [], value=MapAttr(IndexMap(len(dims), (position,))), shape=shape, dtype=I64.attr)
    operands = [elements, flattened(b, places), flattened(b, source)]
    return b.emit(ScatterOp, operands, axis=IntAttr(0), mode=StringAttr("set"))


def diagonal_scatter(call: Call) -> SSAValue:
    """self with src in place of its diagonal."""
    b = call.b
    x, source = call.tensor("self"), b.cast(call.tensor("src"), call.dtype)
    dims = tensor_of(x).dims
    rank = len(dims)
    first, second, offset = call.axis("dim1", rank), call.axis("dim2", rank), call.integer("offset")
    kept = [i for i in range(rank) if i not in (first, second)]
    last = index(len(kept))
    at = {first: last + max(-offset, 0), second: last + max(offset, 0)}
    position: Expr = constant(0)
    for i, extent in enumerate(dims):
        position = position * extent + (at[i] if i in at else index(kept.index(i)))
    wide = tensor_of(source).dims
    return b.reshape(_written(b, flattened(b, x), position, wide, source), dims)


INTEGER_OF_WIDTH: Mapping[int, DType] = MappingProxyType({8: U8, 16: I16, 32: I32, 64: I64})


def view_as_dtype(call: Call) -> SSAValue:
    """The bits of self as another dtype; of another width, the last dim grows or shrinks with it."""
    b = call.b
    dtype = element_type(call.value("dtype"))
    x = call.tensor("self")
    source = tensor_of(x).dtype
    if source == dtype:
        return x
    if source.is_bool:
        x, source = b.cast(x, U8), U8
    target = U8 if dtype.is_bool else dtype
    if source.bits == target.bits:
        return b.cast(_bits_as(b, x, target), dtype)
    here, there = INTEGER_OF_WIDTH[source.bits], INTEGER_OF_WIDTH[target.bits]
    x = _bits_as(b, x, here)
    pieces = _split(call, x, there) if there.bits < here.bits else _joined(call, x, there)
    return b.cast(_bits_as(b, pieces, target), dtype)


def _bits_as(b: GraphBuilder, x: SSAValue, dtype: DType) -> SSAValue:
    return x if tensor_of(x).dtype == dtype else b.emit(BitcastOp, [x], dtype=dtype.attr)


def _split(call: Call, x: SSAValue, narrow: DType) -> SSAValue:
    """Each integer as several narrow ones, the lowest bits first."""
    b, wide = call.b, tensor_of(x).dtype
    ratio, last = wide.bits // narrow.bits, len(call.dims) - 1
    exprs = [index(i) if i != last else floordiv(index(i), constant(ratio)) for i in range(last + 1)]
    spread = b.view(x, IndexMap(last + 1, tuple(exprs)), call.dims)
    part = (index(last) - floordiv(index(last), constant(ratio)) * ratio) * narrow.bits
    shape = ShapeAttr.get(call.dims)
    amount = b.emit(IotaOp, [], value=MapAttr(IndexMap(last + 1, (part,))), shape=shape, dtype=wide.attr)
    return b.cast(b.emit(ShiftRightOp, [spread, amount]), narrow)


def _joined(call: Call, x: SSAValue, wide: DType) -> SSAValue:
    """Several neighbouring integers as one wide one, the first in its lowest bits."""
    b, narrow = call.b, tensor_of(x).dtype
    ratio, last = wide.bits // narrow.bits, len(call.dims) - 1
    result: SSAValue | None = None
    for number in range(ratio):
        exprs = [index(i) if i != last else index(i) * ratio + number for i in range(last + 1)]
        part = b.cast(b.view(x, IndexMap(last + 1, tuple(exprs)), call.dims), wide)
        type_ = tensor_of(part)
        part = b.emit(BitAndOp, [part, b.constant((1 << narrow.bits) - 1, type_)])
        part = b.emit(ShiftLeftOp, [part, b.constant(number * narrow.bits, type_)])
        result = part if result is None else b.emit(BitOrOp, [result, part])
    assert result is not None
    return result


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.as_strided.default": as_strided,
        "aten.as_strided_copy.default": as_strided,
        "aten.as_strided_scatter.default": as_strided_scatter,
        "aten.diagonal_scatter.default": diagonal_scatter,
        "aten.view.dtype": view_as_dtype,
        "aten.view_copy.dtype": view_as_dtype,
    }
)
