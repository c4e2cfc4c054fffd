"""What a compiled model refuses at call time: sizes outside of ranges, multiples and conditions that the trace relied
on."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import albumen
from albumen.runtime.errors import ShapeError

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::FutureWarning")]

DYNAMIC = ({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC})


def rows(*counts: int) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(count, 4) for count in counts)


class Pairs(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1, 2, 4).sum(1) + y


def test_an_equation_between_two_inputs(tmp_path: Path) -> None:
    size = Dim("size", min=2, max=32)
    compiled = albumen.compile(Pairs(), rows(6, 3), dynamic_shapes=({0: 2 * size}, {0: size}))
    compiled.save(tmp_path / "pairs.alb")
    loaded = albumen.load(tmp_path / "pairs.alb")
    for count in (2, 7, 32):
        x, y = rows(2 * count, count)
        torch.testing.assert_close(compiled(x, y), Pairs()(x, y))
        np.testing.assert_allclose(loaded(x.numpy(), y.numpy()), Pairs()(x, y).numpy(), rtol=1e-6, atol=1e-6)
    refused = [
        ((10, 4), r"input 'x': shape \[10, 4\], expected .*= \[8, 4\] where s0 = 4 \(dim 0 of input 'y'\)"),
        ((66, 33), r"dim 0 of \[33, 4\] is 33, expected s0 with s0 in 2\.\.32"),
        ((2, 1), r"input 'y': dim 0 of \[1, 4\] is 1, expected s0 with s0 in 2\.\.32"),
    ]
    for counts, message in refused:
        x, y = rows(*counts)
        with pytest.raises(ShapeError, match=message):
            compiled(x, y)
        with pytest.raises(ShapeError, match=message):
            loaded(x.numpy(), y.numpy())


class Quarters(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(4, -1, 4).sum(0)


def test_a_wrong_multiple() -> None:
    compiled = albumen.compile(Quarters(), rows(24), dynamic_shapes=({0: 4 * Dim("quarter", min=2, max=16)},))
    for count in (8, 40, 64):
        (x,) = rows(count)
        torch.testing.assert_close(compiled(x), Quarters()(x))
    with pytest.raises(
        ShapeError, match=r"dim 0 of \[26, 4\] is 26, expected .* in 2\.\.16: a multiple of 4"
    ) as caught:
        compiled(*rows(26))
    assert "pad or cut" in caught.value.hint
    with pytest.raises(ShapeError, match=r"dim 0 of \[68, 4\] is 68, expected .* in 2\.\.16"):
        compiled(*rows(68))


class Conditions(nn.Module):
    """Sums of rows under a condition on their numbers."""

    def __init__(self, condition: Any):
        super().__init__()
        self.condition = condition

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        torch._check(self.condition(x.shape[0], y.shape[0]))
        return x.sum(0) + y.sum(0)


@pytest.mark.parametrize(
    ("condition", "right", "wrong", "message"),
    [
        (lambda s, t: s * t >= 12, [(6, 8), (6, 2)], (2, 5), r"s0\*s1 must be at least 12, found s0 = 2 .* and s1 = 5"),
        (
            lambda s, t: s * 2 == t * 3,
            [(6, 4), (9, 6)],
            (8, 6),
            r"s0\*2 must equal s1\*3, found s0 = 8 \(dim 0 of",
        ),
        (
            lambda s, t: s > t,
            [(6, 4), (5, 4)],
            (4, 4),
            r"s0 must be at least s1 \+ 1, found .* s1 = 4 \(dim 0",
        ),
        (lambda s, t: s != t, [(6, 4), (3, 5)], (8, 8), r"s0 must not be s1, found s0 = 8 \(dim 0 of"),
        (lambda s, t: (s + t) % 5 == 0, [(6, 4), (9, 6)], (8, 6), r"s0 \+ s1 must be a multiple of 5, found s0 = 8"),
    ],
)
def test_a_condition_between_sizes(
    tmp_path: Path, condition: Any, right: list[tuple[int, int]], wrong: tuple[int, int], message: str
) -> None:
    model = Conditions(condition)
    compiled = albumen.compile(model, rows(*right[0]), dynamic_shapes=DYNAMIC)
    compiled.save(tmp_path / "model.alb")
    loaded = albumen.load(tmp_path / "model.alb")
    for counts in right:
        x, y = rows(*counts)
        torch.testing.assert_close(compiled(x, y), model(x, y))
        assert loaded(x.numpy(), y.numpy()).shape == (4,)
    x, y = rows(*wrong)
    with pytest.raises(ShapeError, match=message) as caught:
        compiled(x, y)
    assert "dynamic shapes" in caught.value.hint
    with pytest.raises(ShapeError, match=message):
        loaded(x.numpy(), y.numpy())
    x, y = rows(*right[1])
    torch.testing.assert_close(compiled(x, y), model(x, y))


class Steps(nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        torch._check(n % 4 == 0)
        return x * n


def test_a_number_of_the_wrong_multiple(tmp_path: Path) -> None:
    x = torch.randn(3)
    compiled = albumen.compile(Steps(), (x, 8), dynamic_shapes=({}, Dim.DYNAMIC))
    compiled.save(tmp_path / "steps.alb")
    loaded = albumen.load(tmp_path / "steps.alb")
    for run in (compiled, loaded):
        torch.testing.assert_close(run(x, 12), x * 12)
        with pytest.raises(ShapeError, match=r"input 'n' is 13, expected s0 in .*multiple of 4"):
            run(x, 13)


class Rows(nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        torch._check(x.shape[0] == 2 * n + 1)
        return x * n


def test_a_number_that_a_tensor_shows_too(tmp_path: Path) -> None:
    (x,) = rows(7)
    compiled = albumen.compile(Rows(), (x, 3), dynamic_shapes=({0: Dim.DYNAMIC}, Dim.DYNAMIC))
    compiled.save(tmp_path / "rows.alb")
    loaded = albumen.load(tmp_path / "rows.alb")
    for run in (compiled, loaded):
        torch.testing.assert_close(run(x, 3), x * 3)
        with pytest.raises(ShapeError, match=r"input 'x': shape \[7, 4\], expected .* = \[9, 4\] .* \(input 'n'\)"):
            run(x, 4)
