"""Views, copies, creation, joining and indexing against eager."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest
import torch

Check = Callable[..., None]
T = torch.tensor
X = torch.arange(24.0).reshape(2, 3, 4)
CPU: dict[str, Any] = {"device": torch.device("cpu"), "pin_memory": False}

VIEWS: list[tuple[Any, ...]] = [
    ("view.default", X, [6, -1]),
    ("_unsafe_view.default", X, [24]),
    ("reshape.default", X.transpose(0, 2), [4, 6]),
    ("view.default", torch.empty(2, 0), [0, 7]),
    ("permute.default", X, [2, 0, -2]),
    ("transpose.int", X, -1, 0),
    ("t.default", X[0]),
    ("t.default", X[0, 0]),
    ("expand.default", X[:, :1], [5, 2, 3, -1]),
    ("unsqueeze.default", X, -1),
    ("squeeze.default", X[:, :1, :1]),
    ("squeeze.dim", X[:, :1], 1),
    ("squeeze.dim", X, 1),
    ("squeeze.dims", X[:1, :1], [0, 1]),
    ("slice.Tensor", X, 1, 1, 9223372036854775807),
    ("slice.Tensor", X, 2, -3, -1),
    ("slice.Tensor", X, 2, 0, 4, 3),
    ("slice.Tensor", X, 2, 3, 1),
    ("slice.Tensor", X, 2, None, None, 2),
    ("slice.Tensor", X, 2, 7, 9),
    ("select.int", X, 1, 2),
    ("select.int", X, 2, -1),
    ("narrow.default", X, 2, -2, 2),
    ("split.Tensor", X, 3, 2),
    ("split_with_sizes.default", X, [1, 0, 3], 2),
    ("chunk.default", X, 3, 2),
    ("unbind.int", X, 1),
    ("flip.default", X, [0, -1]),
    ("flip.default", X, []),
    ("roll.default", X, [1, -2], [0, 2]),
    ("roll.default", X, [5], []),
    ("repeat.default", X, [2, 1, 3, 2]),
    ("repeat.default", torch.empty(0), [3]),
    ("unfold.default", X, 2, 2, 1),
    ("diagonal.default", X, 1, 1, 2),
    ("diagonal.default", X, -1, 0, 1),
    ("as_strided.default", X, [2, 2], [3, 1], 1),
    ("view.dtype", X, torch.int32),
    ("alias.default", X),
    ("detach.default", X),
    ("clone.default", X.transpose(0, 1)),
    ("_to_copy.default", X),
    ("type_as.default", X, torch.zeros(1, dtype=torch.int64)),
    ("copy.default", X, T([1, 2, 3, 4])),
    ("dropout.default", X, 0.5, False),
    ("constant_pad_nd.default", X, [1, 2, 0, 1], -inf),
    ("constant_pad_nd.default", X, [-1, -2, 1, -1]),
    ("pad.default", X, [0, 0]),
    ("cat.default", [X, X[:, :1]], 1),
    ("cat.default", [torch.empty(0), X], -1),
    ("cat.default", [T([1, 2]), T([0.5])]),
    ("stack.default", [X, X], 3),
    ("embedding.default", X[0], T([[1, 0], [2, 2]])),
    ("index_select.default", X, 2, T([3, 0, 0])),
    ("index_select.default", X, 0, T(1)),
    ("gather.default", X, 1, T([[[2, 0, 1, 1]], [[0, 0, 2, 2]]])),
    ("gather.default", X, 2, torch.empty(2, 3, 0, dtype=torch.int64)),
    ("take.default", X, T([[0, -1], [7, 23]])),
    ("index.Tensor", X, [T([1, -1, 0])]),
    ("index.Tensor", X, [None, T([[0], [-1]]), T([1, 2, 3])]),
    ("index.Tensor", X, [T([0, 1]), None, T([3, -4])]),
    ("index.Tensor", X, [T([0, 1]), T([2, 0]), T([3, -4])]),
    ("tril.default", X, 1),
    ("triu.default", X),
    ("tril.default", X, -1),
]


@pytest.mark.parametrize("case", VIEWS, ids=[f"{i}-{c[0]}" for i, c in enumerate(VIEWS)])
def test_rearranging(check_call: Check, case: tuple[Any, ...]) -> None:
    check_call(f"aten.{case[0]}", *case[1:])


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.int8, torch.uint8, torch.int32, torch.bfloat16, torch.float16, torch.float64]
)
@pytest.mark.parametrize("source", [torch.bool, torch.int64, torch.uint8, torch.bfloat16, torch.float32], ids=str)
def test_conversion(check_call: Check, source: torch.dtype, dtype: torch.dtype) -> None:
    check_call("aten._to_copy.default", T([0.0, 1.7, 3.2, 90.9]).to(source), dtype=dtype)
    check_call("aten.expand.default", T([[1], [0]]).to(dtype), [2, 3])


CREATION: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("zeros.default", ([2, 3],), {**CPU, "dtype": torch.bfloat16}),
    ("ones.default", ([],), CPU),
    ("zeros_like.default", (X,), {"dtype": torch.int64}),
    ("ones_like.default", (X,), {}),
    ("new_ones.default", (X, [2]), {}),
    ("new_zeros.default", (X, [0]), {}),
    ("full.default", ([2], -inf), {**CPU, "layout": torch.strided}),
    ("full.default", ([], True), {**CPU, "dtype": torch.bool}),
    ("full_like.default", (X, 3), {"dtype": torch.uint8}),
    ("new_full.default", (X, [2], 0.1), {}),
    ("fill.Scalar", (X, 7), {}),
    ("fill.Tensor", (X, T(7)), {}),
    ("scalar_tensor.default", (0.1,), {"dtype": torch.float64}),
    ("arange.default", (5,), CPU),
    ("arange.start", (2, 7), {**CPU, "dtype": torch.int32}),
    ("arange.start_step", (5, -3, -2), CPU),
    ("arange.start_step", (0, 1, 0.1), CPU),
    ("arange.start_step", (1, 4, 1), {**CPU, "dtype": torch.float16}),
    ("linspace.default", (-1.0, 2.0, 7), CPU),
    ("linspace.default", (0, 1, 1), CPU),
    ("eye.m", (3, 4), CPU),
]


@pytest.mark.parametrize("case", CREATION, ids=[f"{i}-{c[0]}" for i, c in enumerate(CREATION)])
def test_creation(check_call: Check, case: tuple[str, tuple[Any, ...], dict[str, Any]]) -> None:
    check_call(f"aten.{case[0]}", *case[1], **case[2])


PLACES = T([[0, 2, 1]])
Y = torch.linspace(-1, 1, 9).reshape(3, 3)
WRITES: list[tuple[Any, ...]] = [
    ("scatter.src", Y, 0, PLACES, Y + 9),
    ("scatter.value", Y, 1, PLACES, 4.0),
    ("scatter_add.default", Y, 0, T([[0, 0, 0], [0, 1, 1]]), Y),
    ("scatter.value_reduce", Y, 1, PLACES, 4.0),
    ("index_put.default", Y, [T([2, 0])], T([[1.0], [2.0]])),
    ("index_put.default", Y, [None, T([-1, 0])], T(5.0)),
    ("index_put.default", Y, [T([0, 0, 2]), T([1, 1, -1])], T([1.0, 2.0, 3.0]), True),
    ("index_add.default", Y, 1, T([2, 0, 2]), Y),
    ("index_copy.default", Y, 0, T([2, 0]), Y[:2] * 3),
    ("index_fill.int_Scalar", Y, 1, T([0]), -1.0),
    ("slice_scatter.default", Y, Y[:, :1] + 5, 1, 1, 2),
    ("slice_scatter.default", Y, Y[:2] + 5, 0, 0, 3, 2),
    ("slice_scatter.default", Y, Y + 5),
    ("slice_scatter.default", Y, Y[:2] + 5, 0, -2),
    ("select_scatter.default", Y, Y[0] + 5, 1, -1),
    ("embedding_dense_backward.default", torch.ones(2, 2, 3), T([[0, 3], [3, 1]]), 5, 1, False),
]


@pytest.mark.parametrize("case", WRITES, ids=[f"{i}-{c[0]}" for i, c in enumerate(WRITES)])
def test_writing(check_call: Check, case: tuple[Any, ...]) -> None:
    options = {"reduce": "add"} if case[0] == "scatter.value_reduce" else {}
    check_call(f"aten.{case[0]}", *case[1:], **options)


ORDERED = T([[2.0, 1.0, 2.0, 1.0], [-inf, 5.0, 0.0, -0.5]])


def test_ordering(check_call: Check) -> None:
    for descending in (False, True):
        check_call("aten.sort.stable", ORDERED, stable=True, dim=1, descending=descending)
        check_call("aten.argsort.stable", ORDERED, stable=True, dim=0, descending=descending)
    check_call("aten.sort.default", T(3.0), 0)
    distinct = T([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
    check_call("aten.topk.default", distinct, 2, 1)
    check_call("aten.topk.default", distinct, 1, 0, False)
