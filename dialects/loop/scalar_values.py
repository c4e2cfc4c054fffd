"""The scalar ops of the loop level on numpy arrays: arith, math, vector and loop.apply, each on all lanes at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import erf
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation

from ..dtype import dtype_of
from ..errors import EvaluationError
from .apply import ApplyOp
from .types import lanes

Array = NDArray[Any]
Handler = Callable[[Operation, Sequence[Array]], Array]


def numpy_type(attribute: Attribute) -> np.dtype[Any]:
    """The numpy dtype of a scalar type, or of the lanes of a vector type."""
    _, element = lanes(attribute)
    return np.dtype(np.int64) if isinstance(element, IndexType) else dtype_of(element).numpy


def _unsigned(x: Array) -> Array:
    return x.view(np.dtype(f"u{x.dtype.itemsize}")) if x.dtype.kind == "i" else x


def _plain(function: Callable[..., Any]) -> Handler:
    return lambda op, xs: function(*xs)


def _as_unsigned(function: Callable[..., Any]) -> Handler:
    return lambda op, xs: np.asarray(function(*map(_unsigned, xs))).astype(numpy_type(op.results[0].type))


def _wide(function: Callable[..., Any]) -> Handler:
    """A float function computed in double precision and rounded once, so that it is the reference of every target."""
    return lambda op, xs: np.asarray(function(*(x.astype(np.float64) for x in xs))).astype(xs[0].dtype)


def _quotient(a: Array, b: Array) -> Array:
    """C's integer division, which truncates; what division by zero gives is not defined, here it is 0."""
    safe = np.where(b == 0, 1, b)
    quotient = np.abs(a) // np.abs(safe)
    return np.where(b == 0, 0, np.where((a < 0) != (safe < 0), -quotient, quotient)).astype(a.dtype)


def _remainder(a: Array, b: Array) -> Array:
    return (a - _quotient(a, b) * b).astype(a.dtype)


def _divided(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.where(b == 0, 0, function(a, np.where(b == 0, 1, b))).astype(a.dtype)


def _cast(op: Operation, xs: Sequence[Array]) -> Array:
    return xs[0].astype(numpy_type(op.results[0].type))


def _unsigned_cast(op: Operation, xs: Sequence[Array]) -> Array:
    return _unsigned(xs[0]).astype(numpy_type(op.results[0].type))


def _low_bits(op: Operation, xs: Sequence[Array]) -> Array:
    target = numpy_type(op.results[0].type)
    return (xs[0] & 1) != 0 if target == np.bool_ else xs[0].astype(target)


def _sign_extend(op: Operation, xs: Sequence[Array]) -> Array:
    wide = xs[0].astype(numpy_type(op.results[0].type))
    return -wide if xs[0].dtype == np.bool_ else wide


def _bitcast(op: Operation, xs: Sequence[Array]) -> Array:
    return np.ascontiguousarray(xs[0]).view(numpy_type(op.results[0].type)).reshape(xs[0].shape)


COMPARE_INTEGERS = (
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.less, np.less_equal, np.greater, np.greater_equal,
)  # fmt: skip


def _compare_integers(op: Operation, xs: Sequence[Array]) -> Array:
    assert isinstance(op, arith.CmpiOp)
    predicate = op.predicate.value.data
    return COMPARE_INTEGERS[predicate](*(xs if predicate < 6 else map(_unsigned, xs)))


def _compare_floats(op: Operation, xs: Sequence[Array]) -> Array:
    assert isinstance(op, arith.CmpfOp)
    a, b = xs
    predicate = op.predicate.value.data
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return np.full(np.broadcast_shapes(a.shape, b.shape), predicate == 15)
    if predicate in (7, 14):
        return unordered if predicate == 14 else ~unordered
    ordered = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)[(predicate - 1) % 7]
    result = ordered(a, b)
    return result & ~unordered if predicate < 8 else result | unordered


def constant(op: Operation) -> Array:
    """The value of an arith.constant; a vector constant has a trailing axis of lanes."""
    assert isinstance(op, arith.ConstantOp)
    kind = numpy_type(op.result.type)
    if isinstance(op.value, DenseIntOrFPElementsAttr):
        count, _ = lanes(op.result.type)
        values = list(op.value.get_values())
        return np.array(values * count if len(values) == 1 else values).astype(kind)
    if isinstance(op.value, FloatAttr | IntegerAttr):
        return np.asarray(op.value.value.data).astype(kind)
    raise EvaluationError("a constant of a scalar or a vector is expected", op=op)


def _select(op: Operation, xs: Sequence[Array]) -> Array:
    condition = xs[0][..., None] if lanes(op.results[0].type)[0] > 1 and lanes(op.operands[0].type)[0] == 1 else xs[0]
    return np.where(condition, xs[1], xs[2])


def _fma(a: Array, b: Array, c: Array) -> Array:
    return (a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)).astype(a.dtype)


def _apply(op: Operation, xs: Sequence[Array]) -> Array:
    """The scalar function of the hlir op that names it as its spelling, on the compute dtype, rounded once."""
    from ..catalogue import catalogue
    from ..hlir.pointwise import Elementwise

    assert isinstance(op, ApplyOp)
    for candidate in catalogue():
        if op.function.data == candidate.SPELLING and issubclass(candidate, Elementwise):
            result = candidate.function(cast(Any, None), *xs)
            return np.asarray(result).astype(numpy_type(op.result.type))
    raise EvaluationError(f"no op of hlir is spelled {op.function.data!r}", op=op)


def _round_away(x: Array) -> Array:
    return np.trunc(x + np.copysign(0.5, x))


def _rsqrt(x: Array) -> Array:
    return np.reciprocal(np.sqrt(x))


def _math(name: str) -> Callable[..., Any]:
    """numpy's function for a math op."""
    renamed: dict[str, Any] = {
        "absf": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
        "atan": np.arctan, "atanh": np.arctanh, "atan2": np.arctan2, "erf": np.vectorize(erf, otypes=[np.float64]),
        "powf": np.power, "round": _round_away, "roundeven": np.rint, "rsqrt": _rsqrt,
    }  # fmt: skip
    return renamed[name] if name in renamed else getattr(np, name)


ON_INTEGERS = frozenset({"absi", "ctlz", "cttz", "ctpop", "fma", "fpowi", "ipowi"})
"""Math ops that are no function of floats alone."""

HANDLERS: Mapping[type[Operation], Handler] = MappingProxyType(
    {
        arith.AddiOp: _plain(np.add), arith.SubiOp: _plain(np.subtract), arith.MuliOp: _plain(np.multiply),
        arith.DivSIOp: _plain(_quotient), arith.RemSIOp: _plain(_remainder),
        arith.FloorDivSIOp: _plain(_divided(np.floor_divide)),
        arith.CeilDivSIOp: _plain(_divided(lambda a, b: -(-a // b))),
        arith.DivUIOp: _as_unsigned(_divided(np.floor_divide)), arith.RemUIOp: _as_unsigned(_divided(np.remainder)),
        arith.MinSIOp: _plain(np.minimum), arith.MaxSIOp: _plain(np.maximum),
        arith.MinUIOp: _as_unsigned(np.minimum), arith.MaxUIOp: _as_unsigned(np.maximum),
        arith.AndIOp: _plain(np.bitwise_and), arith.OrIOp: _plain(np.bitwise_or), arith.XOrIOp: _plain(np.bitwise_xor),
        arith.ShLIOp: _plain(np.left_shift), arith.ShRSIOp: _plain(np.right_shift),
        arith.ShRUIOp: _as_unsigned(np.right_shift),
        arith.CmpiOp: _compare_integers, arith.CmpfOp: _compare_floats, arith.SelectOp: _select,
        arith.AddfOp: _plain(np.add), arith.SubfOp: _plain(np.subtract), arith.MulfOp: _plain(np.multiply),
        arith.DivfOp: _plain(np.true_divide), arith.NegfOp: _plain(np.negative),
        arith.MaximumfOp: _plain(np.maximum), arith.MinimumfOp: _plain(np.minimum),
        arith.MaxnumfOp: _plain(np.fmax), arith.MinnumfOp: _plain(np.fmin),
        arith.BitcastOp: _bitcast, arith.IndexCastOp: _cast, arith.ExtFOp: _cast, arith.TruncFOp: _cast,
        arith.SIToFPOp: _cast, arith.FPToSIOp: _cast, arith.FPToUIOp: _cast, arith.UIToFPOp: _unsigned_cast,
        arith.ExtUIOp: _unsigned_cast, arith.ExtSIOp: _sign_extend, arith.TruncIOp: _low_bits,
        math.FmaOp: _plain(_fma), math.AbsIOp: _plain(np.abs),
        **{op: _wide(_math(op.name[5:])) for op in math.Math.operations if op.name[5:] not in ON_INTEGERS},
        ApplyOp: _apply,
    }
)  # fmt: skip
"""Op class -> function of the op and its operand arrays. Arrays broadcast; a vector has its lanes on the last axis."""
