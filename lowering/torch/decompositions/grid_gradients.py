"""Gradients of sampling at places that a grid names: of the tensor, and of the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from .grid_sampling import BICUBIC, BORDER, NEAREST, ZEROS, Sampler, cubic_weights
from .precision import computed

aten = torch.ops.aten

Read = tuple[list[Tensor], list[Tensor], list[Tensor]]
"""One neighbour of each place: its whole place, its weight in each spatial dim, and the derivatives of these."""


def _linear_reads(places: Sequence[Tensor]) -> Iterator[Read]:
    below = [place.floor() for place in places]
    for upper in product((0, 1), repeat=len(places)):
        weights = [p - b if up else b + 1 - p for p, b, up in zip(places, below, upper, strict=True)]
        slopes = [torch.full_like(p, 1.0 if up else -1.0) for p, up in zip(places, upper, strict=True)]
        yield [b + up for b, up in zip(below, upper, strict=True)], weights, slopes


def _cubic_slopes(t: Tensor) -> list[Tensor]:
    """The derivatives of `cubic_weights`."""
    a = -0.75

    def near(d: Tensor) -> Tensor:
        return (3 * (a + 2) * d - 2 * (a + 3)) * d

    def far(d: Tensor) -> Tensor:
        return (3 * a * d - 10 * a) * d + 8 * a

    return [far(t + 1), near(t), -near(1 - t), -far(2 - t)]


def _cubic_reads(sampler: Sampler, places: Sequence[Tensor]) -> Iterator[Read]:
    below = [place.floor() for place in places]
    rests = [place - low for place, low in zip(places, below, strict=True)]
    weights, slopes = [cubic_weights(t) for t in rests], [_cubic_slopes(t) for t in rests]
    for taps in product(range(4), repeat=len(places)):
        here = sampler.inside([low + (tap - 1) for low, tap in zip(below, taps, strict=True)])
        yield (
            here,
            [w[tap] for w, tap in zip(weights, taps, strict=True)],
            [s[tap] for s, tap in zip(slopes, taps, strict=True)],
        )


def _padding_slopes(sampler: Sampler, places: Sequence[Tensor]) -> list[Tensor]:
    """How much a place moves inside where it moves in the grid: 1, -1 after an odd number of reflections, 0 at an
    edge."""
    found: list[Tensor] = []
    for place, size in zip(places, sampler.sizes, strict=True):
        slope = torch.ones_like(place)
        moved = place
        if sampler.padding not in (ZEROS, BORDER):
            low, span = (0.0, size - 1) if sampler.align_corners else (-0.5, size)
            if span == 0:
                found.append(torch.zeros_like(place))
                continue
            distance = place - low
            odd = torch.fmod(torch.floor(distance.abs() / span), 2) != 0
            slope = torch.where((distance < 0) ^ odd, -1.0, 1.0).to(place.dtype)
            rest = torch.fmod(distance.abs(), span)
            moved = torch.where(odd, span - rest + low, rest + low)
        if sampler.padding != ZEROS:
            slope = torch.where((moved > 0) & (moved < size - 1), slope, 0.0)
        found.append(slope)
    return found


def _others(weights: Sequence[Tensor], leave: int | None) -> Tensor:
    total = torch.ones_like(weights[0])
    for number, weight in enumerate(weights):
        total = total if number == leave else total * weight
    return total


def grid_sampler_backward(
    grad: Tensor,
    x: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor]:
    """(gradient of x, gradient of the grid), in the computation dtype."""
    sampler, wide = Sampler(computed(x), padding_mode, align_corners), computed(grad)
    raw = sampler.places(computed(grid))
    inside = raw if interpolation_mode == BICUBIC else sampler.inside(raw)
    slopes = [torch.ones_like(p) for p in raw] if interpolation_mode == BICUBIC else _padding_slopes(sampler, raw)
    if interpolation_mode == NEAREST:
        ones, zeros = [torch.ones_like(p) for p in raw], [torch.zeros_like(p) for p in raw]
        reads: Iterator[Read] = iter([([place.round() for place in inside], ones, zeros)])
    elif interpolation_mode == BICUBIC:
        reads = _cubic_reads(sampler, inside)
    else:
        reads = _linear_reads(inside)
    n, c = x.shape[:2]
    total = torch.zeros_like(sampler.x.reshape(n, c, -1))
    moves = [torch.zeros_like(place) for place in raw]
    for here, weights, derivatives in reads:
        within, position = sampler.positions(here)
        part = torch.where(within.unsqueeze(1), wide * _others(weights, None).unsqueeze(1), 0)
        flat = position.reshape(n, 1, -1).expand(n, c, -1)
        total = total.scatter_add(2, flat, part.reshape(n, c, -1))
        seen = (wide * sampler.read(here)).sum(1)
        moves = [m + seen * d * _others(weights, i) for i, (m, d) in enumerate(zip(moves, derivatives, strict=True))]
    factors = [(size - 1) / 2 if align_corners else size / 2 for size in sampler.sizes]
    parts = [m * s * f for m, s, f in zip(moves, slopes, factors, strict=True)]
    grid_grad = torch.stack(parts[::-1], -1).to(grid.dtype)
    return (total.reshape(x.shape).to(x.dtype) if output_mask[0] else None), grid_grad


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten.grid_sampler_2d_backward.default: grid_sampler_backward,
        aten.grid_sampler_3d_backward.default: grid_sampler_backward,
    }
)
