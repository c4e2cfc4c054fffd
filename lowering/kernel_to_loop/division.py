"""Quotients and remainders of integers that no processor traps on: by 0 they are 0, the least number by -1 wraps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from ...dialects.dtype import DType

Add = Callable[[Operation], SSAValue]
Quotient = type[arith.FloorDivSIOp] | type[arith.DivSIOp]


def quotient(signed: Quotient) -> Callable[[Add, DType, Sequence[SSAValue]], SSAValue]:
    """The rule of a division, of which `signed` is the form on signed integers."""

    def rule(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
        a, b = xs
        is_signed = dtype.category == "signed"
        divide: type[Operation] = signed if is_signed else arith.DivUIOp
        if _is_safe(b):
            return add(divide(a, b))
        by_zero, by_minus_one, safe = _divisor(add, dtype, b)
        result = add(divide(a, safe))
        if by_minus_one is not None:
            result = add(arith.SelectOp(by_minus_one, add(arith.SubiOp(_number(add, 0, dtype), a)), result))
        return add(arith.SelectOp(by_zero, _number(add, 0, dtype), result))

    return rule


def remainder(add: Add, dtype: DType, xs: Sequence[SSAValue]) -> SSAValue:
    """The remainder of truncated division, which is 0 by 1."""
    a, b = xs
    divide = arith.RemSIOp if dtype.category == "signed" else arith.RemUIOp
    return add(divide(a, b if _is_safe(b) else _divisor(add, dtype, b)[2]))


def _is_safe(divisor: SSAValue) -> bool:
    """Whether it is a constant that divides every number."""
    owner = divisor.owner
    value = owner.value if isinstance(owner, arith.ConstantOp) else None
    return isinstance(value, IntegerAttr) and value.value.data not in (0, -1)


def _divisor(add: Add, dtype: DType, b: SSAValue) -> tuple[SSAValue, SSAValue | None, SSAValue]:
    """(whether it is 0, whether it is -1, the divisor or 1 where it is one of them)."""
    by_zero = unsafe = add(arith.CmpiOp(b, _number(add, 0, dtype), "eq"))
    by_minus_one = None
    if dtype.category == "signed":
        by_minus_one = add(arith.CmpiOp(b, _number(add, -1, dtype), "eq"))
        unsafe = add(arith.OrIOp(by_zero, by_minus_one))
    return by_zero, by_minus_one, add(arith.SelectOp(unsafe, _number(add, 1, dtype), b))


def _number(add: Add, value: int, dtype: DType) -> SSAValue:
    return add(arith.ConstantOp(IntegerAttr(value, IntegerType(dtype.bits))))
