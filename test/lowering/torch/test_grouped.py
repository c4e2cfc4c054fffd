"""Products of groups of rows, and histograms, as mixtures of experts use them."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

Check = Callable[..., None]


def assert_as_eager(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    torch.testing.assert_close(compiled(x), function(x), rtol=0, atol=0)


@pytest.mark.parametrize("ends", [[1, 1, 2, 3], [0, 0, 0, 3], [3, 3, 3, 3], [2, 5, 6, 9], [0, 0, 0, 9]])
def test_grouped_product(check_call: Check, ends: list[int]) -> None:
    """Few rows and many, empty groups at every place."""
    x = torch.randn(ends[-1], 16, dtype=torch.bfloat16)
    weights = torch.randn(4, 24, 16, dtype=torch.bfloat16).transpose(1, 2)
    check_call("aten._grouped_mm.default", x, weights, torch.tensor(ends, dtype=torch.int32))


def test_nothing_of_another_group_reaches_a_row(check_call: Check) -> None:
    weights = torch.randn(3, 16, 8, dtype=torch.bfloat16)
    weights[1] = float("inf")
    x = torch.randn(6, 16, dtype=torch.bfloat16)
    check_call("aten._grouped_mm.default", x, weights, torch.tensor([3, 3, 6], dtype=torch.int32))


@pytest.mark.parametrize("rows", [2, 7])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_product_that_transformers_uses_instead(check_call: Check, dtype: torch.dtype, rows: int) -> None:
    """Its rows after the last group are 0."""
    pytest.importorskip("transformers.integrations.moe")
    ends = torch.tensor([0, rows - 1, rows - 1])
    check_call(
        "transformers.grouped_mm_fallback.default",
        torch.randn(rows, 8, dtype=dtype),
        torch.randn(3, 8, 5, dtype=dtype),
        ends,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (200,), (7, 9)])
def test_histc(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    assert_as_eager(lambda x: torch.histc(x, 7, -2, 3), torch.randn(shape, dtype=dtype) * 3)


def test_histc_of_whole_numbers() -> None:
    """Experts from 0 to 7: each in a cell of its own, the last at the end of the range."""
    x = torch.randint(0, 8, (50,)).float()
    x[:3] = torch.tensor([float("nan"), 8.0, -1.0])
    assert_as_eager(lambda x: torch.histc(x, 8, 0, 7), x)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_range_of_the_data_that_is_not_finite(bad: float) -> None:
    x = torch.tensor([1.0, bad])
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: torch.histc(x, 5), backend="albumen", fullgraph=True)
    assert compiled(torch.tensor([1.0, 5.0])).tolist() == [1.0, 0.0, 0.0, 0.0, 1.0]
    with pytest.raises(RuntimeError, match="out of range"):
        compiled(x)
