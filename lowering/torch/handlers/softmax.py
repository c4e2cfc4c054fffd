"""Softmax and log-softmax, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.hlir.arithmetic import ExpOp, LogOp, SubOp
from ....dialects.hlir.attention import safe_softmax
from ....dialects.hlir.elementwise import MulOp
from ....dialects.hlir.reduction import MaxOp, SumOp
from ....dialects.hlir.softmax import AlongAxis, LogSoftmaxOp, SoftmaxOp
from ....dialects.hlir.types import axes_attr
from ....dialects.op import tensor_of
from ..call import Call, Handler


def along(op_class: type[AlongAxis]) -> Callable[[Call], SSAValue]:
    """The op along `dim`; a 0-d tensor counts as one element."""

    def handler(call: Call) -> SSAValue:
        call.ignore("dtype", "half_to_float")
        x = call.b.cast(call.tensor("self"), call.dtype)
        rank = tensor_of(x).rank
        axis = IntAttr(call.axis("dim", rank))
        if rank:
            return call.b.emit(op_class, [x], axis=axis)
        return call.b.reshape(call.b.emit(op_class, [call.b.reshape(x, [1])], axis=axis), [])

    return handler


def logarithm(call: Call) -> SSAValue:
    """Log-softmax. On the CPU eager rounds the sum and its logarithm to a narrow float where the dim is the last."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    narrow = type_.dtype.is_float and type_.dtype.compute != type_.dtype and type_.dtype == call.dtype
    if call.is_cuda or not narrow or call.axis("dim", type_.rank) != type_.rank - 1:
        return along(LogSoftmaxOp)(call)
    b, last = call.b, [type_.rank - 1]
    call.ignore("dtype", "half_to_float")
    wide = b.cast(x, type_.dtype.compute)
    top = b.restore_axes(b.emit(MaxOp, [wide], axes=axes_attr(last)), last, type_.dims)
    centred = b.emit(SubOp, [wide, top])
    total = b.cast(b.emit(SumOp, [b.emit(ExpOp, [centred])], axes=axes_attr(last)), type_.dtype)
    rest = b.cast(b.emit(LogOp, [total]), type_.dtype.compute)
    return b.cast(b.emit(SubOp, [centred, b.restore_axes(rest, last, type_.dims)]), type_.dtype)


def without_nan(call: Call) -> SSAValue:
    """Softmax that gives zeros for a row of nothing but -inf."""
    b = call.b
    call.ignore("dtype")
    x = b.cast(b.cast(call.tensor("self"), call.dtype), call.dtype.compute)
    rank = tensor_of(x).rank
    axis = call.axis("dim", rank)
    order = [*(i for i in range(rank) if i != axis), axis]
    back = [order.index(i) for i in range(rank)]
    return b.cast(b.permute(safe_softmax(b, b.permute(x, order)), back), call.dtype)


def gradient(call: Call) -> SSAValue:
    """y (g - sum g y) of softmax, g - e^y sum g of log-softmax, in the computation dtype.

    A CUDA device computes the former as g y - y sum g y, which gives other signs of zeros.
    """
    b = call.b
    call.ignore("input_dtype")
    grad, y = (b.cast(call.tensor(name), call.dtype.compute) for name in ("grad_output", "output"))
    type_ = tensor_of(y)
    axis = call.axis("dim", type_.rank)
    axes = [axis] if type_.rank else []
    logarithmic = "log" in call.name
    terms = grad if logarithmic else b.emit(MulOp, [grad, y])
    total = b.restore_axes(b.emit(SumOp, [terms], axes=axes_attr(axes)), axes, type_.dims)
    if logarithmic:
        value = b.emit(SubOp, [grad, b.emit(MulOp, [b.emit(ExpOp, [y]), total])])
    elif call.is_cuda:
        value = b.emit(SubOp, [terms, b.emit(MulOp, [y, total])])
    else:
        value = b.emit(MulOp, [b.emit(SubOp, [grad, total]), y])
    return b.cast(value, call.dtype)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.softmax.int": along(SoftmaxOp),
        "aten._softmax.default": along(SoftmaxOp),
        "aten._safe_softmax.default": without_nan,
        "aten.log_softmax.int": logarithm,
        "aten._log_softmax.default": logarithm,
        "aten._softmax_backward_data.default": gradient,
        "aten._log_softmax_backward_data.default": gradient,
    }
)
