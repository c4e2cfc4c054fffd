"""Primitive elementwise ops: a scalar function of each element; operands and result have one shape."""

from typing import ClassVar

import numpy as np
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from ..dtype import DTYPES, F32, F64, FLOATS, I1, INTEGERS
from ..op import Array
from .pointwise import NUMBERS, Binary, Elementwise, Unary, samples
from .types import TensorType


@irdl_op_definition
class Log2Op(Unary):
    """y = log2(x). -inf at 0, NaN below."""

    name = "hlir.log2"
    ATEN: ClassVar = ("aten.log2.default",)
    SPELLING: ClassVar = "log2"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1, 0.0, 9.0)

    def function(self, *args: Array) -> Array:
        return np.log2(args[0])


@irdl_op_definition
class Exp2Op(Unary):
    """y = 2^x."""

    name = "hlir.exp2"
    ATEN: ClassVar = ("aten.exp2.default",)
    SPELLING: ClassVar = "exp2"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1)

    def function(self, *args: Array) -> Array:
        return np.exp2(args[0])


@irdl_op_definition
class SinOp(Unary):
    """y = sin(x), x in radians. NaN for infinities."""

    name = "hlir.sin"
    ATEN: ClassVar = ("aten.sin.default",)
    SPELLING: ClassVar = "sin"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1, -9.0, 9.0)

    def function(self, *args: Array) -> Array:
        return np.sin(args[0])


@irdl_op_definition
class SqrtOp(Unary):
    """y = sqrt(x), correctly rounded. NaN below 0; sqrt(-0.0) is -0.0."""

    name = "hlir.sqrt"
    ATEN: ClassVar = ("aten.sqrt.default",)
    SPELLING: ClassVar = "sqrt"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1, -1.0, 9.0)

    def function(self, *args: Array) -> Array:
        return np.sqrt(args[0])


@irdl_op_definition
class RecipOp(Unary):
    """y = 1 / x, correctly rounded."""

    name = "hlir.recip"
    ATEN: ClassVar = ("aten.reciprocal.default",)
    SPELLING: ClassVar = "recip"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1)

    def function(self, *args: Array) -> Array:
        return np.reciprocal(args[0])


@irdl_op_definition
class FloorOp(Unary):
    """The largest integer not above x."""

    name = "hlir.floor"
    ATEN: ClassVar = ("aten.floor.default",)
    SPELLING: ClassVar = "floor"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1)

    def function(self, *args: Array) -> Array:
        return np.floor(args[0])


@irdl_op_definition
class RoundEvenOp(Unary):
    """The nearest integer, ties to even."""

    name = "hlir.round_even"
    ATEN: ClassVar = ("aten.round.default",)
    SPELLING: ClassVar = "round_even"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1)

    def function(self, *args: Array) -> Array:
        return np.rint(args[0])


@irdl_op_definition
class TruncOp(Unary):
    """x without its fraction."""

    name = "hlir.trunc"
    ATEN: ClassVar = ("aten.trunc.default",)
    SPELLING: ClassVar = "trunc"
    SAMPLES: ClassVar = samples(FLOATS[:4], 1, I1)

    def function(self, *args: Array) -> Array:
        return np.trunc(args[0])


@irdl_op_definition
class AddOp(Binary):
    """a + b. Integers wrap in their own width."""

    name = "hlir.add"
    SPELLING: ClassVar = "add"
    DOMAIN: ClassVar = NUMBERS
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(NUMBERS, 2, I1)

    def function(self, *args: Array) -> Array:
        return np.add(args[0], args[1])


@irdl_op_definition
class MulOp(Binary):
    """a * b. Integers wrap in their own width."""

    name = "hlir.mul"
    SPELLING: ClassVar = "mul"
    DOMAIN: ClassVar = NUMBERS
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(NUMBERS, 2, I1)

    def function(self, *args: Array) -> Array:
        return np.multiply(args[0], args[1])


@irdl_op_definition
class DivOp(Binary):
    """a / b on floats, correctly rounded."""

    name = "hlir.div"
    SPELLING: ClassVar = "div"
    SAMPLES: ClassVar = samples(FLOATS[:4], 2, I1)

    def function(self, *args: Array) -> Array:
        return np.true_divide(args[0], args[1])


@irdl_op_definition
class ModOp(Binary):
    """The remainder of truncated division: the sign of a, as C's fmod and %."""

    name = "hlir.mod"
    ATEN: ClassVar = ("aten.fmod.Tensor",)
    SPELLING: ClassVar = "mod"
    DOMAIN: ClassVar = NUMBERS
    SAMPLES: ClassVar = (*samples(FLOATS[:4], 2, I1), *samples(INTEGERS, 2, F32, 1.0, 9.0)[: len(INTEGERS)])

    def function(self, *args: Array) -> Array:
        return np.fmod(args[0], args[1])


@irdl_op_definition
class FloorDivOp(Binary):
    """floor(a / b) on integers. Division by zero has no defined result."""

    name = "hlir.floor_div"
    SPELLING: ClassVar = "floor_div"
    DOMAIN: ClassVar = INTEGERS
    SAMPLES: ClassVar = samples(INTEGERS, 2, F32, 1.0, 9.0)

    def function(self, *args: Array) -> Array:
        return np.floor_divide(args[0], args[1])


@irdl_op_definition
class GcdOp(Binary):
    """The greatest common divisor of |a| and |b|; gcd(0, b) is |b|."""

    name = "hlir.gcd"
    SPELLING: ClassVar = "gcd"
    DOMAIN: ClassVar = INTEGERS
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(INTEGERS, 2, F32, 1.0, 99.0)

    def function(self, *args: Array) -> Array:
        return np.gcd(args[0], args[1])


@irdl_op_definition
class MaximumOp(Binary):
    """The larger of a and b; NaN if either is."""

    name = "hlir.maximum"
    ATEN: ClassVar = ("aten.maximum.default",)
    SPELLING: ClassVar = "maximum"
    DOMAIN: ClassVar = NUMBERS
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(NUMBERS, 2, I1)

    def function(self, *args: Array) -> Array:
        return np.maximum(args[0], args[1])


@irdl_op_definition
class LessThanOp(Binary):
    """a < b as i1; false where either is NaN."""

    name = "hlir.less_than"
    SPELLING: ClassVar = "less_than"
    DOMAIN: ClassVar = DTYPES
    RESULT: ClassVar = I1
    SAMPLES: ClassVar = samples(DTYPES, 2)

    def function(self, *args: Array) -> Array:
        return np.less(args[0], args[1])


@irdl_op_definition
class EqualOp(Binary):
    """a == b as i1; false where either is NaN."""

    name = "hlir.equal"
    SPELLING: ClassVar = "equal"
    DOMAIN: ClassVar = DTYPES
    RESULT: ClassVar = I1
    COMMUTATIVE: ClassVar = True
    SAMPLES: ClassVar = samples(DTYPES, 2)

    def function(self, *args: Array) -> Array:
        return np.equal(args[0], args[1])


@irdl_op_definition
class FmaOp(Elementwise):
    """a * b + c with one rounding. Only a `real` rule introduces it."""

    name = "hlir.fma"
    SPELLING: ClassVar = "fma"
    ARITY: ClassVar[int] = 3
    DOMAIN: ClassVar = (F32, F64)
    SAMPLES: ClassVar = samples((F32,), 3, I1)

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    c = operand_def(TensorType)
    result = result_def(TensorType)

    def function(self, *args: Array) -> Array:
        wide = [x.astype(np.longdouble) for x in args]
        return (wide[0] * wide[1] + wide[2]).astype(args[0].dtype)
