"""Floats that a program computes from sizes, such as 1 / sqrt(s): in f64, as Python does."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, NoReturn

import sympy
from torch.utils._sympy import functions as torch_functions
from torch.utils._sympy.functions import FloatPow, FloatTrueDiv, Identity, IntTrueDiv, Max, Min, PowByNatural, ToFloat
from xdsl.ir import SSAValue

from ...dialects.dtype import F64
from ...dialects.hlir.arithmetic import AbsOp, ExpOp, LogOp
from ...dialects.hlir.builder import GraphBuilder
from ...dialects.hlir.comparison import MinimumOp
from ...dialects.hlir.creation import IotaOp
from ...dialects.hlir.elementwise import AddOp, DivOp, Log2Op, MaximumOp, MulOp, SqrtOp
from ...dialects.hlir.index_map import IndexMap
from ...dialects.hlir.transcendental import PowOp
from ...dialects.hlir.types import MapAttr, ShapeAttr, tensor_type
from ...dialects.op import TensorOp
from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import evaluate_int
from .unsupported import UnsupportedNodeError

SCALAR = tensor_type([], F64)


@dataclass(frozen=True)
class Operator:
    """What an operator means in Python and as an op on f64."""

    function: Callable[..., float]
    op: type[TensorOp]


def _quotient(a: float, b: float) -> float:
    return a / b


ADD = Operator(operator.add, AddOp)
MUL = Operator(operator.mul, MulOp)
DIV = Operator(_quotient, DivOp)
POW = Operator(math.pow, PowOp)
MAX = Operator(max, MaximumOp)
MIN = Operator(min, MinimumOp)
SQRT = Operator(math.sqrt, SqrtOp)


@dataclass(frozen=True)
class FloatExpr:
    """A number (`leaf` is a float), a size (an Expr), or an operator of others."""

    leaf: float | Expr | None = None
    operator: Operator | None = None
    arguments: tuple[FloatExpr, ...] = ()

    def evaluate(self, symbols: Mapping[str, int]) -> float:
        """The value for these sizes."""
        if self.operator is not None:
            return self.operator.function(*(argument.evaluate(symbols) for argument in self.arguments))
        return float(evaluate_int(self.leaf, symbols) if isinstance(self.leaf, Expr) else self.leaf or 0.0)

    def tensor(self, b: GraphBuilder) -> SSAValue:
        """The value as a 0-d tensor of f64."""
        if self.operator is not None:
            return b.emit(self.operator.op, [argument.tensor(b) for argument in self.arguments])
        if isinstance(self.leaf, Expr):
            map_ = MapAttr(IndexMap(0, (self.leaf,)))
            return b.emit(IotaOp, [], value=map_, shape=ShapeAttr.get([]), dtype=SCALAR.element)
        return b.constant(self.leaf or 0.0, SCALAR)

    def __float__(self) -> NoReturn:
        raise UnsupportedNodeError("has a number that depends on a size where a fixed one is needed")

    def _compared(self, other: object) -> bool:
        raise UnsupportedNodeError("compares a number that depends on a size")

    __lt__ = __le__ = __gt__ = __ge__ = _compared


@dataclass(frozen=True)
class Condition:
    """Whether a comparison of two integers holds."""

    compare: Callable[[int, int], bool]
    left: Expr
    right: Expr

    def evaluate(self, symbols: Mapping[str, int]) -> bool:
        """The truth for these sizes."""
        return self.compare(evaluate_int(self.left, symbols), evaluate_int(self.right, symbols))


def condition(value: Any, size: Callable[[Any], Expr]) -> Condition:
    """A sympy comparison of sizes.

    Raises:
        UnsupportedNodeError: it is none.
    """
    kind: type = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind not in COMPARISONS:
        raise UnsupportedNodeError(f"computes the condition {value} of sizes")
    return Condition(COMPARISONS[kind], size(value.lhs), size(value.rhs))


COMPARISONS: Mapping[type, Callable[[int, int], bool]] = MappingProxyType(
    {
        sympy.Eq: operator.eq,
        sympy.Ne: operator.ne,
        sympy.Lt: operator.lt,
        sympy.Le: operator.le,
        sympy.Gt: operator.gt,
        sympy.Ge: operator.ge,
    }
)


def float_expression(value: Any, size: Callable[[Any], Expr]) -> FloatExpr:
    """A sympy expression of a SymFloat; `size` gives the meaning of an integer one.

    Raises:
        UnsupportedNodeError: it has no counterpart.
    """
    if value.is_Float or value.is_Rational:
        return FloatExpr(float(value))
    kind: type = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind in (ToFloat, Identity):
        return float_expression(value.args[0], size)
    found = OPERATORS.get(kind)
    if found is not None and not value.is_integer:
        arguments = [float_expression(argument, size) for argument in value.args]
        if len(arguments) == 1:
            return FloatExpr(None, found, (arguments[0],))
        return reduce(lambda a, b: FloatExpr(None, found, (a, b)), arguments)
    if value.is_integer:
        return FloatExpr(size(value))
    if isinstance(value, sympy.Symbol):
        raise UnsupportedNodeError(f"computes a number {value} that depends on data")
    raise UnsupportedNodeError(f"computes the number {value} from sizes, which has no counterpart")


def reciprocal_root(size: Expr) -> float | FloatExpr:
    """1 / sqrt(size), and 1 for no size at all."""
    known = size.as_int()
    if known is not None:
        return 1.0 / math.sqrt(known) if known else 1.0
    return FloatExpr(None, DIV, (FloatExpr(1.0), FloatExpr(None, SQRT, (FloatExpr(size),))))


def _opaque(name: str) -> type:
    kind: type = getattr(torch_functions, f"OpaqueUnaryFn_{name}")
    return kind


OPERATORS: Mapping[type, Operator] = MappingProxyType(
    {
        sympy.Add: ADD,
        sympy.Mul: MUL,
        sympy.Pow: POW,
        FloatPow: POW,
        PowByNatural: POW,
        IntTrueDiv: DIV,
        FloatTrueDiv: DIV,
        Max: MAX,
        sympy.Max: MAX,
        Min: MIN,
        sympy.Min: MIN,
        sympy.Abs: Operator(math.fabs, AbsOp),
        _opaque("sqrt"): SQRT,
        _opaque("exp"): Operator(math.exp, ExpOp),
        _opaque("log"): Operator(math.log, LogOp),
        _opaque("log2"): Operator(math.log2, Log2Op),
    }
)
"""sympy class -> what it computes; of more than two arguments, from the left."""
