"""Orthogonal polynomials whose degree is a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.ir import SSAValue

from ....dialects.hlir.polynomials import HermiteEOp, HermiteOp, LaguerreOp, LegendreOp, Polynomial
from ..call import Call, Handler
from ..promotion import Kind, finish, promote


def polynomial(op_class: type[Polynomial]) -> Handler:
    """p_n(x) after promotion, where integers become floats."""

    def handler(call: Call) -> SSAValue:
        return finish(call, op_class, promote(call, ["x", "n"], kind=Kind.INT_TO_FLOAT))

    return handler


NAMES: Mapping[str, type[Polynomial]] = MappingProxyType(
    {
        "hermite_polynomial_h": HermiteOp,
        "hermite_polynomial_he": HermiteEOp,
        "laguerre_polynomial_l": LaguerreOp,
        "legendre_polynomial_p": LegendreOp,
    }
)

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        f"aten.special_{name}.{overload}": polynomial(op_class)
        for name, op_class in NAMES.items()
        for overload in ("default", "x_scalar", "n_scalar")
    }
)
