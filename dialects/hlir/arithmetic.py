"""Composite arithmetic and activations of one element."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def

from ..dtype import F32, FLOATS, I1, I8, I16, I32, I64, INTEGERS, DType
from ..op import Array, Sample, require, tensor_of
from .bitwise import BitAndOp
from .builder import GraphBuilder
from .composite import BinaryComposite, UnaryComposite
from .elementwise import (
    AddOp,
    BitcastOp,
    Exp2Op,
    FloorDivOp,
    FloorOp,
    LessThanOp,
    Log2Op,
    MaximumOp,
    ModOp,
    MulOp,
    RecipOp,
    SelectOp,
    SinOp,
    SqrtOp,
)
from .pointwise import NUMBERS, samples
from .types import TensorType, tensor_type


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
class SigmoidOp(UnaryComposite):
    """1 / (1 + e^-x)."""

    name = "hlir.sigmoid"
    ATEN: ClassVar = ("aten.sigmoid.default",)
    SPELLING: ClassVar = "sigmoid"
    ULP: ClassVar = 4.0

    def function(self, *args: Array) -> Array:
        return 1 / (1 + np.exp(-args[0]))

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(RecipOp, [shifted(b, b.emit(ExpOp, [b.emit(NegOp, [args[0]])]), 1.0)])


@irdl_op_definition
class SiluOp(UnaryComposite):
    """x sigmoid(x)."""

    name = "hlir.silu"
    ATEN: ClassVar = ("aten.silu.default",)
    SPELLING: ClassVar = "silu"
    ULP: ClassVar = 4.0

    def function(self, *args: Array) -> Array:
        return args[0] / (1 + np.exp(-args[0]))

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(MulOp, [args[0], b.emit(SigmoidOp, [args[0]])])


@irdl_op_definition
class ReluOp(UnaryComposite):
    """max(x, 0); NaN stays NaN."""

    name = "hlir.relu"
    ATEN: ClassVar = ("aten.relu.default",)
    SPELLING: ClassVar = "relu"
    DOMAIN: ClassVar = NUMBERS
    SAMPLES: ClassVar = samples(NUMBERS, 1, I1)

    def function(self, *args: Array) -> Array:
        return np.maximum(args[0], np.zeros((), args[0].dtype))

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        return b.emit(MaximumOp, [args[0], b.constant(0, tensor_of(args[0]))])


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


GELU_FORMS = ("none", "tanh")


@irdl_op_definition
class GeluOp(UnaryComposite):
    """x Phi(x): 0.5 x (1 + erf(x / sqrt 2)), or with `approximate = "tanh"` 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715
    x^3)))."""

    name = "hlir.gelu"
    SPELLING: ClassVar = "gelu"
    ABSOLUTE: ClassVar = 4.0
    SAMPLES: ClassVar = (
        *(
            Sample((tensor_type([3, 5], d),), {"approximate": StringAttr(form)})
            for d in FLOATS[:3]
            for form in GELU_FORMS
        ),
        Sample((tensor_type([3], F32),), {"approximate": StringAttr("erf")}, error="approximate must be one of"),
        Sample((tensor_type([3], I32),), {"approximate": StringAttr("none")}, error="element type must be one of"),
    )

    approximate = prop_def(StringAttr)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], properties: Mapping[str, Attribute]) -> tuple[TensorType, ...]:
        form = properties.get("approximate")
        known = isinstance(form, StringAttr) and form.data in GELU_FORMS
        require(known, f"approximate must be one of {' '.join(GELU_FORMS)}")
        return super().infer(operands, properties)

    def function(self, *args: Array) -> Array:
        x = args[0].astype(np.float64)
        if self.approximate.data == "tanh":
            value = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        else:
            value = 0.5 * x * (1 + np.vectorize(math.erf, otypes=[np.float64])(x / math.sqrt(2)))
        return value.astype(args[0].dtype)

    def define(self, b: GraphBuilder, *args: SSAValue) -> SSAValue:
        (x,) = args
        if self.approximate.data == "tanh":
            cube = b.emit(MulOp, [b.emit(MulOp, [x, x]), x])
            inner = b.emit(AddOp, [x, scaled(b, cube, 0.044715)])
            curve = b.emit(TanhOp, [scaled(b, inner, math.sqrt(2 / math.pi))])
        else:
            curve = b.emit(ErfOp, [scaled(b, x, math.sqrt(0.5))])
        return b.emit(MulOp, [scaled(b, x, 0.5), shifted(b, curve, 1.0)])
