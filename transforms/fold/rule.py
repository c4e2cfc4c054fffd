"""What a fold is, and the questions that folds ask of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from ...dialects.dtype import DType
from ...dialects.hlir.creation import ConstantOp
from ...dialects.hlir.scalar import Scalar
from ...dialects.hlir.types import ScalarAttr, TensorType
from ...dialects.op import TensorOp

Folded: TypeAlias = SSAValue | TensorOp | None
"""A value that is there already, an op to stand in place of the folded one, or nothing."""

Fold: TypeAlias = Callable[[TensorOp], Folded]
"""Looks at an op whose operands are folded already; exact, bit for bit, on every input."""


def splat(value: SSAValue) -> Scalar | None:
    """The number that fills a constant, or None."""
    return value.owner.scalar if isinstance(value.owner, ConstantOp) else None


def is_splat(value: SSAValue, number: float | int, dtype: DType) -> bool:
    """Whether the value is a constant filled with exactly the bits of `number`."""
    scalar = splat(value)
    return scalar is not None and scalar.bits == dtype.encode(number)


def filled(scalar: Scalar, type_: TensorType) -> ConstantOp:
    """A constant of the shape of `type_`."""
    return ConstantOp.make([], {"value": ScalarAttr(scalar), "shape": type_.shape})


def producer(value: SSAValue, *classes: type[TensorOp]) -> TensorOp | None:
    """The op that made the value if it is of one of the classes."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and isinstance(owner, classes) else None
