"""Reading `index` arithmetic back as symbolic expressions: grids and scratch sizes over the module's symbols."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ..sym.expr import Expr, ceildiv, constant, floordiv, maximum, minimum


def expression_of(value: SSAValue, known: Mapping[SSAValue, Expr]) -> Expr | None:
    """The value as an expression over what is known, or None if it is computed from anything else."""
    if value in known:
        return known[value]
    op = value.owner
    if isinstance(op, arith.ConstantOp):
        return constant(int(op.value.value.data)) if isinstance(op.value, IntegerAttr) else None
    if not isinstance(op, arith.SignlessIntegerBinaryOperation):
        return None
    lhs, rhs = expression_of(op.lhs, known), expression_of(op.rhs, known)
    if lhs is None or rhs is None:
        return None
    whole = without_division(op, lhs, rhs)
    if whole is not None:
        return whole
    divisor = rhs.as_int()
    if divisor is not None and divisor <= 0:
        return None
    if isinstance(op, arith.FloorDivSIOp):
        return floordiv(lhs, rhs)
    return ceildiv(lhs, rhs) if isinstance(op, arith.CeilDivSIOp) else None


def without_division(op: Operation, lhs: Expr, rhs: Expr) -> Expr | None:
    """The sum, difference, product, maximum or minimum that an op of `arith` makes of two expressions, else None."""
    if isinstance(op, arith.AddiOp):
        return lhs + rhs
    if isinstance(op, arith.SubiOp):
        return lhs - rhs
    if isinstance(op, arith.MuliOp):
        return lhs * rhs
    if isinstance(op, arith.MaxSIOp):
        return maximum(lhs, rhs)
    if isinstance(op, arith.MinSIOp):
        return minimum(lhs, rhs)
    return None
