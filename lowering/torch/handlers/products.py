"""Products that eager rounds after each step: outer products added to a matrix, cross products."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.hlir.arithmetic import SubOp
from ....dialects.hlir.arranging import ConcatOp
from ....dialects.hlir.bitwise import BitAndOp, BitOrOp
from ....dialects.hlir.elementwise import AddOp, MulOp
from ....dialects.op import tensor_of
from ....dialects.sym.expr import constant
from ..call import Call, Handler
from ..promotion import number_tensor, promote
from .views import slice_view


def add_outer(call: Call) -> SSAValue:
    """beta self + (alpha vec1) vec2^T, where self is not read if beta is 0; of booleans, and for *, or for +."""
    b, (rows, columns) = call.b, call.dims
    first = b.broadcast(b.reshape(b.cast(call.tensor("vec1"), call.dtype), [rows, 1]), call.dims)
    second = b.broadcast(b.reshape(b.cast(call.tensor("vec2"), call.dtype), [1, columns]), call.dims)
    base = b.broadcast(b.cast(call.tensor("self"), call.dtype), call.dims)
    times, plus = (BitAndOp, BitOrOp) if call.dtype.is_bool else (MulOp, AddOp)
    alpha, beta = call.number("alpha"), call.number("beta")
    product = b.emit(times, [b.emit(times, [number_tensor(call, alpha, call.type), first]), second])
    if beta == 0:
        return product
    return b.emit(plus, [b.emit(times, [number_tensor(call, beta, call.type), base]), product])


def cross(call: Call) -> SSAValue:
    """x_i y_j - x_j y_i for (i, j) = (1, 2), (2, 0), (0, 1) along a dim of size 3."""
    b = call.b
    x, y = promote(call, ["self", "other"]).operands
    axis = call.axis("dim", tensor_of(x).rank)

    def part(value: SSAValue, place: int) -> SSAValue:
        return slice_view(call, value, axis, constant(place), 1, constant(1))

    def minor(i: int, j: int) -> SSAValue:
        products = [b.emit(MulOp, [part(x, p), part(y, q)]) for p, q in ((i, j), (j, i))]
        return b.emit(SubOp, products)

    return b.emit(ConcatOp, [minor(1, 2), minor(2, 0), minor(0, 1)], axis=IntAttr(axis))


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.addr.default": add_outer,
        "aten.linalg_cross.default": cross,
    }
)
