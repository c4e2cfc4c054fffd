"""Values of a tensor at places that a grid names, in two and three spatial dimensions.

A grid's last dim holds x, y(, z) from -1 to 1: the corners' centres with align_corners, else their outer edges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from .precision import computed

aten = torch.ops.aten

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER = 0, 1


class Sampler:
    """x[n, c, ...] and how places outside it are read."""

    def __init__(self, x: Tensor, padding: int, align_corners: bool):
        self.x = x
        self.sizes = list(x.shape[2:])
        self.padding = padding
        self.align_corners = align_corners

    def places(self, grid: Tensor) -> list[Tensor]:
        """Where the grid points in each spatial dim, in elements."""
        coordinates = [grid[..., i] for i in reversed(range(len(self.sizes)))]
        if self.align_corners:
            return [(c + 1) * ((size - 1) / 2) for c, size in zip(coordinates, self.sizes, strict=True)]
        return [(c + 1) * (size / 2) - 0.5 for c, size in zip(coordinates, self.sizes, strict=True)]

    def inside(self, places: Sequence[Tensor]) -> list[Tensor]:
        """Places brought into the tensor, as the padding mode says; zero padding leaves them.

        NaN becomes 0. In three dimensions eager has it become the last place, and for zero padding one outside.
        """
        solid = len(self.sizes) == 3
        if self.padding == ZEROS:
            return [torch.where(place.isfinite(), place, -100.0) for place in places] if solid else list(places)
        found: list[Tensor] = []
        for place, size in zip(places, self.sizes, strict=True):
            reflected = place if self.padding == BORDER else self._reflected(place, size)
            missing = float(size - 1) if solid else 0.0
            found.append(torch.where(reflected.isnan(), missing, reflected).clamp(0, size - 1))
        return found

    def _reflected(self, place: Tensor, size: int) -> Tensor:
        """The place after reflections at both ends: the outer centres with align_corners, else the outer edges."""
        low, span = (0.0, size - 1) if self.align_corners else (-0.5, size)
        if span == 0:
            return torch.zeros_like(place)
        distance = (place - low).abs()
        rest, turns = torch.fmod(distance, span), torch.floor(distance / span)
        return torch.where(torch.fmod(turns, 2) == 0, rest + low, span - rest + low)

    def read(self, places: Sequence[Tensor]) -> Tensor:
        """[n, c, ...] at whole places; 0 outside."""
        n, c = self.x.shape[:2]
        within, position = self.positions(places)
        flat = position.reshape(n, 1, -1).expand(n, c, -1)
        values = self.x.reshape(n, c, -1).gather(2, flat).reshape(n, c, *places[0].shape[1:])
        return torch.where(within.unsqueeze(1), values, 0)

    def positions(self, places: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Which whole places lie inside, and their position in the flattened spatial dims; 0 for the others."""
        within = torch.ones_like(places[0], dtype=torch.bool)
        for place, size in zip(places, self.sizes, strict=True):
            within = within & (place >= 0) & (place < size)
        position = torch.zeros_like(places[0], dtype=torch.int64)
        for place, size in zip(places, self.sizes, strict=True):
            position = position * size + torch.where(within, place, 0.0).to(torch.int64)
        return within, position


def corners(places: Sequence[Tensor]) -> list[tuple[list[Tensor], Tensor]]:
    """The whole places around each place, and the weight of each in linear interpolation."""
    below = [place.floor() for place in places]
    found: list[tuple[list[Tensor], Tensor]] = []
    for upper in product((False, True), repeat=len(places)):
        corner: list[Tensor] = []
        weight = torch.ones_like(places[0])
        for place, low, up in zip(places, below, upper, strict=True):
            corner.append(low + 1 if up else low)
            weight = weight * (place - low if up else low + 1 - place)
        found.append((corner, weight))
    return found


def cubic_weights(t: Tensor) -> list[Tensor]:
    """Weights of the four neighbours of a place t after the second: Keys' kernel with a = -0.75."""
    a = -0.75

    def near(d: Tensor) -> Tensor:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Tensor) -> Tensor:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _bicubic(sampler: Sampler, places: Sequence[Tensor]) -> Tensor:
    below = [place.floor() for place in places]
    across, along = (cubic_weights(place - low) for place, low in zip(places, below, strict=True))
    total: Tensor | None = None
    for i, weight in enumerate(across):
        row: Tensor | None = None
        for j, factor in enumerate(along):
            value = sampler.read(sampler.inside([below[0] + (i - 1), below[1] + (j - 1)])) * factor.unsqueeze(1)
            row = value if row is None else row + value
        assert row is not None
        total = row * weight.unsqueeze(1) if total is None else total + row * weight.unsqueeze(1)
    assert total is not None
    return total


def grid_sampler(x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """aten.grid_sampler_2d and grid_sampler_3d, in the computation dtype."""
    if x.dtype != grid.dtype or not x.is_floating_point():
        return NotImplemented  # eager raises
    sampler = Sampler(computed(x), padding_mode, align_corners)
    places = sampler.places(computed(grid))
    if interpolation_mode == BICUBIC:
        return _bicubic(sampler, places).to(x.dtype)
    places = sampler.inside(places)
    if interpolation_mode == NEAREST:
        return sampler.read([place.round() for place in places]).to(x.dtype)
    total: Tensor | None = None
    for corner, weight in corners(places):
        value = sampler.read(corner) * weight.unsqueeze(1)
        total = value if total is None else total + value
    assert total is not None
    return total.to(x.dtype)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.grid_sampler_2d.default: grid_sampler,
        aten.grid_sampler_3d.default: grid_sampler,
    }
)
