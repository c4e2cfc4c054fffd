"""Ops on known values become constants or literals, computed by their reference."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.errors import EvaluationError
from ...dialects.hlir.activation import ReluOp
from ...dialects.hlir.arithmetic import AbsOp, CeilOp, NegOp, SubOp
from ...dialects.hlir.comparison import MinimumOp
from ...dialects.hlir.conversion import BitcastOp, CastOp, SelectOp
from ...dialects.hlir.creation import ConstantOp, IotaOp, LiteralOp
from ...dialects.hlir.elementwise import (
    AddOp,
    DivOp,
    Elementwise,
    FloorOp,
    MaximumOp,
    MulOp,
    RecipOp,
    RoundEvenOp,
    SqrtOp,
    TruncOp,
)
from ...dialects.hlir.reduction import MaxOp, MinOp
from ...dialects.hlir.scalar import Scalar
from ...dialects.hlir.types import TensorType
from ...dialects.hlir.view import ViewOp
from ...dialects.op import Array, Environment, Kind, TensorOp, tensor_of
from ...dialects.sym.substitute import symbol_names
from .rule import Folded, filled, splat

LARGEST = 4096
"""The most elements that a folded value may have."""

EXACT: tuple[type[TensorOp], ...] = (
    *(AddOp, SubOp, MulOp, DivOp, RecipOp, SqrtOp, NegOp, AbsOp, ReluOp, FloorOp, CeilOp, TruncOp, RoundEvenOp),
    *(MaximumOp, MinimumOp, SelectOp, CastOp, BitcastOp, MaxOp, MinOp),
)
"""Ops on floats that have one correct result, which every target gives."""


def fold_constants(op: TensorOp) -> Folded:
    """The value of an op whose operands are all known, as a constant or a literal."""
    if not op.operands or len(op.results) != 1 or not _is_exact(op):
        return _uniform_literal(op)
    scalars = [splat(x) for x in op.operands]
    if isinstance(op, Elementwise) and None not in scalars:
        inputs = [s.dtype.scalar(s.bits) for s in scalars if s is not None]
        try:
            (value,) = op.reference(inputs, Environment())
        except EvaluationError:
            return None
        return filled(_scalar_of(value, op.result_type), op.result_type)
    size = static_size(op.result_type)
    if size is None or size > LARGEST:
        return None
    if isinstance(op, ViewOp) and size > (static_size(op.operand_types[0]) or 0):
        return None
    arrays = [known_array(x) for x in op.operands]
    if any(x is None for x in arrays):
        return None
    try:
        (value,) = op.reference([x for x in arrays if x is not None], Environment())
    except EvaluationError:
        # What has no value, an index out of range, is left for the run.
        return None
    return as_constant(value, op.result_type)


def _uniform_literal(op: TensorOp) -> Folded:
    """A literal with one number everywhere."""
    if not isinstance(op, LiteralOp):
        return None
    (value,) = op.reference([], Environment())
    return filled(_scalar_of(value.reshape(-1)[0], op.result_type), op.result_type) if _is_uniform(value) else None


def _is_exact(op: TensorOp) -> bool:
    if op.KIND in (Kind.REGION, Kind.CONTRACTION, Kind.LIBRARY) or op.regions:
        return False
    arranging = op.KIND is Kind.VIEW or isinstance(op, EXACT)
    return arranging or not any(t.dtype.is_float for t in (*op.operand_types, op.result_type))


def static_size(type_: TensorType) -> int | None:
    """The number of elements, or None where it depends on symbols."""
    size = 1
    for dim in type_.dims:
        extent = dim.as_int()
        if extent is None:
            return None
        size *= extent
    return size


def known_array(value: SSAValue) -> Array | None:
    """The elements of a constant, a literal, an index expression without symbols, or a view of one, if they are few."""
    owner = value.owner
    if not isinstance(owner, ConstantOp | LiteralOp | IotaOp | ViewOp):
        return None
    size = static_size(tensor_of(value))
    if size is None or size > LARGEST:
        return None
    if isinstance(owner, IotaOp) and symbol_names(owner.expression.exprs[0]):
        return None
    inputs = [known_array(x) for x in owner.operands]
    if any(x is None for x in inputs):
        return None
    return owner.reference([x for x in inputs if x is not None], Environment())[0]


def _is_uniform(value: Array) -> bool:
    data = np.ascontiguousarray(value).tobytes()
    return bool(data) and data == data[: value.itemsize] * (len(data) // value.itemsize)


def _scalar_of(value: Array, type_: TensorType) -> Scalar:
    return Scalar(int.from_bytes(np.asarray(value).tobytes(), "little"), type_.dtype)


def as_constant(value: Array, type_: TensorType) -> TensorOp:
    """A constant where all elements have the same bits, else a literal."""
    if _is_uniform(value):
        return filled(_scalar_of(value.reshape(-1)[0], type_), type_)
    return LiteralOp.make([], LiteralOp.of_array(value, type_.dtype))
