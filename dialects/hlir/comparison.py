"""Composite comparisons, logical ops, and the extremes defined by them."""

from typing import ClassVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from ..dtype import DTYPES, F32, FLOATS, I1, INTEGERS
from ..op import Array, tensor_of
from .bitwise import BitAndOp, BitOrOp, BitXorOp
from .builder import GraphBuilder
from .composite import BinaryComposite, UnaryComposite
from .conversion import SelectOp
from .elementwise import AddOp, EqualOp, LessThanOp, ModOp
from .pointwise import BITS, NUMBERS, samples


@irdl_op_definition
class BitNotOp(UnaryComposite):
    """Every bit inverted; logical not on i1."""

    name = "hlir.bit_not"
    ATEN: ClassVar = ("aten.bitwise_not.default",)
    SPELLING: ClassVar = "bit_not"
    DOMAIN: ClassVar = BITS
    SAMPLES: ClassVar = samples(BITS, 1, F32)

    def function(self, *args: Array) -> Array:
        return np.invert(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(BitXorOp, [args[0], b.constant(-1, tensor_of(args[0]))])


@irdl_op_definition
class NotEqualOp(BinaryComposite):
    """a != b as i1; true where either is NaN."""

    name = "hlir.not_equal"
    SPELLING: ClassVar = "not_equal"
    DOMAIN: ClassVar = DTYPES
    RESULT: ClassVar = I1
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(DTYPES, 2)

    def function(self, *args: Array) -> Array:
        return np.not_equal(args[0], args[1])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(BitNotOp, [b.emit(EqualOp, args)])


@irdl_op_definition
class LessEqualOp(BinaryComposite):
    """a <= b as i1; false where either is NaN."""

    name = "hlir.less_equal"
    SPELLING: ClassVar = "less_equal"
    DOMAIN: ClassVar = DTYPES
    RESULT: ClassVar = I1
    SAMPLES: ClassVar = samples(DTYPES, 2)

    def function(self, *args: Array) -> Array:
        return np.less_equal(args[0], args[1])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(BitOrOp, [b.emit(LessThanOp, args), b.emit(EqualOp, args)])


@irdl_op_definition
class IsNanOp(UnaryComposite):
    """Whether x is NaN, as i1."""

    name = "hlir.is_nan"
    ATEN: ClassVar = ("aten.isnan.default",)
    SPELLING: ClassVar = "is_nan"
    RESULT: ClassVar = I1

    def function(self, *args: Array) -> Array:
        return np.isnan(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(NotEqualOp, [args[0], args[0]])


@irdl_op_definition
class MinimumOp(BinaryComposite):
    """The smaller of a and b; NaN if either is."""

    name = "hlir.minimum"
    ATEN: ClassVar = ("aten.minimum.default",)
    SPELLING: ClassVar = "minimum"
    DOMAIN: ClassVar = NUMBERS
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(NUMBERS, 2, I1)

    def function(self, *args: Array) -> Array:
        return np.minimum(args[0], args[1])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        x, y = args
        first = b.emit(LessThanOp, [x, y])
        if tensor_of(x).dtype.is_float:
            first = b.emit(BitOrOp, [first, b.emit(IsNanOp, [x])])
        return b.emit(SelectOp, [first, x, y])


@irdl_op_definition
class RemainderOp(BinaryComposite):
    """Python's a % b: fmod moved to the sign of b. Integer division by zero has no defined result."""

    name = "hlir.remainder"
    ATEN: ClassVar = ("aten.remainder.Tensor",)
    SPELLING: ClassVar = "remainder"
    DOMAIN: ClassVar = NUMBERS
    SAMPLES: ClassVar = (*samples(FLOATS[:4], 2, I1), *samples(INTEGERS, 2, F32, 1.0, 9.0)[: len(INTEGERS)])

    def function(self, *args: Array) -> Array:
        rest = np.fmod(args[0], args[1])
        return np.where((rest != 0) & ((rest < 0) != (args[1] < 0)), rest + args[1], rest)

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        rest = b.emit(ModOp, args)
        zero = b.constant(0, tensor_of(rest))
        signs = b.emit(BitXorOp, [b.emit(LessThanOp, [rest, zero]), b.emit(LessThanOp, [args[1], zero])])
        moved = b.emit(BitAndOp, [b.emit(NotEqualOp, [rest, zero]), signs])
        return b.emit(SelectOp, [moved, b.emit(AddOp, [rest, args[1]]), rest])
