"""Dropout, and the activation that draws its slope."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch
from xdsl.ir import SSAValue

from ....dialects.dtype import I1
from ....dialects.hlir.comparison import LessEqualOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.elementwise import DivOp, LessThanOp, MulOp
from ....dialects.op import tensor_of
from ..call import Call, Handler
from ..draws import Distribution
from ..unsupported import UnsupportedNodeError


def _scaled(call: Call, x: SSAValue, mask: SSAValue, p: float) -> SSAValue:
    """x mask / (1 - p), rounded as eager does: on a CPU the quotient, then the product; on a GPU once."""
    b, type_ = call.b, tensor_of(x)
    ones = b.cast(mask, type_.dtype.compute)
    if call.is_cuda:
        wide = b.emit(MulOp, [b.cast(x, type_.dtype.compute), ones])
        return b.cast(b.emit(MulOp, [wide, b.constant(1 / (1 - p), tensor_of(wide))]), type_.dtype)
    noise = b.emit(DivOp, [ones, b.constant(1 - p, tensor_of(ones))])
    return b.emit(MulOp, [x, b.cast(noise, type_.dtype)])


def _dropped(call: Call) -> tuple[SSAValue, SSAValue]:
    """The result and the mask; with p = 1 everything is multiplied by 0 and nothing drawn, with p = 0 all is kept."""
    b, x = call.b, call.tensor("input")
    p, training = call.number("p"), call.value("train")
    assert isinstance(p, float | int)
    mask_type = tensor_of(x).with_dtype(I1)
    if training is False or p == 0:
        return x, b.constant(True, mask_type)
    if p == 1:
        return b.emit(MulOp, [x, b.constant(0, tensor_of(x))]), b.constant(False, mask_type)
    mask = call.draw(Distribution.DROPOUT, p, dtype=torch.bool, source=call.fake_argument("input").dtype)
    return _scaled(call, x, mask, p), mask


def native_dropout(call: Call) -> list[SSAValue]:
    """The result and the mask."""
    return list(_dropped(call))


def dropout(call: Call) -> SSAValue:
    """The result alone."""
    return _dropped(call)[0]


def rrelu(call: Call) -> list[SSAValue]:
    """x, or a x where x <= 0, with a uniform between lower and upper (training) or their mean; and a, 1 elsewhere.

    A number is drawn for every element; eager draws them for x <= 0 alone, so that data says how many.
    """
    b, x = call.b, call.tensor("self")
    lower, upper = call.number("lower"), call.number("upper")
    assert isinstance(lower, float | int) and isinstance(upper, float | int)
    type_ = tensor_of(x)
    negative = b.emit(LessEqualOp, [x, b.constant(0, type_)])
    if not call.flag("training"):
        slope = b.constant((lower + upper) / 2, type_)
        return [b.emit(SelectOp, [negative, b.emit(MulOp, [x, slope]), x]), call.tensor("noise")]
    if call.draws_as_eager:
        reason = "draws as many random numbers as there are elements below 0, which depends on data"
        raise UnsupportedNodeError(f"{reason}; the option random='philox' draws others")
    call.ignore("noise")
    slope = call.draw(Distribution.UNIFORM, float(lower), float(upper))
    noise = b.emit(SelectOp, [negative, slope, b.constant(1, type_)])
    return [b.emit(SelectOp, [negative, b.emit(MulOp, [x, slope]), x]), noise]


def rrelu_gradient(call: Call) -> SSAValue:
    """The gradient times a (training) or times the mean slope where x is not above 0."""
    b, grad = call.b, call.tensor("grad_output")
    lower, upper = call.number("lower"), call.number("upper")
    assert isinstance(lower, float | int) and isinstance(upper, float | int)
    call.ignore("self_is_result", "self", "noise")
    if call.flag("training") and upper - lower > 1e-6:
        return b.emit(MulOp, [grad, call.tensor("noise")])
    x = call.tensor("self")
    type_ = tensor_of(x)
    positive = b.emit(LessThanOp, [b.constant(0, type_), x])
    return b.emit(SelectOp, [positive, grad, b.emit(MulOp, [grad, b.constant((lower + upper) / 2, type_)])])


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.dropout.default": dropout,
        "aten.native_dropout.default": native_dropout,
        "aten.rrelu_with_noise_functional.default": rrelu,
        "aten.rrelu_with_noise_backward.default": rrelu_gradient,
    }
)
