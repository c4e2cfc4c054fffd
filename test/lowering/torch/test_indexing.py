"""Reading and writing at positions that data gives, against eager: values, and the errors of indices out of range."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch

Check = Callable[..., None]
T = torch.tensor
X = torch.arange(24.0).reshape(2, 3, 4)
WIDE = T([[-128, 7, 3], [5, 127, 0]], dtype=torch.int32)
MASK = T([[True, False, True], [False, True, True]])
SPECIAL = T([[nan, 1.0, -0.0], [inf, -inf, 0.0]])

CASES: list[tuple[Any, ...]] = [
    ("gather.default", T(3.0), 0, T([0, 0])),
    ("gather.default", X[0, 0], 0, T(2)),
    ("gather.default", X, 1, torch.empty(0, dtype=torch.int64)),
    ("index_select.default", T(3.0), 0, T([0])),
    ("scatter.value", T(3.0), 0, T(0), 2.0),
    ("scatter.src", X[0], 0, torch.empty(0, dtype=torch.int64), X[1]),
    ("scatter.src", X[0], 1, T([[3, 1], [0, 2]]), X[1]),
    ("put.default", X, T([[0, -1], [5, 5]]), T([[1.0, 2.0], [3.0, 3.0]])),
    ("put.default", X, T([0, -1, 0]), T([1.0, 2.0, 3.0]), True),
    ("index_add.default", X, 2, T([3, 3]), torch.ones(2, 3, 2)),
    ("index_add.default", T(1.0), 0, T([0]), T(2.0)),
    ("index_copy.default", X[0], 0, T(1), X[1, :1]),
    ("index_fill.int_Scalar", X, 1, T([-1, 0]), 5),
    ("index_fill.int_Tensor", X, 1, T(-3), T(5)),
    ("masked_scatter.default", torch.zeros(2, 3), MASK, torch.arange(1.0, 7)),
    ("masked_scatter.default", torch.zeros(2, 3), MASK[0], torch.arange(1.0, 5)),
    ("masked_scatter.default", torch.zeros(0, 3), MASK[0], torch.arange(1.0, 5)),
    ("index_put.default", torch.zeros(2, 3), [MASK], T(2.0)),
    ("index_put.default", torch.zeros(2, 3), [MASK], torch.arange(1.0, 5)),
    ("index_put.default", torch.ones(2, 3, 2), [MASK], T([[4.0, 5.0]]), True),
    ("index_put.default", torch.ones(2, 3), [None, MASK[0]], T([[4.0, 5.0], [6.0, 7.0]])),
    ("index_put.default", torch.ones(2, 3), [T([1, 0], dtype=torch.uint8)], T([4.0, 5.0, 6.0])),
    ("diagonal_scatter.default", X, torch.ones(4, 2), 1, 0, 1),
    ("diagonal_scatter.default", X, torch.ones(2, 2), -1, 1, 2),
    ("as_strided_scatter.default", X, torch.ones(2, 2), [2, 2], [7, 2], 1),
    ("as_strided_copy.default", X, [2, 2], [7, 2], 1),
    ("view_copy.default", X, [4, 6]),
    ("narrow_copy.default", X, 1, 1, 2),
    ("unbind_copy.int", X, 1),
    ("split_copy.Tensor", X, 2, 1),
    ("view.dtype", T([1.5, -2.0, nan]), torch.int16),
    ("view.dtype", T([1.5, -2.0, nan]), torch.uint8),
    ("view.dtype", T([[1, -1], [2**31 - 1, -(2**31)]], dtype=torch.int32), torch.int64),
    ("view.dtype", torch.arange(250, 258).to(torch.uint8), torch.bfloat16),
    ("view.dtype", torch.arange(-4, 4, dtype=torch.int8), torch.float64),
    ("view.dtype", MASK, torch.uint8),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)])
def test_value(check_call: Check, case: tuple[Any, ...]) -> None:
    check_call(f"aten.{case[0]}", *case[1:])


@pytest.mark.parametrize("size", [0, 2, 6])
def test_nonzero_static(check_call: Check, size: int) -> None:
    for x in (SPECIAL, X, MASK, T(1.0), torch.empty(2, 0)):
        check_call("aten.nonzero_static.default", x, size=size, fill_value=-7)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduction", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
def test_reductions(check_call: Check, reduction: str, include_self: bool, dtype: torch.dtype) -> None:
    x = T([[3, 1, 4], [1, 5, 9]]).to(dtype)
    source = T([[2, 7, 1], [8, 2, 8]]).to(dtype)
    index = T([[0, 1, 0], [0, 1, 1]])
    if dtype != torch.bool or reduction != "mean":
        check_call("aten.scatter_reduce.two", x, 0, index, source, reduction, include_self=include_self)
    if reduction != "sum" and dtype != torch.bool:
        slices = T([[2, 7, 1], [8, 2, 8], [3, 3, 3]]).to(dtype)
        check_call("aten.index_reduce.default", x, 0, T([1, 1, 1]), slices, reduction, include_self=include_self)


def test_reductions_of_special_values(check_call: Check) -> None:
    source = T([[1.0, nan, -0.0], [-inf, 2.0, 0.0]])
    for reduction in ("sum", "amax", "amin"):
        for include_self in (True, False):
            index = torch.zeros(2, 3, dtype=torch.int64)
            check_call("aten.scatter_reduce.two", SPECIAL, 0, index, source, reduction, include_self=include_self)


@pytest.mark.parametrize("reduction", ["add", "multiply"])
def test_scatter_with_a_reduction(check_call: Check, reduction: str) -> None:
    check_call("aten.scatter.reduce", X[0], 0, T([[2, 1], [2, 2]]), X[1], reduce=reduction)
    check_call("aten.scatter.value_reduce", WIDE, 1, T([[2, 2, 0]]), 2, reduce=reduction)


def test_repeat_interleave(check_call: Check) -> None:
    check_call("aten.repeat_interleave.Tensor", T([2, 0, 3, 1]), output_size=6)
    check_call("aten.repeat_interleave.Tensor", T([0, 0], dtype=torch.int32), output_size=0)


W = torch.ones(5, 3)
OUTSIDE: dict[str, tuple[Callable[[torch.Tensor], Any], Any]] = {
    "index": (lambda i: W[i], [0, 5]),
    "index, negative": (lambda i: W[i], [0, -6]),
    "index, two dims": (lambda i: W[i, i], [0, 3]),
    "embedding": (lambda i: torch.nn.functional.embedding(i, W), [0, -1]),
    "index_select": (lambda i: torch.index_select(W, 0, i), [5]),
    "take": (lambda i: torch.take(W, i), [15]),
    "put": (lambda i: torch.put(W, i, torch.ones(1)), [-16]),
    "gather": (lambda i: torch.gather(W, 0, i[:, None]), [5]),
    "gather, inner dim": (lambda i: torch.gather(W, 1, i[:, None]), [3]),
    "scatter": (lambda i: torch.scatter(W, 1, i[:, None], 2.0), [-1]),
    "scatter_add": (lambda i: torch.scatter_add(W, 1, i[:, None], W), [3]),
    "scatter_reduce": (lambda i: torch.scatter_reduce(W, 1, i[:, None], W, "amax"), [3]),
    "index_add": (lambda i: torch.index_add(W, 0, i, W[:1]), [-1]),
    "index_copy": (lambda i: torch.index_copy(W, 0, i, W[:1]), [-1]),
    "index_fill": (lambda i: torch.index_fill(W, 0, i, 2.0), [-6]),
    "index_put": (lambda i: torch.index_put(W, (i, i), T(1.0)), [3]),
    "index_put, too many": (lambda i: torch.index_put(W, (W[:, 0] > i[0],), torch.ones(3, 3)), [0]),
    "masked_scatter": (lambda i: torch.masked_scatter(W, i[0] < W, torch.ones(14)), [0]),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_index_out_of_range_raises_as_eager(name: str) -> None:
    function, index = OUTSIDE[name]
    with pytest.raises((IndexError, RuntimeError)) as eager:
        function(T(index))
    torch.compiler.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    with pytest.raises(eager.type):
        compiled(T(index))


NONE = torch.zeros(0, 1 << 16)
ON_AN_EMPTY_AXIS: dict[str, Callable[[torch.Tensor], Any]] = {
    "index": lambda i: NONE[i],
    "index, inner dim": lambda i: NONE.mT[:, i],
    "embedding": lambda i: torch.nn.functional.embedding(i, NONE),
    "gather": lambda i: torch.gather(NONE, 0, i[:, None].expand(1, 1 << 16)),
    "embedding_bag": lambda i: torch.nn.functional.embedding_bag(i[None], NONE),
    "index_put": lambda i: torch.index_put(NONE, (i,), T(1.0)),
    "scatter": lambda i: torch.scatter(NONE, 0, i[:, None].expand(1, 1 << 16), 2.0),
    "index_copy": lambda i: torch.index_copy(NONE, 0, i, torch.ones(1, 1 << 16)),
}


@pytest.mark.parametrize("name", ON_AN_EMPTY_AXIS)
def test_no_index_is_in_range_of_an_empty_axis(name: str) -> None:
    torch.compiler.reset()
    compiled = torch.compile(ON_AN_EMPTY_AXIS[name], backend="albumen", fullgraph=True)
    with pytest.raises((IndexError, RuntimeError)):
        compiled(T([0]))
