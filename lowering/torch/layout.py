"""How a tensor lies in memory: values of hlir are dense and row-major, so any other dense order becomes a
permutation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from ...dialects.sym.expr import Expr, constant

_MOST_DIMS = 6


def memory_order(dims: Sequence[Expr], strides: Sequence[Expr]) -> tuple[int, ...] | None:
    """The dims from the outermost in memory to the innermost, or None if the tensor is not dense.

    The order of the dims themselves is preferred, so a contiguous tensor gives 0, 1, 2, ....
    """
    rank = len(dims)
    straight = tuple(range(rank))
    if any(d.as_int() == 0 for d in dims):
        return straight
    known = [s.as_int() for s in strides]
    if None not in known:
        ordered = tuple(sorted(straight, key=lambda i: (-(known[i] or 0), dims[i].as_int() == 1, i)))
        candidates = [straight, ordered]
    else:
        candidates = list(permutations(straight)) if rank <= _MOST_DIMS else [straight]
    return next((order for order in candidates if _is_dense(dims, strides, order)), None)


def _is_dense(dims: Sequence[Expr], strides: Sequence[Expr], order: Sequence[int]) -> bool:
    step: Expr = constant(1)
    for i in reversed(order):
        if dims[i].as_int() != 1 and strides[i] != step:
            return False
        step = step * dims[i]
    return True


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `order`."""
    return tuple(order.index(i) for i in range(len(order)))
