"""What eager raises whatever the values are is what a compiled call raises; what is missing is still said first."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed

import albumen
from albumen.dialects.errors import CompileError
from albumen.runtime.errors import ShapeError

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda a, b: torch.mm(a, b), (torch.ones(2, 2), torch.ones(2, 2, dtype=torch.bfloat16))),
        (lambda a, b: a @ b + 1, (torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2))),
        (lambda a: torch.logcumsumexp(a, 0), (torch.zeros((), dtype=torch.uint8),)),
        (lambda a: torch.logcumsumexp(a, 0), (torch.zeros(3, dtype=torch.bool),)),
        (lambda a: a.max(0), (torch.zeros(0, 3),)),
        (lambda a: a.min(1).indices, (torch.zeros(0, 0),)),
    ],
)
def test_errors_of_eager(function: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> None:
    with pytest.raises(Exception) as eager:
        function(*inputs)
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    for _ in range(2):
        with pytest.raises(eager.type) as found:
            compiled(*inputs)
        assert found.type is eager.type


X, ROW = torch.randn(2, 4), torch.tensor([0])
SQUARE = torch.randn(4, 4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: torch.nn.functional.linear(x, w),
        lambda x, w: torch.nn.functional.linear(x, w.to(x.dtype), w[0]),
        lambda x, w: torch.addmm(w[0], x, w.to(x.dtype)),
        lambda x, w: torch.addmm(x, x, w),
        lambda x, w: x.clone().index_put_((ROW,), w[:1]),
        lambda x, w: x.index_add(0, ROW, w[:1]),
        lambda x, w: x.index_copy(0, ROW, w[:1]),
        lambda x, w: torch.linalg.cross(x[:, :3], w[:2, :3]),
    ],
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.int64], ids=str)
def test_tensors_of_two_types(function: Callable[..., Any], dtype: torch.dtype) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    x = X.to(dtype)
    for run in (function, compiled):
        with pytest.raises(RuntimeError) as found:
            run(x, SQUARE)
        assert found.type is RuntimeError
    torch.testing.assert_close(compiled(X, SQUARE), function(X, SQUARE))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: torch.nn.functional.layer_norm(x, (4,), w[0], w[1]),
        lambda x, w: torch.nn.functional.group_norm(x, 2, w[0], w[1]),
    ],
)
def test_norms_of_two_types(function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    for run in (function, compiled):
        with pytest.raises(RuntimeError, match="same d"):
            run(X.double(), SQUARE)
    for x in (X.bfloat16(), X.half()):
        torch.testing.assert_close(compiled(x, SQUARE), function(x, SQUARE))


def test_norms_of_two_narrow_and_wide_parameters() -> None:
    """Beside a narrow input both parameters are in f32, or both in its type."""
    norm = torch.nn.functional.layer_norm
    x, wide = X.half(), SQUARE[0]
    for weight, bias in ((wide, wide.half()), (wide.half(), wide)):
        torch._dynamo.reset()
        for run in (norm, torch.compile(norm, backend="albumen", fullgraph=True)):
            with pytest.raises(RuntimeError, match=r"same dtype|mixed dtype|expected scalar type"):
                run(x, (4,), weight, bias)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: torch.cdist(x, w),
        lambda x, w: torch.nn.functional.grid_sample(x[None, None], w[None, :, :2].unsqueeze(1), align_corners=True),
    ],
)
def test_what_eager_refuses_of_two_types_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError):
        function(X.double(), SQUARE)
    torch._dynamo.reset()
    with pytest.raises(BackendCompilerFailed, match="is taken for other arguments only"):
        torch.compile(function, backend="albumen", fullgraph=True)(X.double(), SQUARE)


class Product(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.mm(a, b)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_exported_programs() -> None:
    """Without a call to raise it, the error is one of the compile."""
    with pytest.raises(CompileError, match="eager raises RuntimeError here: expected m1 and m2"):
        albumen.compile(Product(), (torch.ones(2, 2), torch.ones(2, 2, dtype=torch.bfloat16)))


class Largest(torch.nn.Module):
    def forward(self, a: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return a.amax(0), a.argmax(0), a.max(0).values


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_extremes_of_a_size_that_may_be_0() -> None:
    rows = torch.export.Dim("rows", min=0, max=9)
    compiled = albumen.compile(Largest(), (torch.randn(4, 3),), dynamic_shapes=({0: rows},))
    for count in (1, 9):
        x = torch.randn(count, 3)
        assert all(map(torch.equal, compiled(x), Largest()(x)))
    with pytest.raises(ShapeError):
        compiled(torch.randn(0, 3))
