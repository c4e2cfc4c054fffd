"""The dtype that eager computes in."""

from __future__ import annotations

import torch
from torch import Tensor


def computed(x: Tensor) -> Tensor:
    """x in the dtype that a CPU computes it in: f32 for narrower floats, its own for all else."""
    return x.to(torch.float32) if x.dtype in (torch.bfloat16, torch.float16) else x
