"""Neutral, absorbing and repeated operands of elementwise ops, and selections that are decided."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType

import numpy as np

from ...dialects.dtype import DType
from ...dialects.hlir.activation import ReluOp
from ...dialects.hlir.arithmetic import AbsOp, CeilOp, NegOp, SubOp, TruncDivOp
from ...dialects.hlir.bitwise import BitAndOp, BitOrOp, BitXorOp, ShiftLeftOp, ShiftRightOp
from ...dialects.hlir.comparison import BitNotOp, MinimumOp
from ...dialects.hlir.conversion import SelectOp
from ...dialects.hlir.elementwise import (
    AddOp,
    DivOp,
    Elementwise,
    FloorDivOp,
    FloorOp,
    MaximumOp,
    MulOp,
    RoundEvenOp,
    TruncOp,
)
from ...dialects.op import TensorOp
from .rule import Fold, Folded, is_splat, producer, splat

# x + 0.0 is not x: it turns -0.0 into 0.0. Adding -0.0 and subtracting 0.0 change nothing.
NEUTRAL: Mapping[type[TensorOp], float | int] = MappingProxyType(
    {
        AddOp: -0.0,
        SubOp: 0.0,
        MulOp: 1,
        DivOp: 1,
        FloorDivOp: 1,
        TruncDivOp: 1,
        BitAndOp: -1,
        BitOrOp: 0,
        BitXorOp: 0,
        ShiftLeftOp: 0,
        ShiftRightOp: 0,
        MaximumOp: -inf,
        MinimumOp: inf,
    }
)
ABSORBING: Mapping[type[TensorOp], int] = MappingProxyType({MulOp: 0, BitAndOp: 0, BitOrOp: -1})
"""Of integers and booleans only: 0 * NaN is NaN, and 0 * -1.0 is -0.0."""


def _limit(number: float | int, dtype: DType) -> float | int:
    """An infinity as the dtype has it: itself for floats, the extreme integer for integers."""
    if dtype.is_float or abs(number) != inf:
        return number
    limits = np.iinfo(dtype.numpy)
    return int(limits.min if number < 0 else limits.max)


def _is_commutative(op: TensorOp) -> bool:
    return isinstance(op, Elementwise) and op.COMMUTATIVE


def fold_neutral(op: TensorOp) -> Folded:
    """x * 1, x + -0.0, x & -1, ... are x."""
    a, b = op.operands
    dtype = op.operand_types[0].dtype
    number = _limit(NEUTRAL[type(op)], dtype)
    if is_splat(b, number, dtype):
        return a
    return b if _is_commutative(op) and is_splat(a, number, dtype) else None


def fold_absorbing(op: TensorOp) -> Folded:
    """x * 0, x & 0 and x | -1 of integers are the constant."""
    dtype = op.operand_types[0].dtype
    if dtype.is_float:
        return None
    return next((x for x in op.operands if is_splat(x, ABSORBING[type(op)], dtype)), None)


def fold_same_operands(op: TensorOp) -> Folded:
    """max(x, x), x & x, ... are x."""
    return op.operands[0] if op.operands[0] is op.operands[1] else None


def fold_involution(op: TensorOp) -> Folded:
    """f(f(x)) is x."""
    inner = producer(op.operands[0], type(op))
    return inner.operands[0] if inner is not None else None


def fold_projection(op: TensorOp) -> Folded:
    """f(f(x)) is f(x)."""
    inner = producer(op.operands[0], type(op))
    return inner.results[0] if inner is not None else None


def fold_abs(op: TensorOp) -> Folded:
    """|-x| is |x|."""
    inner = producer(op.operands[0], NegOp)
    return AbsOp.make([inner.operands[0]]) if inner is not None else None


def fold_select(op: TensorOp) -> Folded:
    """A selection whose condition is constant or negated, or whose branches are the same or are true and false."""
    condition, a, b = op.operands
    known = splat(condition)
    if known is not None:
        return a if known.value else b
    if a is b:
        return a
    negated = producer(condition, BitNotOp)
    if negated is not None:
        return SelectOp.make([negated.operands[0], b, a])
    dtype = op.result_type.dtype
    if dtype.is_bool and is_splat(a, 1, dtype) and is_splat(b, 0, dtype):
        return condition
    if dtype.is_bool and is_splat(a, 0, dtype) and is_splat(b, 1, dtype):
        return BitNotOp.make([condition])
    return None


def _table() -> dict[type[TensorOp], tuple[Fold, ...]]:
    rules: dict[type[TensorOp], tuple[Fold, ...]] = {}
    groups: tuple[tuple[Fold, tuple[type[TensorOp], ...]], ...] = (
        (fold_neutral, tuple(NEUTRAL)),
        (fold_absorbing, tuple(ABSORBING)),
        (fold_same_operands, (MaximumOp, MinimumOp, BitAndOp, BitOrOp)),
        (fold_involution, (NegOp, BitNotOp)),
        (fold_projection, (AbsOp, ReluOp, FloorOp, CeilOp, TruncOp, RoundEvenOp)),
        (fold_abs, (AbsOp,)),
        (fold_select, (SelectOp,)),
    )
    for rule, classes in groups:
        for cls in classes:
            rules[cls] = (*rules.get(cls, ()), rule)
    return rules


ALGEBRA: Mapping[type[TensorOp], tuple[Fold, ...]] = MappingProxyType(_table())
