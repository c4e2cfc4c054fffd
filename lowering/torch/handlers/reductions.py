"""Reductions, and what is computed from them: means, variances, norms, extremes with their places, prefix sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import inf
from types import MappingProxyType

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import I1, I64, U8
from ....dialects.hlir.argmax import ArgmaxOp
from ....dialects.hlir.arithmetic import AbsOp, ExpOp, LogOp, NegOp, SubOp
from ....dialects.hlir.comparison import BitNotOp, NotEqualOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.elementwise import AddOp, DivOp, EqualOp, MaximumOp, MulOp, SqrtOp
from ....dialects.hlir.normalization import dim_scalar
from ....dialects.hlir.reduction import MaxOp, MinOp, ProdOp, Reduction, SumOp
from ....dialects.hlir.types import axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import Expr, constant, maximum
from ..call import Call, Handler
from ..unsupported import EagerRaisesError
from .mathematics import general_power, like


def reduced_axes(call: Call, x: SSAValue, name: str = "dim") -> list[int]:
    """The axes to reduce; all where the overload names none. Consumes keepdim: results are reshaped to torch's
    sizes."""
    call.ignore("keepdim")
    rank = tensor_of(x).rank
    return call.axes(name, rank) if name in call.argument_names else list(range(rank))


def extent_product(x: SSAValue, axes: Sequence[int]) -> Expr:
    """The number of elements along the axes."""
    return reduce(lambda a, b: a * b, (tensor_of(x).dims[a] for a in axes), constant(1))


def _reduce(call: Call, op_class: type[Reduction], x: SSAValue, axes: Sequence[int]) -> SSAValue:
    return call.b.emit(op_class, [x], axes=axes_attr(axes))


def fold(op_class: type[Reduction], of_booleans: type[Reduction]) -> Handler:
    """Sum or product in the dtype of the result; as a boolean, whether any or all elements are true."""

    def handler(call: Call) -> SSAValue:
        call.ignore("dtype")
        x = call.b.cast(call.tensor("self"), call.dtype)
        axes = reduced_axes(call, x)
        if call.dtype.is_bool:
            x = call.b.cast(_reduce(call, of_booleans, call.b.cast(x, U8), axes), call.dtype)
            return call.b.reshape(x, call.dims)
        return call.b.reshape(_reduce(call, op_class, x, axes), call.dims)

    return handler


def extreme(op_class: type[Reduction]) -> Handler:
    """The largest or smallest element; of booleans through bytes."""

    def handler(call: Call) -> SSAValue:
        x = call.tensor("self")
        axes = reduced_axes(call, x)
        require_elements(call, x, axes)
        result = _reduce(call, op_class, _countable(call, x), axes)
        return call.b.reshape(call.b.cast(result, call.dtype), call.dims)

    return handler


def require_elements(call: Call, x: SSAValue, axes: Sequence[int]) -> None:
    """Makes it a condition of calls that none of the axes is empty: no element is the largest of none.

    Raises:
        EagerRaisesError: one is empty always.
    """
    for axis in axes:
        extent = tensor_of(x).dims[axis]
        if extent.as_int() == 0:
            message = f"{call.node.target}: Expected reduction dim {axis} to have non-zero size."
            raise EagerRaisesError(IndexError(message))
        call.require_positive(extent)


def _countable(call: Call, x: SSAValue) -> SSAValue:
    return call.b.cast(x, U8) if tensor_of(x).dtype.is_bool else x


def extreme_with_place(op_class: type[Reduction]) -> Handler:
    """The largest or smallest element along one dim, and the first place where it stands."""

    def handler(call: Call) -> list[SSAValue]:
        x = _countable(call, call.tensor("self"))
        values, places = call.fake(0), call.fake(1)
        axis = call.axis("dim", tensor_of(x).rank)
        call.ignore("keepdim")
        if not tensor_of(x).rank:
            return [call.b.cast(x, values.type.dtype), call.b.constant(0, places.type)]
        require_elements(call, x, [axis])
        best = call.b.cast(_reduce(call, op_class, x, [axis]), values.type.dtype)
        place = _first_place(call, x, axis, smallest=op_class is MinOp)
        return [call.b.reshape(best, values.dims), call.b.reshape(place, places.dims)]

    return handler


def _first_place(call: Call, x: SSAValue, axis: int, *, smallest: bool) -> SSAValue:
    if smallest:  # -x keeps NaN; ~x reverses the order of integers without overflow
        x = call.b.emit(NegOp if tensor_of(x).dtype.is_float else BitNotOp, [x])
    return call.b.emit(ArgmaxOp, [x], axis=IntAttr(axis))


def place_of_extreme(smallest: bool) -> Handler:
    """argmax and argmin, along one dim or over everything."""

    def handler(call: Call) -> SSAValue:
        x = _countable(call, call.tensor("self"))
        call.ignore("keepdim")
        if call.value("dim") is None:
            x, axis = call.b.reshape(x, [extent_product(x, range(tensor_of(x).rank))]), 0
        else:
            axis = call.axis("dim", tensor_of(x).rank)
        if not tensor_of(x).rank:
            return call.b.constant(0, call.type)
        require_elements(call, x, [axis])
        return call.b.reshape(_first_place(call, x, axis, smallest=smallest), call.dims)

    return handler


def truth(op_class: type[Reduction]) -> Handler:
    """any (the largest truth value) and all (the smallest)."""

    def handler(call: Call) -> SSAValue:
        x = call.tensor("self")
        axes = reduced_axes(call, x)
        bytes_ = call.b.cast(call.b.cast(x, I1), U8)
        result = call.b.cast(_reduce(call, op_class, bytes_, axes), I1)
        return call.b.reshape(call.b.cast(result, call.dtype), call.dims)

    return handler


def count_nonzero(call: Call) -> SSAValue:
    """How many elements are not 0."""
    x = call.b.cast(call.b.cast(call.tensor("self"), I1), I64)
    return call.b.reshape(_reduce(call, SumOp, x, reduced_axes(call, x)), call.dims)


def mean(call: Call) -> SSAValue:
    """sum / count in the computation dtype, rounded once."""
    call.ignore("dtype")
    x = call.b.cast(call.tensor("self"), call.dtype.compute)
    axes = reduced_axes(call, x)
    total = _reduce(call, SumOp, x, axes)
    count = dim_scalar(call.b, extent_product(x, axes), tensor_of(total))
    return call.b.reshape(call.b.cast(call.b.emit(DivOp, [total, count]), call.dtype), call.dims)


def _moments(call: Call) -> tuple[SSAValue, SSAValue]:
    """(variance, mean) over the axes, in the computation dtype, without the reduced dims."""
    b = call.b
    source = call.tensor("self")
    x = b.cast(source, tensor_of(source).dtype.compute)
    axes = reduced_axes(call, x)
    correction = call.value("correction") if "correction" in call.argument_names else None
    if correction is None:
        correction = int(call.flag("unbiased")) if "unbiased" in call.argument_names else 1
    count = extent_product(x, axes)
    total = _reduce(call, SumOp, x, axes)
    average = b.emit(DivOp, [total, dim_scalar(b, count, tensor_of(total))])
    centred = b.emit(SubOp, [x, b.restore_axes(average, axes, tensor_of(x).dims)])
    squares = _reduce(call, SumOp, b.emit(MulOp, [centred, centred]), axes)
    if correction == int(correction):
        divisor = dim_scalar(b, maximum(count - int(correction), 0), tensor_of(squares))
    else:
        divisor = b.emit(SubOp, [dim_scalar(b, count, tensor_of(squares)), like(b, float(correction), squares)])
        divisor = b.emit(MaximumOp, [divisor, like(b, 0.0, divisor)])
    return b.emit(DivOp, [squares, divisor]), average


def spread(root: bool, with_mean: bool) -> Handler:
    """Variance or standard deviation, with the mean where asked for."""

    def handler(call: Call) -> SSAValue | list[SSAValue]:
        variance, average = _moments(call)
        value = call.b.emit(SqrtOp, [variance]) if root else variance
        if not with_mean:
            return call.b.reshape(call.b.cast(value, call.dtype), call.dims)
        fakes = (call.fake(0), call.fake(1))
        pairs = zip(fakes, (value, average), strict=True)
        return [call.b.reshape(call.b.cast(v, f.type.dtype), f.dims) for f, v in pairs]

    return handler


def logsumexp(call: Call) -> SSAValue:
    """m + ln sum e^(x - m) with the largest element m, or 0 where that is infinite."""
    b = call.b
    x = b.cast(b.cast(call.tensor("self"), call.dtype), call.dtype.compute)
    axes = reduced_axes(call, x)
    top = _reduce(call, MaxOp, x, axes)
    endless = b.emit(EqualOp, [b.emit(AbsOp, [top]), like(b, inf, top)])
    top = b.emit(SelectOp, [endless, like(b, 0.0, top), top])
    terms = b.emit(ExpOp, [b.emit(SubOp, [x, b.restore_axes(top, axes, tensor_of(x).dims)])])
    value = b.emit(AddOp, [b.emit(LogOp, [_reduce(call, SumOp, terms, axes)]), top])
    return b.reshape(b.cast(value, call.dtype), call.dims)


def vector_norm(call: Call) -> SSAValue:
    """(sum |x|^p)^(1/p), with the limits for p = 0, inf and -inf."""
    b = call.b
    name = "ord" if "ord" in call.argument_names else "p"
    given = call.value(name)
    order = 2.0 if given is None else float(given)
    call.ignore("dtype")
    x = b.cast(b.cast(call.tensor("self"), call.dtype), call.dtype.compute)
    axes = reduced_axes(call, x)
    size = b.emit(AbsOp, [x])
    if order == 0:
        value = _reduce(call, SumOp, b.cast(b.emit(NotEqualOp, [x, like(b, 0.0, x)]), tensor_of(x).dtype), axes)
    elif abs(order) == inf:
        value = _reduce(call, MaxOp if order > 0 else MinOp, size, axes)
    elif order == 1:
        value = _reduce(call, SumOp, size, axes)
    elif order == 2:
        value = b.emit(SqrtOp, [_reduce(call, SumOp, b.emit(MulOp, [x, x]), axes)])
    else:
        total = _reduce(call, SumOp, general_power(b, size, like(b, order, size)), axes)
        value = general_power(b, total, like(b, 1 / order, total))
    return b.reshape(b.cast(value, call.dtype), call.dims)


def _named(name: str, overloads: Sequence[str], handler: Handler) -> dict[str, Handler]:
    return {f"aten.{name}.{overload}": handler for overload in overloads}


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **_named("sum", ("default", "dim_IntList"), fold(SumOp, MaxOp)),
        **_named("prod", ("default", "dim_int"), fold(ProdOp, MinOp)),
        **_named("mean", ("default", "dim"), mean),
        **_named("amax", ("default",), extreme(MaxOp)),
        **_named("amin", ("default",), extreme(MinOp)),
        **_named("max", ("default",), extreme(MaxOp)),
        **_named("min", ("default",), extreme(MinOp)),
        **_named("max", ("dim",), extreme_with_place(MaxOp)),
        **_named("min", ("dim",), extreme_with_place(MinOp)),
        **_named("argmax", ("default",), place_of_extreme(smallest=False)),
        **_named("argmin", ("default",), place_of_extreme(smallest=True)),
        **_named("any", ("default", "dim", "dims"), truth(MaxOp)),
        **_named("all", ("default", "dim", "dims"), truth(MinOp)),
        **_named("count_nonzero", ("default", "dim_IntList"), count_nonzero),
        **_named("var", ("default", "dim", "correction"), spread(root=False, with_mean=False)),
        **_named("std", ("default", "dim", "correction"), spread(root=True, with_mean=False)),
        **_named("var_mean", ("default", "dim", "correction"), spread(root=False, with_mean=True)),
        **_named("std_mean", ("default", "dim", "correction"), spread(root=True, with_mean=True)),
        **_named("logsumexp", ("default",), logsumexp),
        **_named("linalg_vector_norm", ("default",), vector_norm),
        **_named("norm", ("Scalar", "ScalarOpt_dim"), vector_norm),
    }
)
