"""Activation functions that hlir has no op for, and gradients of activations."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.hlir.activation import ReluOp, SigmoidOp
from ....dialects.hlir.arithmetic import AbsOp, ExpOp, NegOp, SubOp, TanhOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.comparison import LessEqualOp, MinimumOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.elementwise import AddOp, DivOp, LessThanOp, MaximumOp, MulOp
from ....dialects.op import tensor_of
from ..call import Call, Handler
from .mathematics import expm1, formula, like, log1p


def bounded(b: GraphBuilder, x: SSAValue, low: float, high: float) -> SSAValue:
    """x between low and high."""
    return b.emit(MinimumOp, [b.emit(MaximumOp, [x, like(b, low, x)]), like(b, high, x)])


def hard_sigmoid(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """min(max(x + 3, 0), 6) / 6."""
    return b.emit(DivOp, [bounded(b, b.emit(AddOp, [x, like(b, 3.0, x)]), 0.0, 6.0), like(b, 6.0, x)])


def hard_swish(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x min(max(x + 3, 0), 6) / 6."""
    inner = bounded(b, b.emit(AddOp, [x, like(b, 3.0, x)]), 0.0, 6.0)
    return b.emit(DivOp, [b.emit(MulOp, [x, inner]), like(b, 6.0, x)])


def log_sigmoid(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """min(x, 0) - ln(1 + e^-|x|)."""
    decay = b.emit(ExpOp, [b.emit(NegOp, [b.emit(AbsOp, [x])])])
    return b.emit(SubOp, [b.emit(MinimumOp, [x, like(b, 0.0, x)]), log1p(b, decay)])


def mish(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """x tanh(ln(1 + e^x))."""
    return b.emit(MulOp, [x, b.emit(TanhOp, [log1p(b, b.emit(ExpOp, [x]))])])


def _input(call: Call, name: str = "self") -> SSAValue:
    return call.b.cast(call.tensor(name), call.dtype.compute)


def leaky_relu(call: Call) -> SSAValue:
    """x where x > 0, else negative_slope x."""
    x, slope = _input(call), float(call.value("negative_slope"))
    positive = call.b.emit(LessThanOp, [like(call.b, 0.0, x), x])
    scaled = call.b.emit(MulOp, [x, like(call.b, slope, x)])
    return call.b.cast(call.b.emit(SelectOp, [positive, x, scaled]), call.dtype)


def elu(call: Call) -> SSAValue:
    """scale x where x > 0, else scale alpha (e^(input_scale x) - 1)."""
    b, x = call.b, _input(call)
    alpha, scale, inner = (float(call.value(name)) for name in ("alpha", "scale", "input_scale"))
    curve = expm1(b, b.emit(MulOp, [x, like(b, inner, x)]))
    below = b.emit(MulOp, [curve, like(b, alpha * scale, x)])
    above = b.emit(MulOp, [x, like(b, scale, x)])
    return b.cast(b.emit(SelectOp, [b.emit(LessEqualOp, [x, like(b, 0.0, x)]), below, above]), call.dtype)


def softplus(call: Call) -> SSAValue:
    """ln(1 + e^(beta x)) / beta, and x where beta x is above the threshold."""
    b, x = call.b, _input(call)
    beta, threshold = float(call.value("beta")), float(call.value("threshold"))
    inner = b.emit(MulOp, [x, like(b, beta, x)])
    curve = b.emit(DivOp, [log1p(b, b.emit(ExpOp, [inner])), like(b, beta, x)])
    return b.cast(b.emit(SelectOp, [b.emit(LessThanOp, [like(b, threshold, x), inner]), x, curve]), call.dtype)


def hard_tanh(call: Call) -> SSAValue:
    """self between min_val and max_val."""
    x = call.tensor("self")
    return bounded(call.b, x, call.value("min_val"), call.value("max_val"))


def threshold_backward(call: Call) -> SSAValue:
    """grad_output where self > threshold, else 0."""
    x, grad = call.tensor("self"), call.tensor("grad_output")
    blocked = call.b.emit(LessEqualOp, [x, like(call.b, call.value("threshold"), x)])
    return call.b.emit(SelectOp, [blocked, like(call.b, 0, grad), grad])


def sigmoid_backward(call: Call) -> SSAValue:
    """grad_output y (1 - y)."""
    b, grad, y = call.b, _input(call, "grad_output"), _input(call, "output")
    rest = b.emit(SubOp, [like(b, 1.0, y), y])
    return b.cast(b.emit(MulOp, [b.emit(MulOp, [grad, rest]), y]), call.dtype)


def tanh_backward(call: Call) -> SSAValue:
    """grad_output (1 - y^2)."""
    b, grad, y = call.b, _input(call, "grad_output"), _input(call, "output")
    return b.cast(b.emit(MulOp, [grad, b.emit(SubOp, [like(b, 1.0, y), b.emit(MulOp, [y, y])])]), call.dtype)


def silu_backward(call: Call) -> SSAValue:
    """grad_output s (1 + x (1 - s)) with s = sigmoid(x)."""
    b, grad, x = call.b, _input(call, "grad_output"), _input(call)
    s = b.emit(SigmoidOp, [x])
    slope = b.emit(AddOp, [b.emit(MulOp, [x, b.emit(SubOp, [like(b, 1.0, x), s])]), like(b, 1.0, x)])
    return b.cast(b.emit(MulOp, [b.emit(MulOp, [grad, s]), slope]), call.dtype)


def prelu(call: Call) -> SSAValue:
    """x where x > 0, else weight x; one weight, or one a channel."""
    b, x, weight = call.b, _input(call), _input(call, "weight")
    dims = tensor_of(x).dims
    scaled = b.emit(MulOp, [b.broadcast(weight, dims), x])
    return b.cast(b.emit(SelectOp, [b.emit(LessThanOp, [like(b, 0.0, x), x]), x, scaled]), call.dtype)


def relu6(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """min(max(x, 0), 6)."""
    return b.emit(MinimumOp, [like(b, 6.0, x), b.emit(ReluOp, [x])])


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.hardsigmoid.default": formula(hard_sigmoid),
        "aten.hardswish.default": formula(hard_swish),
        "aten.log_sigmoid.default": formula(log_sigmoid),
        "aten.mish.default": formula(mish),
        "aten.relu6.default": formula(relu6),
        "aten.leaky_relu.default": leaky_relu,
        "aten.elu.default": elu,
        "aten.softplus.default": softplus,
        "aten.hardtanh.default": hard_tanh,
        "aten._prelu_kernel.default": prelu,
        "aten.threshold_backward.default": threshold_backward,
        "aten.sigmoid_backward.default": sigmoid_backward,
        "aten.tanh_backward.default": tanh_backward,
        "aten.silu_backward.default": silu_backward,
    }
)
