"""Indices: negative, twice, out of range."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, tensor

from .case import case


@case(lambda: (torch.arange(6.0).reshape(3, 2), tensor([-1])), report="pytorch#183608")
def embedding_of_a_negative_index(weight: Tensor, index: Tensor):
    """An embedding does not count from the end: it raises."""
    return F.embedding(index, weight)


@case(lambda: (torch.arange(6.0).reshape(3, 2), tensor([-1, 0])))
def rows_from_the_end(weight: Tensor, index: Tensor):
    """Indexing does count from the end."""
    return weight[index]


@case(lambda: (torch.zeros(3),), report="pytorch#138908")
def values_put_twice_in_one_place(x: Tensor):
    """Accumulated, none is lost."""
    return x.index_put((tensor([0, 0, 2]),), tensor([1.0, 2.0, 3.0]), accumulate=True)


@case(lambda: (torch.zeros(3, 3), tensor([[2]]), torch.ones(3, 3)))
def scatter_with_fewer_indices_than_values(x: Tensor, index: Tensor, values: Tensor):
    """Only as many values are written as there are indices."""
    return x.scatter(0, index, values)


@case(lambda: (torch.ones(8, 4), torch.zeros(8, dtype=torch.int64)), report="pytorch#191571")
def rows_summed_into_one_and_read_back(x: Tensor, index: Tensor):
    """A dimension of one element still is indexed."""
    total = torch.zeros(1, 4)
    total.scatter_add_(0, index.unsqueeze(-1).expand(-1, 4), x)
    return torch.index_select(total, 0, index)


@case(lambda: (torch.zeros(4, 3), tensor([0, -1]), torch.ones(2, 3)), report="pytorch#185885")
def rows_added_at_a_negative_index(x: Tensor, index: Tensor, rows: Tensor):
    """index_add does not count from the end: it raises."""
    return torch.index_add(x, 0, index, rows)


@case(lambda: (torch.arange(4.0).reshape(2, 2),), report="pytorch#183769")
def selection_out_of_range(x: Tensor):
    """It raises."""
    return torch.select(x.unsqueeze(1), 1, 1)


@case(lambda: (torch.zeros(1, 4),), report="pytorch#183986")
def rows_added_into_an_expanded_tensor(x: Tensor):
    """The result has memory of its own for each row."""
    return torch.index_add(x.expand(3, 4), 0, tensor([0, 0, 1]), torch.ones(3, 4))


@case(lambda: (tensor([2.0, 1.0, 2.0, 1.0]),), report="pytorch#174459")
def stable_sort(x: Tensor):
    """Equal elements keep their order."""
    return torch.sort(x, stable=True)
