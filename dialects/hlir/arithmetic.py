"""Composite arithmetic of one element."""

import math
from typing import ClassVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from ..dtype import F32, FLOATS, I1, I8, I16, I32, I64, INTEGERS, DType
from ..op import Array, tensor_of
from .bitwise import BitAndOp
from .builder import GraphBuilder
from .composite import BinaryComposite, UnaryComposite
from .conversion import BitcastOp, SelectOp
from .elementwise import (
    AddOp,
    Exp2Op,
    FloorDivOp,
    FloorOp,
    LessThanOp,
    Log2Op,
    ModOp,
    MulOp,
    RecipOp,
    SinOp,
    SqrtOp,
)
from .pointwise import NUMBERS, samples


def scaled(b: GraphBuilder, x: SSAValue, factor: float) -> SSAValue:
    """x * factor."""
    return b.emit(MulOp, [x, b.constant(factor, tensor_of(x))])


def shifted(b: GraphBuilder, x: SSAValue, offset: float) -> SSAValue:
    """x + offset."""
    return b.emit(AddOp, [x, b.constant(offset, tensor_of(x))])


@irdl_op_definition
class NegOp(UnaryComposite):
    """-x. Integers wrap."""

    name = "hlir.neg"
    ATEN: ClassVar = ("aten.neg.default",)
    SPELLING: ClassVar = "neg"
    DOMAIN: ClassVar = NUMBERS
    SAMPLES: ClassVar = samples(NUMBERS, 1, I1)

    def function(self, *args: Array) -> Array:
        return np.negative(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return scaled(b, args[0], -1)


@irdl_op_definition
class SubOp(BinaryComposite):
    """a - b. Integers wrap."""

    name = "hlir.sub"
    SPELLING: ClassVar = "sub"
    DOMAIN: ClassVar = NUMBERS
    SAMPLES: ClassVar = samples(NUMBERS, 2, I1)

    def function(self, *args: Array) -> Array:
        return np.subtract(args[0], args[1])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(AddOp, [args[0], b.emit(NegOp, [args[1]])])


_SIGN_FREE: dict[int, DType] = {8: I8, 16: I16, 32: I32, 64: I64}


@irdl_op_definition
class AbsOp(UnaryComposite):
    """|x|. Clears the sign bit of floats; the smallest integer stays itself."""

    name = "hlir.abs"
    ATEN: ClassVar = ("aten.abs.default",)
    SPELLING: ClassVar = "abs"
    DOMAIN: ClassVar = NUMBERS
    SAMPLES: ClassVar = samples(NUMBERS, 1, I1)

    def function(self, *args: Array) -> Array:
        return np.abs(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        (x,) = args
        type_ = tensor_of(x)
        if type_.dtype.is_float:
            bits = _SIGN_FREE[type_.dtype.bits]
            raw = b.emit(BitcastOp, [x], dtype=bits.attr)
            mask = b.constant((1 << (bits.bits - 1)) - 1, type_.with_dtype(bits))
            return b.emit(BitcastOp, [b.emit(BitAndOp, [raw, mask])], dtype=type_.element)
        negative = b.emit(LessThanOp, [x, b.constant(0, type_)])
        return b.emit(SelectOp, [negative, b.emit(NegOp, [x]), x])


@irdl_op_definition
class ExpOp(UnaryComposite):
    """e^x = 2^(x log2 e). The expansion rounds x log2 e, an error that grows with |x|."""

    name = "hlir.exp"
    ATEN: ClassVar = ("aten.exp.default",)
    SPELLING: ClassVar = "exp"
    ULP: ClassVar = 8.0

    def function(self, *args: Array) -> Array:
        return np.exp(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(Exp2Op, [scaled(b, args[0], math.log2(math.e))])


@irdl_op_definition
class LogOp(UnaryComposite):
    """ln x = log2(x) ln 2."""

    name = "hlir.log"
    ATEN: ClassVar = ("aten.log.default",)
    SPELLING: ClassVar = "log"
    ULP: ClassVar = 4.0
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1, 0.0, 9.0)

    def function(self, *args: Array) -> Array:
        return np.log(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return scaled(b, b.emit(Log2Op, [args[0]]), math.log(2.0))


@irdl_op_definition
class CosOp(UnaryComposite):
    """cos x = sin(x + pi/2)."""

    name = "hlir.cos"
    ATEN: ClassVar = ("aten.cos.default",)
    SPELLING: ClassVar = "cos"
    ABSOLUTE: ClassVar = 2.0

    def function(self, *args: Array) -> Array:
        return np.cos(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(SinOp, [shifted(b, args[0], math.pi / 2)])


@irdl_op_definition
class TanhOp(UnaryComposite):
    """tanh x = 1 - 2 / (e^(2x) + 1)."""

    name = "hlir.tanh"
    ATEN: ClassVar = ("aten.tanh.default",)
    SPELLING: ClassVar = "tanh"
    ABSOLUTE: ClassVar = 2.0

    def function(self, *args: Array) -> Array:
        return np.tanh(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        denominator = shifted(b, b.emit(ExpOp, [scaled(b, args[0], 2.0)]), 1.0)
        return shifted(b, scaled(b, b.emit(RecipOp, [denominator]), -2.0), 1.0)


ERF_P = 0.3275911
ERF_COEFFICIENTS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


@irdl_op_definition
class ErfOp(UnaryComposite):
    """The error function. Expansion: Abramowitz and Stegun 7.1.26, within 1.5e-7 absolute, so the bound is for f32
    and narrower."""

    name = "hlir.erf"
    ATEN: ClassVar = ("aten.erf.default",)
    SPELLING: ClassVar = "erf"
    ABSOLUTE: ClassVar = 4.0
    SAMPLES: ClassVar = samples(FLOATS[:3], 1, I1)

    def function(self, *args: Array) -> Array:
        return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(args[0])).astype(args[0].dtype)

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        (x,) = args
        size = b.emit(AbsOp, [x])
        t = b.emit(RecipOp, [shifted(b, scaled(b, size, ERF_P), 1.0)])
        series = b.constant(ERF_COEFFICIENTS[0], tensor_of(x))
        for coefficient in ERF_COEFFICIENTS[1:]:
            series = shifted(b, b.emit(MulOp, [series, t]), coefficient)
        decay = b.emit(ExpOp, [b.emit(NegOp, [b.emit(MulOp, [x, x])])])
        product = b.emit(MulOp, [b.emit(MulOp, [series, t]), decay])
        positive = shifted(b, b.emit(NegOp, [product]), 1.0)
        negative = b.emit(LessThanOp, [x, b.constant(0.0, tensor_of(x))])
        return b.emit(SelectOp, [negative, b.emit(NegOp, [positive]), positive])


@irdl_op_definition
class RsqrtOp(UnaryComposite):
    """1 / sqrt(x)."""

    name = "hlir.rsqrt"
    ATEN: ClassVar = ("aten.rsqrt.default",)
    SPELLING: ClassVar = "rsqrt"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1, 0.0, 9.0)
    ULP: ClassVar = 1.0

    def function(self, *args: Array) -> Array:
        return np.reciprocal(np.sqrt(args[0]))

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(RecipOp, [b.emit(SqrtOp, [args[0]])])


@irdl_op_definition
class CeilOp(UnaryComposite):
    """The smallest integer not below x."""

    name = "hlir.ceil"
    ATEN: ClassVar = ("aten.ceil.default",)
    SPELLING: ClassVar = "ceil"

    def function(self, *args: Array) -> Array:
        return np.ceil(args[0])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(NegOp, [b.emit(FloorOp, [b.emit(NegOp, [args[0]])])])


@irdl_op_definition
class TruncDivOp(BinaryComposite):
    """a / b without its fraction: C's integer division, or trunc(a / b) on floats."""

    name = "hlir.trunc_div"
    SPELLING: ClassVar = "trunc_div"
    DOMAIN: ClassVar = INTEGERS
    SAMPLES: ClassVar = samples(INTEGERS, 2, F32, 1.0, 9.0)

    def function(self, *args: Array) -> Array:
        return np.floor_divide(args[0] - np.fmod(args[0], args[1]), args[1])

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        whole = b.emit(SubOp, [args[0], b.emit(ModOp, [args[0], args[1]])])
        return b.emit(FloorDivOp, [whole, args[1]])
