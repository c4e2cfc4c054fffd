"""Views, casts, and ops that move elements without computing: composed, or dropped where they change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...dialects.dtype import DType
from ...dialects.hlir.arranging import ConcatOp, PadOp
from ...dialects.hlir.conversion import BitcastOp, CastOp
from ...dialects.hlir.creation import ConstantOp, IotaOp
from ...dialects.hlir.index_map import IndexMap, canonical, compose, is_identity
from ...dialects.hlir.reduction import MaxOp, MinOp, ProdOp, Reduction, SumOp
from ...dialects.hlir.types import MapAttr, TensorType
from ...dialects.hlir.view import ViewOp
from ...dialects.op import TensorOp, tensor_of
from ...dialects.sym.expr import constant, index
from .rule import Fold, Folded, filled, producer

MANTISSA = MappingProxyType({"f64": 53, "f32": 24, "f16": 11, "bf16": 8, "f8E4M3FN": 4, "f8E5M2": 3})
"""Bits of an integer that the float holds exactly."""

WIDENINGS = MappingProxyType(
    {
        "f8E4M3FN": ("f16", "bf16", "f32", "f64"),
        "f8E5M2": ("f16", "bf16", "f32", "f64"),
        "f16": ("f32", "f64"),
        "bf16": ("f32", "f64"),
        "f32": ("f64",),
    }
)
"""Floats -> floats that hold each of their values."""


def holds_all(wide: DType, narrow: DType) -> bool:
    """Whether every value of `narrow` is a value of `wide`, so that a cast keeps it."""
    if wide == narrow or narrow.is_bool:
        return True
    if narrow.is_float:
        return wide.name in WIDENINGS.get(narrow.name, ())
    signed = narrow.category == "signed"
    if wide.is_float:
        # 2**15 and below fit the range of every float with these many bits but f8, which has too few anyway.
        return narrow.bits - signed <= MANTISSA[wide.name]
    if wide.is_bool or (signed and wide.category == "unsigned"):
        return False
    return wide.bits > narrow.bits or (wide.bits == narrow.bits and wide.category == narrow.category)


def fold_cast(op: TensorOp) -> Folded:
    """A cast to the same dtype, and a cast of one that kept every value."""
    (x,) = op.operands
    if tensor_of(x).dtype == op.result_type.dtype:
        return x
    inner = producer(x, CastOp)
    if inner is None or not holds_all(tensor_of(x).dtype, inner.operand_types[0].dtype):
        return None
    return CastOp.make([inner.operands[0]], op.properties)


def fold_bitcast(op: TensorOp) -> Folded:
    """A bitcast to the same dtype, and one of another."""
    (x,) = op.operands
    if tensor_of(x).dtype == op.result_type.dtype:
        return x
    inner = producer(x, BitcastOp)
    return BitcastOp.make([inner.operands[0]], op.properties) if inner is not None else None


def fold_view(op: TensorOp) -> Folded:
    """The identity, a view of a view, of a constant, and of an index expression."""
    assert isinstance(op, ViewOp)
    (x,) = op.operands
    source, result = tensor_of(x), op.result_type
    if is_identity(op.map.data, source.dims, result.dims):
        return x
    inner = x.owner
    if isinstance(inner, ViewOp):
        index_map = compose(op.map.data, inner.map.data, result.dims)
        return ViewOp.make([inner.source], {"map": MapAttr(index_map), "shape": op.shape})
    if isinstance(inner, ConstantOp):
        return filled(inner.scalar, result)
    if isinstance(inner, IotaOp):
        value = compose(op.map.data, inner.expression, result.dims)
        return IotaOp.make([], {"value": MapAttr(value), "shape": op.shape, "dtype": inner.dtype})
    return None


def _dropping(source: TensorType, axes: tuple[int, ...]) -> IndexMap:
    """Reads a source whose `axes` have extent 1 without them."""
    kept = [i for i in range(source.rank) if i not in axes]
    exprs = (index(kept.index(i)) if i in kept else constant(0) for i in range(source.rank))
    return IndexMap(len(kept), tuple(exprs))


def fold_reduction(op: TensorOp) -> Folded:
    """Reductions along no axis, and along axes of extent 1. A sum of one float is left: it may be 0 + -0.0."""
    assert isinstance(op, Reduction)
    source = op.operand_types[0]
    if not op.axis_numbers:
        return op.operand
    single = all(source.dims[a].as_int() == 1 for a in op.axis_numbers)
    if not single or (isinstance(op, SumOp) and source.dtype.is_float):
        return None
    shape = op.result_type.shape
    index_map = canonical(_dropping(source, op.axis_numbers), shape.data)
    return ViewOp.make([op.operand], {"map": MapAttr(index_map), "shape": shape})


def fold_concat(op: TensorOp) -> Folded:
    """Parts without elements along the axis, and a single part."""
    assert isinstance(op, ConcatOp)
    axis = op.axis.data
    parts = [x for x in op.parts if tensor_of(x).dims[axis].as_int() != 0]
    if len(parts) == 1:
        return parts[0]
    return ConcatOp.make(parts, op.properties) if parts and len(parts) < len(op.parts) else None


def fold_pad(op: TensorOp) -> Folded:
    """Padding by nothing."""
    assert isinstance(op, PadOp)
    return op.operand if all(e.as_int() == 0 for e in (*op.low.data, *op.high.data)) else None


ARRANGING: Mapping[type[TensorOp], tuple[Fold, ...]] = MappingProxyType(
    {
        CastOp: (fold_cast,),
        BitcastOp: (fold_bitcast,),
        ViewOp: (fold_view,),
        ConcatOp: (fold_concat,),
        PadOp: (fold_pad,),
        **dict.fromkeys((SumOp, ProdOp, MaxOp, MinOp), (fold_reduction,)),
    }
)
