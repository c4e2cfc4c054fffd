"""Activation functions of one element."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def

from ..dtype import F32, FLOATS, I1, I32
from ..op import Array, Sample, require, tensor_of
from .arithmetic import ErfOp, ExpOp, NegOp, TanhOp, scaled, shifted
from .builder import GraphBuilder
from .composite import UnaryComposite
from .elementwise import AddOp, MaximumOp, MulOp, RecipOp
from .pointwise import NUMBERS, samples
from .types import TensorType, tensor_type


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
        return b.emit(MaximumOp, [b.constant(0, tensor_of(args[0])), args[0]])


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
