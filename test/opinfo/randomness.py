"""When a random value is as good as eager's: the same form, the same again under a seed, the same distribution."""

from __future__ import annotations

# pyright: basic
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from .comparison import Difference, compare_form
from .seeding import same_bits

DRAWS = 64
ENOUGH = 16384
"""Values to pool of each output, but no more than `DRAWS` calls."""
DISTANCE = 2.6
"""Largest Kolmogorov-Smirnov distance times sqrt(n m / (n + m)); more has a probability of 3e-6 of being chance."""


def compare_random(ours: Callable[[int], Any], eager: Callable[[int], Any]) -> None:
    """Raise `Difference` unless the two, called with a seed, draw from the same distribution."""
    first, expected = ours(1), eager(1)
    found, leaves = pytree.tree_leaves(first), pytree.tree_leaves(expected)
    if len(found) != len(leaves):
        raise Difference(f"{len(found)} outputs, not {len(leaves)}")
    for i, (a, b) in enumerate(zip(found, leaves, strict=True)):
        if isinstance(b, torch.Tensor):
            compare_form(a, b, f"output {i}")
    if not same_bits(first, ours(1)):
        raise Difference("the same seed gives other values")
    if same_bits(first, ours(2)) and not same_bits(expected, eager(2)):
        raise Difference("another seed gives the same values")
    smallest = min((leaf.numel() for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.numel()), default=ENOUGH)
    seeds = range(3, 3 + max(1, min(DRAWS, -(-ENOUGH // smallest))))
    pooled, wanted = _pooled(ours, seeds), _pooled(eager, seeds)
    for i, (a, b) in enumerate(zip(pooled, wanted, strict=True)):
        distance = _distance(a, b)
        if distance > DISTANCE:
            raise Difference(f"output {i}: another distribution, mean {a.mean():.4g} and not {b.mean():.4g}")


def _pooled(draw: Callable[[int], Any], seeds: range) -> list[np.ndarray]:
    """The values of each output over all seeds, NaN as the largest."""
    rows = [[_values(leaf) for leaf in pytree.tree_leaves(draw(seed))] for seed in seeds]
    return [np.concatenate(column) for column in zip(*rows, strict=True)]


def _values(leaf: Any) -> np.ndarray:
    if isinstance(leaf, torch.Tensor):
        values = leaf.detach().reshape(-1).double().cpu().numpy()
    else:
        values = np.array([float(leaf)])
    return np.where(np.isnan(values), np.finfo(np.float64).max, values)


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    if not a.size or not b.size:
        return 0.0
    a, b = np.sort(a), np.sort(b)
    at = np.concatenate([a, b])
    gap = np.searchsorted(a, at, "right") / a.size - np.searchsorted(b, at, "right") / b.size
    return float(np.abs(gap).max() * np.sqrt(a.size * b.size / (a.size + b.size)))
