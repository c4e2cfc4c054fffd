"""Inputs that several files of cases draw."""

from __future__ import annotations

import torch
from torch import Tensor


def normal(*shape: int, seed: int) -> Tensor:
    """Normal numbers that depend on the seed alone."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
