"""Type promotion as eager PyTorch does it: operands of different dtypes, and numbers, brought to one dtype and
shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import _prims_common
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND
from torch.fx import Node
from xdsl.ir import SSAValue

from ...dialects.dtype import DType
from ...dialects.hlir.creation import IotaOp
from ...dialects.hlir.index_map import IndexMap
from ...dialects.hlir.types import MapAttr, ShapeAttr, TensorType, tensor_type
from ...dialects.op import TensorOp, tensor_of
from ...dialects.sym.expr import Expr
from .call import Call, Number, Operand
from .element_types import element_type
from .fx import traced
from .symbolic_float import FloatExpr

Kind = ELEMENTWISE_TYPE_PROMOTION_KIND


@dataclass(frozen=True)
class Promoted:
    """Operands of one type. `dtype` is what the op is computed in; its result is then cast to `result`."""

    operands: list[SSAValue]
    dtype: DType
    result: DType


def number_tensor(call: Call, value: Number, type_: TensorType) -> SSAValue:
    """A number at a type, rounded to its dtype; a size that depends on symbols becomes an index expression."""
    if not isinstance(value, Expr | FloatExpr):
        return call.b.constant(value, type_)
    if isinstance(value, FloatExpr):
        return call.b.broadcast(call.b.cast(value.tensor(call.b), type_.dtype), type_.dims)
    known = value.as_int()
    if known is not None:
        return call.b.constant(known, type_)
    scalar = call.b.emit(IotaOp, [], value=MapAttr(IndexMap(0, (value,))), shape=ShapeAttr.get([]), dtype=type_.element)
    return call.b.broadcast(scalar, type_.dims)


def common_dtype(call: Call, names: Sequence[str], kind: Kind = Kind.DEFAULT) -> DType:
    """The dtype that torch's promotion rule gives the operands (of comparisons: what they are compared in)."""
    asked = Kind.DEFAULT if kind is Kind.ALWAYS_BOOL else kind
    rule = cast(Any, _prims_common).elementwise_dtypes
    return element_type(rule(*_facts(call, names), type_promotion_kind=asked)[1])


def promote(
    call: Call,
    names: Sequence[str],
    *,
    kind: Kind = Kind.DEFAULT,
    dims: Iterable[Expr] | None = None,
    wide_scalars: bool = False,
) -> Promoted:
    """The named operands in their common dtype, broadcast to the result's sizes.

    With `wide_scalars`, a number or 0-d tensor that the common dtype (a narrow float) cannot hold exactly keeps the
    precision of the dtype that torch computes in, and so does the op: only its result is rounded.
    """
    common = common_dtype(call, names, kind)
    result = call.dtype if kind is not Kind.ALWAYS_BOOL else common
    values = [call.operand(name) for name in names]
    wide = wide_scalars and any(_loses(value, common) for value in values)
    dtype = common.compute if wide else common
    shape = tuple(dims) if dims is not None else call.dims
    return Promoted([_convert(call, value, common, dtype, shape) for value in values], dtype, result)


def finish(call: Call, op_class: type[TensorOp], promoted: Promoted) -> SSAValue:
    """The op on promoted operands, in the dtype of the result."""
    return call.b.cast(call.b.emit(op_class, promoted.operands), promoted.result)


def _convert(call: Call, value: Operand, common: DType, dtype: DType, shape: tuple[Expr, ...]) -> SSAValue:
    if not isinstance(value, SSAValue):
        return number_tensor(call, value, tensor_type(shape, dtype))
    scalar = tensor_of(value).rank == 0
    narrowed = value if scalar else call.b.cast(value, common)
    return call.b.broadcast(call.b.cast(narrowed, dtype), shape)


def _loses(value: Operand, dtype: DType) -> bool:
    if isinstance(value, SSAValue):
        type_ = tensor_of(value)
        return type_.rank == 0 and type_.dtype != dtype and dtype.compute != dtype
    if isinstance(value, Expr) or dtype.compute == dtype:
        return False
    if isinstance(value, FloatExpr):
        return True
    return dtype.compute.decode(dtype.compute.encode(value)) != dtype.decode(dtype.encode(value))


def _facts(call: Call, names: Sequence[str]) -> list[Any]:
    """The operands as torch's promotion rule takes them: fake tensors, and numbers by their Python type."""
    return [_fact(call.raw(name)) for name in names]


def _fact(value: Any) -> Any:
    if isinstance(value, Node):
        return _fact(traced(value))
    if isinstance(value, torch.SymFloat):
        return 1.0
    return 1 if isinstance(value, torch.SymInt) else value
