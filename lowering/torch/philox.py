"""Random tensors of each distribution from the bits of `hlir.random_bits`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log1p, pi, tau
from types import MappingProxyType

from xdsl.dialects.builtin import BoolAttr, IntAttr
from xdsl.ir import SSAValue

from ...dialects.dtype import F32, F64, I64, DType
from ...dialects.hlir.arithmetic import CeilOp, CosOp, ExpOp, LogOp, NegOp
from ...dialects.hlir.bitwise import BitAndOp, BitOrOp, ShiftLeftOp, ShiftRightOp
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.creation import IotaOp, RandomBitsOp
from ...dialects.hlir.elementwise import AddOp, DivOp, LessThanOp, ModOp, MulOp, SinOp, SqrtOp
from ...dialects.hlir.index_map import IndexMap
from ...dialects.hlir.ordering import SortOp
from ...dialects.hlir.types import MapAttr, ShapeAttr, TensorType, tensor_type
from ...dialects.op import tensor_of
from ...dialects.sym.expr import Expr, constant, index
from .draws import Distribution, Parameter

MANTISSA = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
"""Bits that a uniform number has: with so many, no multiple below 1 is rounded to 1."""
WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Stream:
    """Independent words under a seed, from counters that begin at `offset`."""

    b: GraphBuilder
    seed: SSAValue
    offset: SSAValue

    def words(self, type_: TensorType, count: int) -> list[SSAValue]:
        """`count` tensors of 32-bit words, as non-negative i64."""
        b, rank = self.b, type_.rank
        shape = ShapeAttr.get([count, *type_.dims])
        bits = b.cast(b.emit(RandomBitsOp, [self.seed, self.offset], shape=shape), I64)
        kept = b.emit(BitAndOp, [bits, b.constant(WORD, tensor_of(bits))])
        exprs = tuple(index(i) for i in range(rank))
        return [b.view(kept, IndexMap(rank, (constant(k), *exprs)), type_.dims) for k in range(count)]

    def integers(self, type_: TensorType, digits: int) -> SSAValue:
        """i64 numbers below 2^digits, for up to 63 digits."""
        if digits <= 32:
            (word,) = self.words(type_, 1)
            return self._shifted(word, 32 - digits)
        high, low = self.words(type_, 2)
        b, wide = self.b, tensor_of(high)
        upper = b.emit(ShiftLeftOp, [self._shifted(high, 64 - digits), b.constant(32, wide)])
        return b.emit(BitOrOp, [upper, low])

    def _shifted(self, word: SSAValue, count: int) -> SSAValue:
        return self.b.emit(ShiftRightOp, [word, self.b.constant(count, tensor_of(word))]) if count else word

    def fraction(self, type_: TensorType, digits: int) -> SSAValue:
        """Multiples of 2^-digits in [0, 1), in the dtype that `type_` is computed in."""
        b, dtype = self.b, computed_in(type_.dtype)
        x = b.cast(self.integers(type_, digits), dtype)
        return b.emit(MulOp, [x, b.constant(2.0**-digits, tensor_of(x))])

    def inside(self, type_: TensorType) -> SSAValue:
        """Numbers strictly between 0 and 1, in the dtype that `type_` is computed in."""
        digits = 52 if computed_in(type_.dtype) == F64 else 23
        x = self.fraction(type_, digits)
        return self.b.emit(AddOp, [x, self.b.constant(2.0 ** -(digits + 1), tensor_of(x))])

    def standard_normal(self, type_: TensorType) -> SSAValue:
        """The method of Box and Muller: sqrt(-2 ln u) cos(2 pi v)."""
        b, digits = self.b, 53 if computed_in(type_.dtype) == F64 else 32
        pair = tensor_type([2, *type_.dims], type_.dtype)
        x = b.cast(self.integers(pair, digits), computed_in(type_.dtype))
        whole = tensor_of(x)
        both = b.emit(MulOp, [b.emit(AddOp, [x, b.constant(0.5, whole)]), b.constant(2.0**-digits, whole)])
        exprs = tuple(index(i) for i in range(type_.rank))
        u, v = (b.view(both, IndexMap(type_.rank, (constant(k), *exprs)), type_.dims) for k in range(2))
        like = tensor_of(u)
        radius = b.emit(SqrtOp, [b.emit(MulOp, [b.emit(LogOp, [u]), b.constant(-2.0, like)])])
        return b.emit(MulOp, [radius, b.emit(CosOp, [b.emit(MulOp, [v, b.constant(tau, like)])])])


Sampler = Callable[..., SSAValue]
"""(stream, type, parameters of the distribution) -> a tensor of the type."""


def computed_in(dtype: DType) -> DType:
    """f64 for f64, else f32."""
    return F64 if dtype == F64 else F32


def _scaled(b: GraphBuilder, x: SSAValue, factor: float, shift: float) -> SSAValue:
    like = tensor_of(x)
    return b.emit(AddOp, [b.emit(MulOp, [x, b.constant(factor, like)]), b.constant(shift, like)])


def uniform(stream: Stream, type_: TensorType, low: float = 0.0, high: float = 1.0) -> SSAValue:
    """low + u (high - low) with u in [0, 1)."""
    x = stream.fraction(type_, MANTISSA[type_.dtype.name])
    return stream.b.cast(_scaled(stream.b, x, high - low, low), type_.dtype)


def bernoulli(stream: Stream, type_: TensorType, p: float = 0.5) -> SSAValue:
    """1 with probability p, else 0."""
    b, x = stream.b, stream.fraction(type_.with_dtype(F32), 24)
    return b.cast(b.emit(LessThanOp, [x, b.constant(p, tensor_of(x))]), type_.dtype)


def dropout(stream: Stream, type_: TensorType, p: float) -> SSAValue:
    """What dropout keeps: true with probability 1 - p."""
    return bernoulli(stream, type_, 1 - p)


def normal(stream: Stream, type_: TensorType, mean: float = 0.0, std: float = 1.0) -> SSAValue:
    """mean + std z with z from the standard normal distribution."""
    return stream.b.cast(_scaled(stream.b, stream.standard_normal(type_), std, mean), type_.dtype)


def log_normal(stream: Stream, type_: TensorType, mean: float = 1.0, std: float = 2.0) -> SSAValue:
    """e to the power of a normal number."""
    b = stream.b
    return b.cast(b.emit(ExpOp, [_scaled(b, stream.standard_normal(type_), std, mean)]), type_.dtype)


def exponential(stream: Stream, type_: TensorType, rate: float = 1.0) -> SSAValue:
    """-ln(u) / rate, never 0 where the dtype holds 2^-24."""
    b, x = stream.b, stream.inside(type_)
    y = b.emit(NegOp, [b.emit(LogOp, [x])])
    return b.cast(b.emit(DivOp, [y, b.constant(rate, tensor_of(y))]), type_.dtype)


def cauchy(stream: Stream, type_: TensorType, median: float = 0.0, sigma: float = 1.0) -> SSAValue:
    """median + sigma tan(pi (u - 1/2))."""
    b, x = stream.b, stream.inside(type_)
    angle = _scaled(b, x, pi, -pi / 2)
    tangent = b.emit(DivOp, [b.emit(SinOp, [angle]), b.emit(CosOp, [angle])])
    return b.cast(_scaled(b, tangent, sigma, median), type_.dtype)


def geometric(stream: Stream, type_: TensorType, p: float) -> SSAValue:
    """How many trials of probability p the first success takes: ceil(ln u / ln(1 - p))."""
    b, x = stream.b, stream.inside(type_)
    if p == 1:
        return b.constant(1, type_)
    trials = b.emit(DivOp, [b.emit(LogOp, [x]), b.constant(log1p(-p), tensor_of(x))])
    return b.cast(b.emit(CeilOp, [trials]), type_.dtype)


def integers(stream: Stream, type_: TensorType, *limits: Parameter) -> SSAValue:
    """low, ..., high - 1, each as likely; `limits` are (low, high), (high,), or nothing for all that the dtype has."""
    b, dtype = stream.b, type_.dtype
    bounds = [limit if isinstance(limit, Expr) else constant(int(limit)) for limit in limits]
    low, high = bounds if len(bounds) == 2 else (constant(0), bounds[0] if bounds else constant(_count(dtype)))
    x = stream.integers(type_, 63)
    wide = tensor_of(x)
    x = b.emit(ModOp, [x, _number(b, high - low, wide)])
    return b.cast(b.emit(AddOp, [x, _number(b, low, wide)]), dtype)


def _count(dtype: DType) -> int:
    if dtype.is_bool:
        return 2
    digits = MANTISSA[dtype.name] if dtype.is_float else dtype.bits - (not dtype.name.startswith("u"))
    return min(2**digits, 2**63 - 1)


def _number(b: GraphBuilder, value: Expr, type_: TensorType) -> SSAValue:
    known = value.as_int()
    if known is not None:
        return b.constant(known, type_)
    scalar = b.emit(IotaOp, [], value=MapAttr(IndexMap(0, (value,))), shape=ShapeAttr.get([]), dtype=I64.attr)
    return b.broadcast(scalar, type_.dims)


def permutation(stream: Stream, type_: TensorType) -> SSAValue:
    """The places of random keys in order."""
    b, keys = stream.b, stream.integers(type_, 63)
    _, places = b.emit_all(SortOp, [keys], axis=IntAttr(0), descending=BoolAttr.from_bool(False))
    return b.cast(places, type_.dtype)


SAMPLERS: Mapping[Distribution, Sampler] = MappingProxyType(
    {
        Distribution.BERNOULLI: bernoulli,
        Distribution.UNIFORM: uniform,
        Distribution.NORMAL: normal,
        Distribution.EXPONENTIAL: exponential,
        Distribution.CAUCHY: cauchy,
        Distribution.LOG_NORMAL: log_normal,
        Distribution.GEOMETRIC: geometric,
        Distribution.INTEGERS: integers,
        Distribution.PERMUTATION: permutation,
        Distribution.DROPOUT: dropout,
    }
)
"""How each distribution is computed; the numbers are not those that torch would draw, their distribution is."""
