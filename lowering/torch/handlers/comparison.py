"""Comparisons, logical and bitwise ops, and choices between values: operands meet in their common dtype, without
widening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import I1
from ....dialects.hlir.arithmetic import AbsOp
from ....dialects.hlir.bitwise import BitAndOp, BitOrOp, BitXorOp
from ....dialects.hlir.comparison import BitNotOp, IsNanOp, LessEqualOp, MinimumOp, NotEqualOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.elementwise import EqualOp, LessThanOp, MaximumOp
from ....dialects.op import TensorOp, tensor_of
from ..call import Call, Handler
from ..promotion import Kind, finish, promote


def compare(op_class: type[TensorOp], *, swapped: bool = False) -> Handler:
    """self ? other as i1; `swapped` exchanges them."""

    def handler(call: Call) -> SSAValue:
        a, b = promote(call, ["self", "other"], kind=Kind.ALWAYS_BOOL).operands
        return call.b.emit(op_class, [b, a] if swapped else [a, b])

    return handler


def bitwise(op_class: type[TensorOp]) -> Handler:
    """Bits of self and other combined."""

    def handler(call: Call) -> SSAValue:
        return finish(call, op_class, promote(call, ["self", "other"]))

    return handler


def logical(op_class: type[TensorOp], names: Sequence[str] = ("self", "other")) -> Handler:
    """Truth values combined; anything but zero is true."""

    def handler(call: Call) -> SSAValue:
        operands = [call.b.broadcast(call.b.cast(call.tensor(name), I1), call.dims) for name in names]
        return call.b.emit(op_class, operands)

    return handler


def where(call: Call) -> SSAValue:
    """self where the condition holds, else other."""
    condition = call.b.cast(call.tensor("condition"), I1)
    a, b = promote(call, ["self", "other"]).operands
    return call.b.emit(SelectOp, [call.b.broadcast(condition, call.dims), a, b])


def masked_fill(call: Call) -> SSAValue:
    """value where the mask holds, else self."""
    mask = call.b.broadcast(call.tensor("mask"), call.dims)
    x = call.b.broadcast(call.tensor("self"), call.dims)
    value = call.operand("value")
    if isinstance(value, SSAValue):
        fill = call.b.broadcast(call.b.cast(value, call.dtype), call.dims)
    else:
        from ..promotion import number_tensor

        fill = number_tensor(call, value, call.type)
    return call.b.emit(SelectOp, [mask, fill, x])


def clamp(call: Call) -> SSAValue:
    """min(max(self, min), max) with the bounds that are given; a NaN bound gives NaN, and self stays where it equals
    one, so that -0.0 is not 0.0."""
    bounds = [name for name in ("min", "max") if name in call.argument_names and call.has(name)]
    operands = promote(call, ["self", *bounds])
    x, *limits = operands.operands
    larger, smaller = (BitOrOp, BitAndOp) if operands.dtype.is_bool else (MaximumOp, MinimumOp)
    for name, limit in zip(bounds, limits, strict=True):
        x = call.b.emit(larger if name == "min" else smaller, [limit, x])
    return call.b.cast(x, operands.result)


def extreme(op_class: type[TensorOp], of_booleans: type[TensorOp]) -> Handler:
    """The larger or smaller of self and other; NaN if either is."""

    def handler(call: Call) -> SSAValue:
        operands = promote(call, ["self", "other"])
        return finish(call, of_booleans if operands.dtype.is_bool else op_class, operands)

    return handler


def ignoring_nan(op_class: type[TensorOp], of_booleans: type[TensorOp]) -> Handler:
    """The larger or smaller of self and other; where one is NaN, the other."""

    def handler(call: Call) -> SSAValue:
        operands = promote(call, ["self", "other"])
        a, b = operands.operands
        if operands.dtype.is_bool:
            return call.b.emit(of_booleans, [a, b])
        value = call.b.emit(op_class, [a, b])
        if operands.dtype.is_float:
            value = call.b.emit(SelectOp, [call.b.emit(IsNanOp, [a]), b, value])
            value = call.b.emit(SelectOp, [call.b.emit(IsNanOp, [b]), a, value])
        return value

    return handler


def is_infinite(call: Call) -> SSAValue:
    """|self| == inf."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    if not type_.dtype.is_float:
        return call.b.constant(False, call.type)
    return call.b.emit(EqualOp, [call.b.emit(AbsOp, [x]), call.b.constant(float("inf"), type_)])


def is_finite(call: Call) -> SSAValue:
    """|self| < inf."""
    x = call.tensor("self")
    type_ = tensor_of(x)
    if not type_.dtype.is_float:
        return call.b.constant(True, call.type)
    return call.b.emit(LessThanOp, [call.b.emit(AbsOp, [x]), call.b.constant(float("inf"), type_)])


def is_nan(call: Call) -> SSAValue:
    """self != self."""
    x = call.tensor("self")
    return call.b.emit(IsNanOp, [x]) if tensor_of(x).dtype.is_float else call.b.constant(False, call.type)


def _overloads(name: str, handler: Handler, overloads: Sequence[str] = ("Tensor", "Scalar")) -> dict[str, Handler]:
    return {f"aten.{name}.{overload}": handler for overload in overloads}


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **_overloads("eq", compare(EqualOp)),
        **_overloads("ne", compare(NotEqualOp)),
        **_overloads("lt", compare(LessThanOp)),
        **_overloads("gt", compare(LessThanOp, swapped=True)),
        **_overloads("le", compare(LessEqualOp)),
        **_overloads("ge", compare(LessEqualOp, swapped=True)),
        **_overloads("bitwise_and", bitwise(BitAndOp)),
        **_overloads("bitwise_or", bitwise(BitOrOp)),
        **_overloads("bitwise_xor", bitwise(BitXorOp)),
        **_overloads("__and__", bitwise(BitAndOp)),
        **_overloads("__or__", bitwise(BitOrOp)),
        **_overloads("__xor__", bitwise(BitXorOp)),
        "aten.logical_and.default": logical(BitAndOp),
        "aten.logical_or.default": logical(BitOrOp),
        "aten.logical_xor.default": logical(BitXorOp),
        "aten.logical_not.default": logical(BitNotOp, ("self",)),
        **_overloads("where", where, ("self", "Scalar", "ScalarSelf", "ScalarOther")),
        **_overloads("masked_fill", masked_fill),
        "aten.clamp.default": clamp,
        "aten.clamp.Tensor": clamp,
        "aten.clamp_min.default": clamp,
        "aten.clamp_max.default": clamp,
        "aten.maximum.default": extreme(MaximumOp, BitOrOp),
        "aten.minimum.default": extreme(MinimumOp, BitAndOp),
        "aten.fmax.default": ignoring_nan(MaximumOp, BitOrOp),
        "aten.fmin.default": ignoring_nan(MinimumOp, BitAndOp),
        "aten.isinf.default": is_infinite,
        "aten.isfinite.default": is_finite,
        "aten.isnan.default": is_nan,
    }
)
