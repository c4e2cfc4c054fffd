"""Interpolation with scales against eager, also in exported programs, which keep other ops than torch.compile sees."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed

import albumen
from albumen.dialects.errors import UnsupportedError
from albumen.lowering.torch.interpolation import interpolate

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield


class Resized(nn.Module):
    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.settings = settings

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(x, **self.settings)


@pytest.mark.parametrize("sizes", [{"scale_factor": 1.1}, {"scale_factor": 2.0}, {"size": 5}], ids=str)
@pytest.mark.parametrize(
    ("mode", "rank"), [("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2), ("nearest", 2)]
)
def test_modes(mode: str, rank: int, sizes: dict[str, Any]) -> None:
    """A scale of 1.1 leaves 7 elements, whose places it would move."""
    x = torch.randn(2, 3, 7, 20, 11)[(slice(None), slice(None), *[slice(None)] * rank, *[0] * (3 - rank))]
    model = Resized(mode=mode, **sizes)
    torch.testing.assert_close(albumen.compile(model, (x,))(x), model(x))


@pytest.mark.parametrize(
    "shape", [(1, 3, 7, 5), (1, 5, 7, 5), (1, 3, 7, 90), (1, 3, 7, 3, 5), (1, 5, 7, 3, 5)], ids=str
)
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("scale", [1.1, 2.04, 1.0])
def test_nearest_elements(shape: tuple[int, ...], channels_last: bool, scale: float) -> None:
    """Which kernel eager has depends on the size and on where the channels lie. 2.04 doubles 7."""
    x = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
    if channels_last:
        x = x.contiguous(memory_format=torch.channels_last if len(shape) == 4 else torch.channels_last_3d)
    scales = (scale, *[1.5] * (len(shape) - 3))
    expected = F.interpolate(x, scale_factor=scales, mode="nearest")
    torch.testing.assert_close(interpolate(x, scale_factor=scales, mode="nearest"), expected, rtol=0, atol=0)


def test_a_batch_of_any_size() -> None:
    model = Resized(mode="bilinear", scale_factor=1.1)
    program = albumen.compile(model, (torch.randn(3, 2, 7, 20),), dynamic_shapes=({0: torch.export.Dim("n", max=8)},))
    for n in (1, 5):
        x = torch.randn(n, 2, 7, 20)
        torch.testing.assert_close(program(x), model(x))


@pytest.mark.parametrize(
    "settings", [{"mode": "bilinear", "antialias": True}, {"mode": "bilinear"}, {"mode": "bicubic"}], ids=str
)
def test_what_export_cannot_take_apart_is_refused(settings: dict[str, Any]) -> None:
    x = torch.rand(1, 3, 7, 9) if "antialias" in settings else torch.zeros(1, 3, 7, 9, dtype=torch.uint8)
    with pytest.raises(UnsupportedError, match="upsample_bi"):
        albumen.compile(Resized(size=(5, 5), **settings), (x,))


def test_bytes_of_any_size_are_refused() -> None:
    """Their weights are integers in a table; a size that is traced has none."""
    x = torch.randint(0, 256, (1, 3, 7, 9), dtype=torch.uint8)
    torch._dynamo.reset()
    model = Resized(mode="bilinear", scale_factor=2.0)
    with pytest.raises(BackendCompilerFailed, match="bytes of sizes that are not fixed"):
        torch.compile(model, backend="albumen", fullgraph=True, dynamic=True)(x)
    torch._dynamo.reset()
    fixed = torch.compile(model, backend="albumen", fullgraph=True, dynamic=False)
    assert torch.equal(fixed(x), model(x))
