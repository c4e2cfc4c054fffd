"""Entries whose indices among equal elements no documentation promises.

For these (a stable sort excepted) an index may differ from eager's where the input holds the same value at both, and
the indices of a sort or of topk are still all different.
"""

from __future__ import annotations

# pyright: basic
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .samples import Sample


@dataclass(frozen=True)
class Indices:
    """Where an entry takes its dimension (after the input) and gives its indices."""

    dimension: int
    output: int
    distinct: bool


TIES = {
    "sort": Indices(0, 1, distinct=True),
    "argsort": Indices(0, 0, distinct=True),
    "topk": Indices(1, 1, distinct=True),
    "kthvalue": Indices(1, 1, distinct=False),
    "mode": Indices(0, 1, distinct=False),
    "median": Indices(0, 1, distinct=False),
    "nanmedian": Indices(0, 1, distinct=False),
}


def settle_ties(name: str, sample: Sample, outputs: Any) -> Any:
    """The outputs with eager's indices in the place of indices that are as good."""
    rule = TIES.get(name)
    found, structure = pytree.tree_flatten(outputs)
    expected = pytree.tree_leaves(sample.expected)
    if rule is None or rule.output >= len(found) or len(found) != len(expected):
        return outputs
    given, args, kwargs = pytree.tree_unflatten(sample.leaves, sample.structure)
    ours, eager = found[rule.output], expected[rule.output]
    if kwargs.get("stable") or not isinstance(ours, torch.Tensor) or ours.shape != eager.shape or given.dim() == 0:
        return outputs
    dimension = kwargs.get("dim", args[rule.dimension] if len(args) > rule.dimension else -1)
    if ours.dtype is torch.int64 and as_good(given, ours, eager, dimension, rule.distinct):
        found[rule.output] = torch.empty_strided(ours.shape, ours.stride(), dtype=ours.dtype, device=ours.device)
        found[rule.output].copy_(eager)
    return pytree.tree_unflatten(found, structure)


def as_good(given: torch.Tensor, ours: torch.Tensor, eager: torch.Tensor, dimension: int, distinct: bool) -> bool:
    """Whether the indices name elements equal to those that eager's name."""
    if ours.dim() < given.dim():
        ours, eager = ours.unsqueeze(dimension), eager.unsqueeze(dimension)
    size = given.shape[dimension]
    if ours.numel() == 0 or bool(((ours < 0) | (ours >= size)).any()):
        return False
    a, b = given.gather(dimension, ours), given.gather(dimension, eager)
    same = (a == b) | (a.isnan() & b.isnan()) if given.is_floating_point() else a == b
    if distinct:
        ordered = ours.sort(dimension).values
        same = same.all() & (ordered.diff(dim=dimension) > 0).all()
    return bool(same.all())
