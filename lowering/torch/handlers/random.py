"""Tensors of random numbers: those that only have sizes, and those whose parameters are tensors."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType

import torch
from xdsl.dialects.builtin import BoolAttr, IntAttr, StringAttr
from xdsl.ir import SSAValue

from ....dialects.dtype import F32, F64, I64
from ....dialects.hlir.argmax import ArgmaxOp
from ....dialects.hlir.bitwise import BitAndOp
from ....dialects.hlir.comparison import BitNotOp, LessEqualOp
from ....dialects.hlir.elementwise import AddOp, DivOp, EqualOp, LessThanOp, MaximumOp, MulOp
from ....dialects.hlir.index_map import IndexMap
from ....dialects.hlir.indexing import CheckIndexOp
from ....dialects.hlir.ordering import ScanOp, SortOp
from ....dialects.hlir.reduction import MaxOp, SumOp
from ....dialects.hlir.types import axes_attr
from ....dialects.op import tensor_of
from ....dialects.sym.expr import constant, index
from ..call import Call, Handler
from ..draws import Distribution
from ..promotion import number_tensor
from ..unsupported import EagerRaisesError, UnsupportedNodeError
from .copying import ignore_placement
from .views import slice_view

NORMAL, UNIFORM, INTEGERS = Distribution.NORMAL, Distribution.UNIFORM, Distribution.INTEGERS


def _ignore_placement(call: Call) -> None:
    ignore_placement(call)
    call.ignore("dtype", "self", "size", "memory_format")
    if "generator" in call.argument_names and call.raw("generator") is not None:
        raise UnsupportedNodeError("draws from a generator of its own; only the default generator is supported")


def filled(distribution: Distribution, *names: str) -> Handler:
    """A tensor of a distribution whose parameters are the named numbers."""

    def handler(call: Call) -> SSAValue:
        _ignore_placement(call)
        return call.draw(distribution, *(call.number(name) for name in names))

    return handler


def integers(call: Call) -> SSAValue:
    """Whole numbers from low (or 0) to high - 1."""
    _ignore_placement(call)
    low = call.number("low") if "low" in call.argument_names else 0
    return call.draw(INTEGERS, low, call.number("high"))


def integers_in_place(call: Call) -> SSAValue:
    """random_: from `from` to `to` - 1, or all numbers that the dtype counts."""
    _ignore_placement(call)
    limits = [call.number(name) for name in ("from", "to") if name in call.argument_names and call.has(name)]
    call.ignore("from", "to")
    return call.draw(INTEGERS, *limits)


def permutation(call: Call) -> SSAValue:
    """The numbers below n in random order."""
    _ignore_placement(call)
    call.ignore("n")
    return call.draw(Distribution.PERMUTATION)


def standard(distribution: Distribution, *parameters: float) -> Handler:
    """A tensor of a distribution with fixed parameters."""

    def handler(call: Call) -> SSAValue:
        _ignore_placement(call)
        return call.draw(distribution, *parameters)

    return handler


def normal(call: Call) -> SSAValue:
    """mean + std z, where either is a tensor; rounded after each step, as eager does."""
    _ignore_placement(call)
    b = call.b
    mean, std = call.operand("mean"), call.operand("std")
    if isinstance(std, SSAValue):
        z = call.draw(NORMAL, 0.0, 1.0)
        z = b.emit(MulOp, [z, b.broadcast(b.cast(std, call.dtype), call.dims)])
    else:
        z = call.draw(NORMAL, 0.0, call.number("std"))
    shift = (
        b.cast(mean, call.dtype) if isinstance(mean, SSAValue) else number_tensor(call, call.number("mean"), call.type)
    )
    return b.emit(AddOp, [z, b.broadcast(shift, call.dims)])


def bernoulli(call: Call) -> SSAValue:
    """1 with the probability that each element of a tensor gives; compared in f64 if that is f64, else in f32."""
    b = call.b
    p = call.tensor("p" if "p" in call.argument_names else "self")
    _ignore_placement(call)
    wide = tensor_of(p).dtype == F64
    u = call.draw(UNIFORM, 0.0, 1.0, dtype=torch.float64 if wide else torch.float32)
    limit = b.broadcast(b.cast(p, F64 if wide else F32), call.dims)
    return b.cast(b.emit(LessThanOp, [u, limit]), call.dtype)


def multinomial(call: Call) -> SSAValue:
    """Places drawn with the weights along the last dim; weights that are none are an error of the run."""
    _ignore_placement(call)
    x, samples = call.tensor("self"), call.integer("num_samples")
    replacement = call.flag("replacement")
    categories = tensor_of(x).dims[-1].as_int()
    if not replacement and categories is not None and samples > categories:
        message = "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        raise EagerRaisesError(RuntimeError(message))
    if replacement and samples != 1:
        return _with_valid_weights(call, x, _with_replacement(call, x))
    b, axis = call.b, tensor_of(x).rank - 1
    races = b.emit(DivOp, [x, call.draw(Distribution.EXPONENTIAL, 1.0, like=call.fake_argument("self"))])
    if samples == 1:
        places = b.reshape(b.emit(ArgmaxOp, [races], axis=IntAttr(axis)), call.dims)
        return _with_valid_weights(call, x, places)
    _, order = b.emit_all(SortOp, [races], axis=IntAttr(axis), descending=BoolAttr.from_bool(True))
    return _with_valid_weights(call, x, slice_view(call, order, axis, constant(0), 1, constant(samples)))


def _with_valid_weights(call: Call, x: SSAValue, places: SSAValue) -> SSAValue:
    """The places, if each row of x has finite weights that are not negative, and not only zeros."""
    b, type_ = call.b, tensor_of(x)
    axis = type_.rank - 1
    finite = b.emit(LessThanOp, [x, b.constant(inf, type_)])
    valid = b.emit(BitAndOp, [finite, b.emit(LessEqualOp, [b.constant(0, type_), x])])
    wrong = b.emit(MaxOp, [b.cast(b.emit(BitNotOp, [valid]), I64)], axes=axes_attr([axis]))
    total = b.emit(SumOp, [x], axes=axes_attr([axis]))
    empty = b.cast(b.emit(EqualOp, [total, b.constant(0, tensor_of(total))]), I64)
    flags = b.restore_axes(b.emit(MaximumOp, [wrong, empty]), [axis], call.dims)
    zero = b.constant(0, tensor_of(flags))
    return b.emit(AddOp, [places, b.emit(CheckIndexOp, [flags, zero], error=StringAttr("value"))])


def _with_replacement(call: Call, x: SSAValue) -> SSAValue:
    """How many cumulated weights lie below a uniform number."""
    b, type_ = call.b, tensor_of(x)
    axis, rank = type_.rank - 1, call.type.rank
    total = b.restore_axes(b.emit(SumOp, [x], axes=axes_attr([axis])), [axis], type_.dims)
    cumulated = b.emit(DivOp, [b.emit(ScanOp, [x], axis=IntAttr(axis), combine=StringAttr("add")), total])
    u = call.draw(UNIFORM, 0.0, 1.0, dtype=torch.float64)
    dims = (*call.dims, type_.dims[-1])
    lead = tuple(index(i) for i in range(rank - 1))
    here = b.view(cumulated, IndexMap(rank + 1, (*lead, index(rank))), dims)
    there = b.view(u, IndexMap(rank + 1, (*lead, index(rank - 1))), dims)
    below = b.cast(b.emit(LessThanOp, [b.cast(here, F64), there]), I64)
    return b.emit(SumOp, [below], axes=axes_attr([rank]))


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "aten.rand.default": standard(UNIFORM, 0.0, 1.0),
        "aten.rand_like.default": standard(UNIFORM, 0.0, 1.0),
        "aten.randn.default": standard(NORMAL, 0.0, 1.0),
        "aten.randn_like.default": standard(NORMAL, 0.0, 1.0),
        "aten.randint.default": integers,
        "aten.randint.low": integers,
        "aten.randint_like.default": integers,
        "aten.randint_like.low_dtype": integers,
        "aten.randperm.default": permutation,
        "aten.bernoulli.p": filled(Distribution.BERNOULLI, "p"),
        "aten.bernoulli.default": bernoulli,
        "aten.bernoulli.Tensor": bernoulli,
        "aten.uniform.default": filled(UNIFORM, "from", "to"),
        "aten.normal.float_float": filled(NORMAL, "mean", "std"),
        "aten.normal_functional.default": filled(NORMAL, "mean", "std"),
        "aten.normal.Tensor_float": normal,
        "aten.normal.float_Tensor": normal,
        "aten.normal.Tensor_Tensor": normal,
        "aten.exponential.default": filled(Distribution.EXPONENTIAL, "lambd"),
        "aten.cauchy.default": filled(Distribution.CAUCHY, "median", "sigma"),
        "aten.log_normal.default": filled(Distribution.LOG_NORMAL, "mean", "std"),
        "aten.geometric.default": filled(Distribution.GEOMETRIC, "p"),
        "aten.random.default": integers_in_place,
        "aten.random.to": integers_in_place,
        "aten.random.from": integers_in_place,
        "aten.multinomial.default": multinomial,
    }
)
