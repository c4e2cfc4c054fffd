"""Floor division of floats with the corrections of PyTorch, which floor(a / b) does not have."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.hlir.arithmetic import SubOp
from ....dialects.hlir.bitwise import BitAndOp, BitXorOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.comparison import NotEqualOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.elementwise import AddOp, DivOp, EqualOp, FloorOp, LessThanOp, ModOp, MulOp
from ....dialects.op import tensor_of


def floor_divide(b: GraphBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """(x - fmod(x, y)) / y moved down by 1 where the remainder and y differ in sign, rounded to a whole number; x / y
    for y = 0."""
    type_ = tensor_of(x)
    zero, one = b.constant(0.0, type_), b.constant(1.0, type_)
    rest = b.emit(ModOp, [x, y])
    quotient = b.emit(DivOp, [b.emit(SubOp, [x, rest]), y])
    signs = b.emit(BitXorOp, [b.emit(LessThanOp, [y, zero]), b.emit(LessThanOp, [rest, zero])])
    moved = b.emit(BitAndOp, [b.emit(NotEqualOp, [rest, zero]), signs])
    quotient = b.emit(SelectOp, [moved, b.emit(SubOp, [quotient, one]), quotient])
    floor = b.emit(FloorOp, [quotient])
    above = b.emit(LessThanOp, [b.constant(0.5, type_), b.emit(SubOp, [quotient, floor])])
    whole = b.emit(SelectOp, [above, b.emit(AddOp, [floor, one]), floor])
    # A zero quotient takes the sign of x / y, which 0 * (x / y) has for every finite one.
    plain = b.emit(DivOp, [x, y])
    signed_zero = b.emit(MulOp, [zero, plain])
    whole = b.emit(SelectOp, [b.emit(EqualOp, [quotient, zero]), signed_zero, whole])
    return b.emit(SelectOp, [b.emit(EqualOp, [y, zero]), plain, whole])
