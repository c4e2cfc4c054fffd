"""Functions of integers: shifts with PyTorch's rules for counts, common divisors and multiples."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import I32
from ....dialects.hlir.arithmetic import TruncDivOp
from ....dialects.hlir.bitwise import ShiftLeftOp, ShiftRightOp
from ....dialects.hlir.elementwise import GcdOp
from ....dialects.op import tensor_of
from ..call import Call, Handler
from ..promotion import Promoted, promote
from ..unsupported import UnsupportedNodeError
from .terms import Term, when


def _shifted(call: Call) -> tuple[Promoted, Term, Term, Term]:
    """The promoted operands, the number, the count, and whether the count lies outside [0, width)."""
    promoted = promote(call, ["self", "other"])
    if promoted.dtype.is_float or promoted.dtype.is_bool:
        raise UnsupportedNodeError(f"is not supported on {promoted.dtype.name}")
    x, count = (Term(call.b, value) for value in promoted.operands)
    outside = count >= count.lift(tensor_of(x.value).dtype.bits)
    return promoted, x, count, outside | (count < 0)


def shift_left(call: Call) -> SSAValue:
    """self 2^other, which wraps; 0 for a count outside [0, width)."""
    promoted, x, count, outside = _shifted(call)
    safe = when(outside, count.lift(0), count)
    moved = Term(call.b, call.b.emit(ShiftLeftOp, [x.value, safe.value]))
    return call.b.cast(when(outside, moved.lift(0), moved).value, promoted.result)


def shift_right(call: Call) -> SSAValue:
    """floor(self / 2^other); a count outside [0, width) leaves the sign alone."""
    promoted, x, count, outside = _shifted(call)
    width = tensor_of(x.value).dtype.bits
    safe = when(outside, count.lift(width - 1), count)
    moved = Term(call.b, call.b.emit(ShiftRightOp, [x.value, safe.value]))
    if tensor_of(x.value).dtype.category != "signed":  # all bits leave an unsigned number
        moved = when(outside, moved.lift(0), moved)
    return call.b.cast(moved.value, promoted.result)


def greatest_common_divisor(call: Call) -> SSAValue:
    """The greatest common divisor of the magnitudes."""
    return call.b.emit(GcdOp, promote(call, ["self", "other"]).operands)


def least_common_multiple(call: Call) -> SSAValue:
    """|a / gcd(a, b) b|, which wraps; 0 if both are 0."""
    a, b = promote(call, ["self", "other"]).operands
    divisor = Term(call.b, call.b.emit(GcdOp, [a, b]))
    safe = when(divisor.equals(0), divisor.lift(1), divisor)
    product = Term(call.b, call.b.emit(TruncDivOp, [a, safe.value])), Term(call.b, b)
    dtype = tensor_of(a).dtype
    wide = I32 if dtype.bits < 32 else dtype  # C computes narrow integers as int and wraps the result alone
    return abs(product[0].cast(wide) * product[1].cast(wide)).cast(dtype).value


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **{f"aten.bitwise_left_shift.{o}": shift_left for o in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")},
        **{f"aten.bitwise_right_shift.{o}": shift_right for o in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")},
        **{f"aten.__lshift__.{o}": shift_left for o in ("Tensor", "Scalar")},
        **{f"aten.__rshift__.{o}": shift_right for o in ("Tensor", "Scalar")},
        "aten.gcd.default": greatest_common_divisor,
        "aten.lcm.default": least_common_multiple,
    }
)
