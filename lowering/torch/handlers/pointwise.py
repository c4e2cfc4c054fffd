"""Elementwise ATen ops whose result is computed in torch's computation dtype: arithmetic, and what the catalogue names
itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from ....dialects.catalogue import catalogue
from ....dialects.hlir.activation import GeluOp
from ....dialects.hlir.arithmetic import AbsOp, CeilOp, LogOp, NegOp, SubOp, TruncDivOp
from ....dialects.hlir.bitwise import BitAndOp, BitOrOp
from ....dialects.hlir.comparison import RemainderOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.elementwise import (
    AddOp,
    DivOp,
    Elementwise,
    FloorDivOp,
    FloorOp,
    LessThanOp,
    ModOp,
    MulOp,
    RecipOp,
    RoundEvenOp,
    TruncOp,
)
from ....dialects.op import TensorOp, tensor_of
from ..call import Call, Handler, Operand
from ..promotion import Kind, finish, number_tensor, promote
from ..unsupported import UnsupportedNodeError
from .floor_division import floor_divide

_INTEGRAL = (FloorOp, CeilOp, TruncOp, RoundEvenOp)


def unary(op_class: type[TensorOp]) -> Callable[[Call], SSAValue]:
    """f(self), where integers become floats if the op has no integer form; rounding leaves integers as they are."""

    def handler(call: Call) -> SSAValue:
        x = call.tensor("self")
        if op_class in _INTEGRAL and not tensor_of(x).dtype.is_float:
            return x
        assert issubclass(op_class, Elementwise)
        dtype = call.dtype if op_class.RESULT is None else tensor_of(x).dtype
        if dtype not in op_class.DOMAIN:
            raise UnsupportedNodeError(f"is not supported on {dtype.name}")
        return call.b.emit(op_class, [call.b.cast(x, dtype)])

    return handler


def binary(op_class: type[TensorOp], *, wide_scalars: bool = False, kind: Kind = Kind.DEFAULT) -> Handler:
    """f(self, other) after promotion."""

    def handler(call: Call) -> SSAValue:
        wide = wide_scalars or call.is_cuda
        return finish(call, op_class, promote(call, ["self", "other"], kind=kind, wide_scalars=wide))

    return handler


def scaled_binary(op_class: type[TensorOp], first: str = "self", second: str = "other") -> Callable[[Call], SSAValue]:
    """f(first, alpha * second): add (of booleans, or), sub and rsub."""

    def handler(call: Call) -> SSAValue:
        operands = promote(call, [first, second], wide_scalars=call.is_cuda)
        a, b = operands.operands
        alpha = call.number("alpha")
        dtype = operands.dtype
        if alpha != 1:
            dtype = dtype.compute
            a, b = call.b.cast(a, dtype), call.b.cast(b, dtype)
            rounded = number_tensor(call, alpha, tensor_of(b).with_dtype(operands.dtype))
            b = call.b.emit(MulOp, [b, call.b.cast(rounded, dtype)])
        if dtype.is_bool and op_class is not AddOp:
            raise UnsupportedNodeError("is not supported on i1")
        return call.b.cast(call.b.emit(BitOrOp if dtype.is_bool else op_class, [a, b]), operands.result)

    return handler


def multiply(call: Call) -> SSAValue:
    """self * other; of booleans, and."""
    operands = promote(call, ["self", "other"], wide_scalars=True)
    return finish(call, BitAndOp if operands.dtype.is_bool else MulOp, operands)


def divide(call: Call) -> SSAValue:
    """self / other with the rounding that `rounding_mode` names; without one the result is a float."""
    mode = call.value("rounding_mode") if "rounding_mode" in call.argument_names else None
    if mode is None:
        return finish(call, DivOp, promote(call, ["self", "other"], kind=Kind.INT_TO_FLOAT, wide_scalars=True))
    operands = promote(call, ["self", "other"], wide_scalars=call.is_cuda)
    a, b = operands.operands
    if operands.dtype.is_float:
        a, b = call.b.cast(a, operands.dtype.compute), call.b.cast(b, operands.dtype.compute)
        if mode == "floor":
            return call.b.cast(floor_divide(call.b, a, b), operands.result)
        by_number = call.is_cuda and not isinstance(call.operand("other"), SSAValue)
        # Eager's kernels on CUDA multiply by the reciprocal of a number, which may be whole where the quotient is not.
        quotient = call.b.emit(MulOp, [a, call.b.emit(RecipOp, [b])]) if by_number else call.b.emit(DivOp, [a, b])
        if not _is_single(call.operand("other")):  # only a quotient by one number is not rounded before
            quotient = call.b.cast(call.b.cast(quotient, operands.dtype), operands.dtype.compute)
        return call.b.cast(call.b.emit(TruncOp, [quotient]), operands.result)
    return call.b.emit(FloorDivOp if mode == "floor" else TruncDivOp, [a, b])


def _is_single(x: Operand) -> bool:
    return not isinstance(x, SSAValue) or tensor_of(x).rank == 0


def floor_division(call: Call) -> SSAValue:
    """floor(self / other)."""
    operands = promote(call, ["self", "other"])
    if not operands.dtype.is_float:
        return finish(call, FloorDivOp, operands)
    a, b = (call.b.cast(x, operands.dtype.compute) for x in operands.operands)
    return call.b.cast(floor_divide(call.b, a, b), operands.result)


def gelu(call: Call) -> SSAValue:
    """GELU in the form that `approximate` names."""
    return call.b.emit(GeluOp, [call.tensor("self")], approximate=StringAttr(call.value("approximate")))


def logarithm(base: float) -> Handler:
    """log of another base."""

    def handler(call: Call) -> SSAValue:
        x = call.b.cast(call.tensor("self"), call.dtype.compute)
        logs = call.b.emit(LogOp, [x])
        return call.b.cast(call.b.emit(MulOp, [logs, call.b.constant(1 / math.log(base), tensor_of(logs))]), call.dtype)

    return handler


def square(call: Call) -> SSAValue:
    """x * x."""
    x = call.b.cast(call.tensor("self"), call.dtype)
    return call.b.emit(MulOp, [x, x])


def subtract_from(call: Call) -> SSAValue:
    """other - alpha * self."""
    return scaled_binary(SubOp, "other", "self")(call)


def multiply_add(factor: type[TensorOp]) -> Handler:
    """self + value * (tensor1 * tensor2), or tensor1 / tensor2."""

    def handler(call: Call) -> SSAValue:
        operands = promote(call, ["self", "tensor1", "tensor2"])
        base, a, b = (call.b.cast(x, operands.dtype.compute) for x in operands.operands)
        value = call.number("value")
        if value != 1:
            a = call.b.emit(MulOp, [a, number_tensor(call, value, tensor_of(a))])
        total = call.b.emit(AddOp, [base, call.b.emit(factor, [a, b])])
        return call.b.cast(total, operands.result)

    return handler


def interpolate(call: Call) -> SSAValue:
    """self + weight * (end - self), from the nearer end."""
    operands = promote(call, ["self", "end", "weight"], wide_scalars=True)
    start, end, weight = (call.b.cast(x, operands.dtype.compute) for x in operands.operands)
    type_ = tensor_of(start)
    distance = call.b.emit(SubOp, [end, start])
    near = call.b.emit(LessThanOp, [call.b.emit(AbsOp, [weight]), call.b.constant(0.5, type_)])
    rest = call.b.emit(SubOp, [call.b.constant(1.0, type_), weight])
    forward = call.b.emit(AddOp, [start, call.b.emit(MulOp, [weight, distance])])
    backward = call.b.emit(SubOp, [end, call.b.emit(MulOp, [distance, rest])])
    return call.b.cast(call.b.emit(SelectOp, [near, forward, backward]), operands.result)


def _from_catalogue() -> dict[str, Handler]:
    """Handlers of the elementwise ops that name their ATen overloads."""
    handlers: dict[str, Handler] = {}
    for op_class in catalogue():
        if issubclass(op_class, Elementwise):
            make = unary if op_class.ARITY == 1 else binary
            handlers.update({name: make(op_class) for name in op_class.ATEN})
    return handlers


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **_from_catalogue(),
        "aten.add.Tensor": scaled_binary(AddOp),
        "aten.add.Scalar": scaled_binary(AddOp),
        "aten.sub.Tensor": scaled_binary(SubOp),
        "aten.sub.Scalar": scaled_binary(SubOp),
        "aten.rsub.Tensor": subtract_from,
        "aten.rsub.Scalar": subtract_from,
        "aten.mul.Tensor": multiply,
        "aten.mul.Scalar": multiply,
        "aten.div.Tensor": divide,
        "aten.div.Scalar": divide,
        "aten.div.Tensor_mode": divide,
        "aten.div.Scalar_mode": divide,
        "aten.true_divide.Tensor": divide,
        "aten.floor_divide.default": floor_division,
        "aten.floor_divide.Scalar": floor_division,
        "aten.fmod.Scalar": binary(ModOp),
        "aten.remainder.Scalar": binary(RemainderOp),
        "aten.negative.default": unary(NegOp),
        "aten.square.default": square,
        "aten.log10.default": logarithm(10.0),
        "aten.gelu.default": gelu,
        "aten.addcmul.default": multiply_add(MulOp),
        "aten.addcdiv.default": multiply_add(DivOp),
        "aten.lerp.Scalar": interpolate,
        "aten.lerp.Tensor": interpolate,
    }
)
