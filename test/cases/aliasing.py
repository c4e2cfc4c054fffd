"""Writes into inputs, views and overlapping memory."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, tensor

from .case import case


@case(lambda: (torch.zeros(3), torch.ones(3)), report="pytorch#198131")
def copy_then_change_the_source(target: Tensor, source: Tensor):
    """The copy holds what the source held before."""
    target[:] = source
    source.add_(1)
    return target + 0, source + 0


@case(lambda: (torch.arange(4.0),), report="pytorch#174371")
def sum_into_overlapping_rows(x: Tensor):
    """Each element of an overlapping view is written as eager writes it."""
    copy = x.clone()
    copy.as_strided((2, 2), (2, 1)).add_(10)
    return copy


@case(lambda: (torch.ones(2),), report="pytorch#97117")
def padding_by_nothing(x: Tensor):
    """Padding by nothing is a copy: a write into it leaves the input alone."""
    y = F.pad(x, (0, 0))
    y = y.add_(1)
    return x + 0, y


@case(lambda: (torch.zeros(2, 3),), report="pytorch#111133")
def rows_added_into_a_transposed_copy(x: Tensor):
    """Rows that occur twice are added twice, in a view whose memory is transposed."""
    y = x.clone().permute(1, 0)
    y.index_add_(0, tensor([0, 0, 2]), torch.ones(3, 2))
    return y.contiguous()


@case(lambda: (torch.arange(1.0, 9.0).reshape(4, 2),), report="pytorch#198270")
def rows_put_then_flipped_into_the_input(x: Tensor):
    """The flipped rows are read before any is written."""
    x.index_put_((torch.arange(4),), x * 2.0)
    x.add_(x.flip(0))
    return x


@case(lambda: (tensor([[-1.0, 2.0, -3.0, 4.0, -5.0]]),), report="pytorch#165409")
def absolute_value_in_overlapping_windows(x: Tensor):
    """The windows of a computed value share elements."""
    return (x + x).unfold(1, 3, 2).abs_()
