"""Tensors from nothing: filled ones, ranges, and numbers as tensors."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.dtype import F32, F64, I64
from ....dialects.hlir.comparison import LessEqualOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.creation import IotaOp
from ....dialects.hlir.elementwise import AddOp, EqualOp, MulOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.types import MapAttr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, index
from ..call import Call, Handler
from ..promotion import number_tensor
from ..symbolic_float import FloatExpr
from .copying import ignore_placement


def _ignore_placement(call: Call) -> None:
    ignore_placement(call)
    call.ignore("dtype", "names")
    if "memory_format" in call.argument_names:
        call.ignore("memory_format")


def filled(value: int) -> Handler:
    """Every element is `value`."""

    def handler(call: Call) -> SSAValue:
        _ignore_placement(call)
        call.ignore("self", "size", "stride", "physical_layout")
        return call.b.constant(value, call.type)

    return handler


def full(call: Call) -> SSAValue:
    """Every element is a number."""
    _ignore_placement(call)
    call.ignore("self", "size")
    return number_tensor(call, call.number("fill_value"), call.type)


def fill(call: Call) -> SSAValue:
    """Every element is a number, or the value of a 0-d tensor."""
    call.ignore("self")
    value = call.operand("value")
    if isinstance(value, SSAValue):
        return call.b.broadcast(call.b.cast(value, call.dtype), call.dims)
    return number_tensor(call, value, call.type)


def scalar_tensor(call: Call) -> SSAValue:
    """A number as a 0-d tensor."""
    _ignore_placement(call)
    return number_tensor(call, call.number("s"), call.type)


def arange(call: Call) -> SSAValue:
    """start, start + step, ... below end; the length is the one torch worked out."""
    _ignore_placement(call)
    call.ignore("end")
    start = call.number("start") if "start" in call.argument_names else 0
    step = call.number("step") if "step" in call.argument_names else 1
    start, step = (float(x) if isinstance(x, FloatExpr) else x for x in (start, step))
    if not call.dtype.is_float:  # eager takes the whole parts of numbers before it counts
        start, step = (int(x) if isinstance(x, float) else x for x in (start, step))
    if isinstance(start, float) or isinstance(step, float):
        return _float_range(call, start, step)
    first: Expr = start if isinstance(start, Expr) else constant(int(start))
    return _iota(call, first + index(0) * step)


def _iota(call: Call, value: Expr) -> SSAValue:
    type_ = call.type
    return call.b.emit(
        IotaOp, [], value=MapAttr(IndexMap(type_.rank, (value,))), shape=type_.shape, dtype=type_.element
    )


def _float_range(call: Call, start: object, step: object) -> SSAValue:
    """start + i step in f64, rounded once, as PyTorch accumulates it."""
    b, type_ = call.b, call.type
    wide = type_.with_dtype(F64)
    steps = b.emit(IotaOp, [], value=MapAttr.get(1, [index(0)]), shape=type_.shape, dtype=F64.attr)
    assert isinstance(start, int | float) and isinstance(step, int | float)
    offsets = b.emit(MulOp, [steps, b.constant(step, wide)])
    return b.cast(b.emit(AddOp, [b.constant(start, wide), offsets]), type_.dtype)


def linspace(call: Call) -> SSAValue:
    """`steps` numbers from start to end, both included."""
    _ignore_placement(call)
    b, type_ = call.b, call.type
    start, end, steps = call.value("start"), call.value("end"), call.integer("steps")
    wide = type_.with_dtype(type_.dtype if type_.dtype.is_float and type_.dtype.bits >= 32 else F32)
    positions = b.emit(IotaOp, [], value=MapAttr.get(1, [index(0)]), shape=type_.shape, dtype=wide.element)
    back = b.emit(
        IotaOp, [], value=MapAttr.get(1, [index(0) * -1 + (steps - 1)]), shape=type_.shape, dtype=wide.element
    )
    step = b.constant((end - start) / max(steps - 1, 1), wide)
    low = b.emit(AddOp, [b.constant(start, wide), b.emit(MulOp, [positions, step])])
    high = b.emit(
        AddOp, [b.constant(end, wide), b.emit(MulOp, [back, b.constant((start - end) / max(steps - 1, 1), wide)])]
    )
    half = b.emit(IotaOp, [], value=MapAttr.get(1, [index(0)]), shape=type_.shape, dtype=I64.attr)
    below = b.emit(LessEqualOp, [half, b.constant((steps + 1) // 2 - 1, type_.with_dtype(I64))])
    return b.cast(b.emit(SelectOp, [below, low, high]), type_.dtype)


def triangle(upper: bool) -> Handler:
    """self on and above (or below) the diagonal, else 0."""

    def handler(call: Call) -> SSAValue:
        b, x, diagonal = call.b, call.tensor("self"), call.integer("diagonal")
        type_ = tensor_of(x)
        rows, columns = (
            b.emit(
                IotaOp,
                [],
                value=MapAttr.get(type_.rank, [index(type_.rank - k) + shift]),
                shape=type_.shape,
                dtype=I64.attr,
            )
            for k, shift in ((2, diagonal), (1, 0))
        )
        kept = b.emit(LessEqualOp, [rows, columns] if upper else [columns, rows])
        return b.emit(SelectOp, [kept, x, b.constant(0, type_)])

    return handler


def identity_matrix(call: Call) -> SSAValue:
    """1 on the diagonal, else 0."""
    _ignore_placement(call)
    call.ignore("n", "m")
    b, type_ = call.b, call.type
    places = [b.emit(IotaOp, [], value=MapAttr.get(2, [index(i)]), shape=type_.shape, dtype=I64.attr) for i in (0, 1)]
    return b.cast(b.emit(EqualOp, places), type_.dtype)


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **{
            f"aten.{name}.default": filled(0)
            for name in ("zeros", "zeros_like", "new_zeros", "zero", "empty_like", "new_empty")
        },
        **{f"aten.{name}.default": filled(1) for name in ("ones", "ones_like", "new_ones")},
        "aten.empty.memory_format": filled(0),
        "aten.empty_permuted.default": filled(0),
        "aten._efficientzerotensor.default": filled(0),
        "aten.empty_strided.default": filled(0),
        "aten.new_empty_strided.default": filled(0),
        "aten.full.default": full,
        "aten.full_like.default": full,
        "aten.new_full.default": full,
        "aten.fill.Scalar": fill,
        "aten.fill.Tensor": fill,
        "aten.scalar_tensor.default": scalar_tensor,
        "aten.arange.default": arange,
        "aten.arange.start": arange,
        "aten.arange.start_step": arange,
        "aten.linspace.default": linspace,
        "aten.tril.default": triangle(upper=False),
        "aten.triu.default": triangle(upper=True),
        "aten.eye.default": identity_matrix,
        "aten.eye.m": identity_matrix,
    }
)
