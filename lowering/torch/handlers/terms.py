"""Formulas of one element written as Python expressions: `Term` emits an hlir op for each operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.dtype import DType
from ....dialects.hlir.arithmetic import AbsOp, CosOp, ErfOp, ExpOp, LogOp, NegOp, SubOp
from ....dialects.hlir.bitwise import BitAndOp, BitOrOp
from ....dialects.hlir.builder import GraphBuilder
from ....dialects.hlir.comparison import BitNotOp, IsNanOp, LessEqualOp, NotEqualOp
from ....dialects.hlir.conversion import SelectOp
from ....dialects.hlir.elementwise import (
    AddOp,
    DivOp,
    EqualOp,
    FloorOp,
    LessThanOp,
    MulOp,
    RoundEvenOp,
    SinOp,
    SqrtOp,
    TruncOp,
)
from ....dialects.hlir.transcendental import Atan2Op, ErfcOp, LgammaOp, PowOp
from ....dialects.op import TensorOp, tensor_of
from ..call import Call, Handler
from ..promotion import Kind, promote

Number = float | int


@dataclass(frozen=True, eq=False)
class Term:
    """A value of an element, with the operators of Python and the functions of hlir. Numbers take the term's dtype."""

    b: GraphBuilder
    value: SSAValue

    def _emit(self, op_class: type[TensorOp], *operands: Term | Number) -> Term:
        return Term(self.b, self.b.emit(op_class, [self.lift(x).value for x in operands]))

    def lift(self, x: Term | Number) -> Term:
        """A number at this term's type; a term as it is."""
        return x if isinstance(x, Term) else Term(self.b, self.b.constant(x, tensor_of(self.value)))

    def cast(self, dtype: DType) -> Term:
        return Term(self.b, self.b.cast(self.value, dtype))

    def __add__(self, other: Term | Number) -> Term:
        return self._emit(AddOp, self, other)

    def __radd__(self, other: Number) -> Term:
        return self._emit(AddOp, other, self)

    def __sub__(self, other: Term | Number) -> Term:
        return self._emit(SubOp, self, other)

    def __rsub__(self, other: Number) -> Term:
        return self._emit(SubOp, other, self)

    def __mul__(self, other: Term | Number) -> Term:
        return self._emit(MulOp, self, other)

    def __rmul__(self, other: Number) -> Term:
        return self._emit(MulOp, other, self)

    def __truediv__(self, other: Term | Number) -> Term:
        return self._emit(DivOp, self, other)

    def __rtruediv__(self, other: Number) -> Term:
        return self._emit(DivOp, other, self)

    def __pow__(self, other: Term | Number) -> Term:
        return self._emit(PowOp, self, other)

    def __neg__(self) -> Term:
        return self._emit(NegOp, self)

    def __abs__(self) -> Term:
        return self._emit(AbsOp, self)

    def __lt__(self, other: Term | Number) -> Term:
        return self._emit(LessThanOp, self, other)

    def __le__(self, other: Term | Number) -> Term:
        return self._emit(LessEqualOp, self, other)

    def __gt__(self, other: Term | Number) -> Term:
        return self._emit(LessThanOp, other, self)

    def __ge__(self, other: Term | Number) -> Term:
        return self._emit(LessEqualOp, other, self)

    def __and__(self, other: Term) -> Term:
        return self._emit(BitAndOp, self, other)

    def __or__(self, other: Term) -> Term:
        return self._emit(BitOrOp, self, other)

    def __invert__(self) -> Term:
        return self._emit(BitNotOp, self)

    def equals(self, other: Term | Number) -> Term:
        return self._emit(EqualOp, self, other)

    def differs(self, other: Term | Number) -> Term:
        return self._emit(NotEqualOp, self, other)

    def is_nan(self) -> Term:
        return self._emit(IsNanOp, self)

    def sqrt(self) -> Term:
        return self._emit(SqrtOp, self)

    def exp(self) -> Term:
        return self._emit(ExpOp, self)

    def log(self) -> Term:
        return self._emit(LogOp, self)

    def log1p(self) -> Term:
        """ln(1 + x), exact to a few ulp near 0 (Kahan)."""
        u = self + 1.0
        value = u.log() * (self / (u - 1.0))
        return when(u.equals(1.0), self, when(u.equals(math.inf), u, value))

    def expm1(self) -> Term:
        """e^x - 1, exact to a few ulp near 0 (Kahan)."""
        u = self.exp()
        below = u - 1.0
        value = when(below.equals(-1.0), below, below * (self / u.log()))
        return when(u.equals(1.0), self, when(u.equals(math.inf), u, value))

    def sin(self) -> Term:
        return self._emit(SinOp, self)

    def cos(self) -> Term:
        return self._emit(CosOp, self)

    def floor(self) -> Term:
        return self._emit(FloorOp, self)

    def trunc(self) -> Term:
        return self._emit(TruncOp, self)

    def round_even(self) -> Term:
        return self._emit(RoundEvenOp, self)

    def erf(self) -> Term:
        return self._emit(ErfOp, self)

    def erfc(self) -> Term:
        return self._emit(ErfcOp, self)

    def lgamma(self) -> Term:
        return self._emit(LgammaOp, self)

    def atan2(self, x: Term | Number) -> Term:
        """The angle of (x, self)."""
        return self._emit(Atan2Op, self, x)

    def signed_as(self, x: Term) -> Term:
        """self, which belongs to |x|, as an odd function of x; x itself where that is 0."""
        return when(x.equals(0.0), x, when(x < 0.0, -self, self))


def when(condition: Term, yes: Term | Number, no: Term | Number) -> Term:
    """yes where the condition holds, else no; one of them is a term."""
    like = yes if isinstance(yes, Term) else no
    assert isinstance(like, Term)
    operands = [condition.value, like.lift(yes).value, like.lift(no).value]
    return Term(condition.b, condition.b.emit(SelectOp, operands))


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """c0 x^n + ... + cn by Horner's rule."""
    value = x.lift(coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def chebyshev_series(x: Term, coefficients: Sequence[float]) -> Term:
    """Clenshaw's sum of c_k T_k(x / 2), highest first and half the last, as Cephes' chbevl."""
    older = x.lift(0.0)
    old, new = older, x.lift(coefficients[0])
    for coefficient in coefficients[1:]:
        older, old = old, new
        new = x * old - older + coefficient
    return (new - older) * 0.5


def unary(define: Callable[[Term], Term], name: str = "self", *, dtype: DType | None = None) -> Handler:
    """f of one argument in the computation dtype (or the one given), where integers become floats; rounded once."""

    def handler(call: Call) -> SSAValue:
        x = call.b.cast(call.tensor(name), call.dtype)
        x = call.b.cast(x, call.dtype.compute if dtype is None else dtype)
        return call.b.cast(define(Term(call.b, x)).value, call.dtype)

    return handler


def binary(
    define: Callable[[Term, Term], Term], names: tuple[str, str] = ("self", "other"), *, dtype: DType | None = None
) -> Handler:
    """f(a, b) after promotion, where integers become floats, in the computation dtype (or the one given); rounded
    once."""

    def handler(call: Call) -> SSAValue:
        operands = promote(call, names, kind=Kind.INT_TO_FLOAT)
        compute = operands.dtype.compute if dtype is None else dtype
        a, b = (Term(call.b, call.b.cast(x, compute)) for x in operands.operands)
        return call.b.cast(define(a, b).value, operands.result)

    return handler
