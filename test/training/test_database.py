"""Gradients of some of PyTorch's operator database; `python -m training.gradients` runs all of them."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import pytest
import torch
from opinfo.pairs import entries
from training.gradients import difference, judge

pytestmark = pytest.mark.torch

OPS = ("prod", "logsumexp", "index_put", "nn.functional.max_pool2d", "nn.functional.batch_norm")


@pytest.mark.parametrize("name", OPS)
def test_gradients_of_an_op(name: str) -> None:
    assert judge(entries()[name], torch.float32, 2) == ("passed", "")


def test_what_counts_as_equal() -> None:
    one, near, far = (torch.tensor([x]) for x in (1.0, 1.1, 1.2))
    assert not difference([one, None], [one, torch.zeros(3)], list)
    assert not difference([near], [far], lambda: [one.double()])
    assert "value 0" in difference([far], [near], lambda: [one.double()])
    assert "value 0" in difference([near], [one], lambda: [one.double()])
