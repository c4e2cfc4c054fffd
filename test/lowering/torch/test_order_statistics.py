"""Scans, medians, modes, binary search and histograms, as torch.export leaves them, against eager."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch

Check = Callable[..., Any]
TABLE = torch.tensor([[3.0, -1.0, 3.0, 0.0, 2.0], [nan, 2.0, inf, -inf, nan], [0.5, 0.25, -7.0, 1.0, 0.75]])
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8)


class Function(torch.nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def numbers(dtype: torch.dtype) -> torch.Tensor:
    """Distinct numbers in each row, so that places are defined; NaN where there is one."""
    if dtype.is_floating_point:
        return TABLE[[0, 2, 1]].to(dtype) if dtype is torch.float32 else TABLE[[2]].to(dtype)
    return torch.tensor([[3, 1, 4, 0, 9], [7, 6, 5, 8, 2]]).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_running_extremes(check_model: Check, dtype: torch.dtype) -> None:
    x = TABLE.to(dtype) if dtype.is_floating_point else numbers(dtype)
    check_model(Function(lambda x: (*torch.cummax(x, 1), *torch.cummin(x, 0))), (x,))
    check_model(Function(lambda x: (*torch.cummax(x, 0), *torch.cummin(x, 0))), (x[0, 0],))


def test_running_extremes_keep_the_sign_of_zero() -> None:
    x = torch.tensor([0.0, -0.0, 0.0, -1.0])
    found = torch.compile(lambda x: torch.cummax(x, 0).values, backend="albumen", fullgraph=True)(x)
    assert torch.equal(found.signbit(), torch.cummax(x, 0).values.signbit())


@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
def test_logarithms_of_running_sums(check_model: Check, dtype: torch.dtype) -> None:
    x = torch.tensor([[-inf, -inf, 1.0, 2.0], [0.0, 300.0, -500.0, inf], [-900.0, 1.0, nan, 2.0]]).to(dtype)
    check_model(Function(lambda x: torch.logcumsumexp(x, 1)), (x,), tolerance=5e-6 if dtype.itemsize > 2 else 8e-3)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_medians(check_model: Check, dtype: torch.dtype) -> None:
    x = numbers(dtype)
    check_model(Function(lambda x: (*torch.median(x, 1), *torch.nanmedian(x, 1, keepdim=True))), (x,))
    check_model(Function(lambda x: (x.median(), x.nanmedian())), (x,))
    check_model(Function(lambda x: (*torch.kthvalue(x, 2, 1), *torch.kthvalue(x, 5, -1, True))), (x,))
    check_model(Function(lambda x: (*torch.median(x, 0), *torch.mode(x, 0))), (x[0, 0],))


def test_medians_of_missing_numbers(check_model: Check) -> None:
    x = torch.tensor([[nan, 3.0, nan, 1.0, 2.0], [nan, nan, nan, nan, nan]])
    check_model(Function(lambda x: (x.median(1).values, *torch.nanmedian(x[:1], 1), x.nanmedian(1).values)), (x,))
    check_model(Function(lambda x: (x.median(), x.nanmedian())), (torch.zeros(0),))


def test_modes(check_model: Check) -> None:
    x = torch.tensor([[2, 2, 1, 1, 3], [5, 4, 5, 4, 5], [1, 2, 3, 4, 5]])
    check_model(Function(lambda x: (torch.mode(x, 1).values, torch.mode(x, 0, keepdim=True).values)), (x,))
    check_model(Function(lambda x: x.float().mode(1).values), (x,))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8], ids=str)
def test_binary_search(check_model: Check, dtype: torch.dtype, right: bool) -> None:
    edges = torch.tensor([1, 3, 3, 5, 9]).to(dtype)
    x = torch.tensor([[0, 1, 2], [3, 9, 10]]).to(dtype)
    check_model(Function(lambda e, x: (torch.bucketize(x, e, right=right), torch.searchsorted(e, x))), (edges, x))
    rows = torch.stack([edges, edges * 2])
    check_model(Function(lambda e, x: torch.searchsorted(e, x, right=right, out_int32=True)), (rows, x))
    check_model(Function(lambda e, x: torch.searchsorted(e, x[0, 0]) + torch.bucketize(3, e)), (edges, x))
    check_model(Function(lambda e, x: torch.isin(x, e)), (edges, x))
    order = torch.tensor([4, 0, 1, 2, 3])
    check_model(Function(lambda e, x, s: torch.searchsorted(e, x, sorter=s)), (edges[[1, 2, 3, 4, 0]], x, order))


def test_histograms(check_model: Check) -> None:
    x = torch.tensor([0.0, 0.1, 1.0, 2.5, 2.5, 9.99, 10.0, -1.0, 11.0])
    check_model(Function(lambda x: (torch.histc(x, 7, 0, 10), torch.histc(x, 4), torch.histc(x[:1], 3))), (x,))
    check_model(Function(lambda x: torch.histogram(x, 5, range=(0.0, 10.0))), (x,))
    weights = torch.linspace(0, 1, 9)
    check_model(Function(lambda x, w: torch.histogram(x, 4, weight=w, density=True)), (x, weights))
    check_model(Function(lambda x, e: torch.histogram(x, e)), (x, torch.tensor([0.0, 1.0, 2.5, 10.0])))


def test_distances_and_scaling(check_model: Check) -> None:
    a, b = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([0.5, 2.0, -3.0])
    check_model(Function(lambda a, b: (torch.dist(a, b), torch.dist(a, b, 1), torch.dist(a, b, inf))), (a, b))
    check_model(Function(torch.ldexp), (a, torch.tensor([3, -1, 0])))


def test_rows_of_unknown_length() -> None:
    def places(x: torch.Tensor) -> Any:
        return x.median(1), x.kthvalue(2, 1).values, torch.searchsorted(x.sort(1).values, x)

    compiled = torch.compile(places, backend="albumen", fullgraph=True, dynamic=True)
    for length in (9, 11):
        x = torch.randn(4, length, generator=torch.Generator().manual_seed(length))
        torch.testing.assert_close(compiled(x), places(x))
