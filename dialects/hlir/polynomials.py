"""Primitive orthogonal polynomials whose degree is data: recurrences of as many steps as the degree of each element."""

from abc import ABC
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from xdsl.irdl import irdl_op_definition

from ..dtype import FLOATS, I1
from ..op import Array
from .pointwise import Binary, samples

Step = Callable[[int, Array, Array], Array]


class Polynomial(Binary, ABC):
    """y = p_n(x) with n = trunc(b): p_0 = 1, p_1 and then a step from the last two; 0 for n < 0 or without a degree."""

    SAMPLES: ClassVar = samples(FLOATS[:4], 2, I1, 0.0, 5.0)


def _recurrence(x: Array, n: Array, first: Array, step: Step, limited: bool = False) -> Array:
    """p_n(x) from p_1 and (k, p_k, p_(k-1)) -> p_(k+1); `limited`: NaN for degrees above 128 (in f64, 512)."""
    degree = np.where((n > -1) & (n < 2.0**63), np.trunc(n), -1).astype(np.int64)
    highest = int(degree.max(initial=0))
    limit = (128 if x.dtype.itemsize == 4 else 512) if limited else highest
    before, last = np.ones_like(x), first
    result = np.where(degree == 1, last, (degree == 0).astype(x.dtype))
    for k in range(1, min(limit, highest)):
        before, last = last, step(k, last, before).astype(x.dtype)
        result = np.where(degree == k + 1, last, result)
    return np.where(degree > limit, np.array(np.nan, x.dtype), result)


@irdl_op_definition
class HermiteOp(Polynomial):
    """The physicists' Hermite polynomial H_n."""

    name = "hlir.hermite"
    SPELLING: ClassVar = "hermite"

    def function(self, *args: Array) -> Array:
        x, n = args
        return _recurrence(x, n, x + x, lambda k, last, before: (x + x) * last - 2 * k * before, limited=True)


@irdl_op_definition
class HermiteEOp(Polynomial):
    """The probabilists' Hermite polynomial He_n."""

    name = "hlir.hermite_e"
    SPELLING: ClassVar = "hermite_e"

    def function(self, *args: Array) -> Array:
        x, n = args
        return _recurrence(x, n, x, lambda k, last, before: x * last - k * before, limited=True)


@irdl_op_definition
class LaguerreOp(Polynomial):
    """The Laguerre polynomial L_n."""

    name = "hlir.laguerre"
    SPELLING: ClassVar = "laguerre"

    def function(self, *args: Array) -> Array:
        x, n = args
        return _recurrence(x, n, 1 - x, lambda k, last, before: ((2 * k + (1 - x)) * last - k * before) / (k + 1))


@irdl_op_definition
class LegendreOp(Polynomial):
    """The Legendre polynomial P_n."""

    name = "hlir.legendre"
    SPELLING: ClassVar = "legendre"

    def function(self, *args: Array) -> Array:
        x, n = args
        return _recurrence(x, n, x, lambda k, last, before: ((2 * k + 1) * x * last - k * before) / (k + 1))
