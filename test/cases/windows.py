"""Convolution, pooling, padding and interpolation."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .case import case
from .values import normal


@case(lambda: (torch.arange(1.0, 6.0).reshape(1, 1, 5),), report="pytorch#100987")
def average_pool_with_a_partial_last_window(x: Tensor):
    """What the divisor of the last window counts."""
    padded = F.avg_pool1d(x, 3, 2, 1, ceil_mode=True)
    bare = F.avg_pool1d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)
    return F.avg_pool1d(x, 2, 2, ceil_mode=True), padded, bare


@case(lambda: (-torch.arange(1.0, 5.0).reshape(1, 1, 4),))
def maximum_pool_of_negative_numbers(x: Tensor):
    """The padding never wins."""
    return F.max_pool1d(x, 3, 2, 1)


@case(lambda: (torch.arange(1.0, 6.0).reshape(1, 1, 5),), report="pytorch#179931")
def adaptive_pool_of_uneven_windows(x: Tensor):
    """Windows that overlap, and a sum over them."""
    pooled = F.adaptive_avg_pool1d(x, 3)
    return pooled, pooled.flatten(1).sum(1)


@case(lambda: (torch.arange(12.0).reshape(1, 2, 6), torch.ones(2, 1, 2)))
def convolution_with_everything(x: Tensor, weight: Tensor):
    """Groups, dilation, padding and stride at once."""
    return F.conv1d(x, weight, groups=2, dilation=2, padding=1, stride=2)


@case(lambda: (torch.arange(5.0),), report="pytorch#194558")
def negative_padding(x: Tensor):
    """Negative padding cuts off."""
    return F.pad(x, (-1, -2))


@case(lambda: (torch.arange(1.0, 5.0).reshape(1, 1, 4),))
def padding_modes(x: Tensor):
    """Reflected, repeated, from the other end."""
    return tuple(F.pad(x, (2, 1), mode=mode) for mode in ("reflect", "replicate", "circular"))


@case(lambda: (torch.arange(4.0).reshape(1, 1, 4),))
def nearest_neighbours(x: Tensor):
    """A scale that is not a quotient of sizes, and both ways to round."""
    scaled = F.interpolate(x, scale_factor=1.3, mode="nearest")
    return scaled, F.interpolate(x, size=6, mode="nearest"), F.interpolate(x, size=6, mode="nearest-exact")


@case(lambda: (torch.ones(1, 1, 1), torch.ones(1, 1, 2)), report="pytorch#144013")
def transposed_convolution_of_no_output(x: Tensor, weight: Tensor):
    """An output of size 0 raises."""
    return torch.sigmoid(F.conv_transpose1d(x, weight, padding=1))


@case(lambda: (normal(2, 4, 4, 4, seed=0), normal(4, 4, 3, 3, seed=1)), report="pytorch#184027")
def convolution_with_a_plain_tensor(x: Tensor, weight: Tensor):
    """A weight that is an input."""
    return F.conv2d(x, weight, padding=1)
