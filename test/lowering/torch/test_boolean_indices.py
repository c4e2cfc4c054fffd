"""Truth values as indices: a compiler may take the vector of them for offsets, in which true is -1."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

pytestmark = pytest.mark.torch

X = torch.tensor([5.0, 7.0, 1.0, 0.0, 2.0, 3.0, 4.0, 6.0])
FLAGS = torch.tensor([True, True, True, False, True, True, True, True])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, flags: x.gather(0, flags.long()),
        lambda x, flags: x[flags.long()],
        lambda x, flags: x[flags.int() * 2 - 1],
        lambda x, flags: x.index_select(0, flags.long()),
        lambda x, flags: x.take((x > 2.5).long()),
        lambda x, flags: x[torch.where(flags, 1, 0)],
        lambda x, flags: torch.zeros(2).index_add(0, flags.long(), x),
        lambda x, flags: flags.gather(0, flags.long().remainder(8)),
        lambda x, flags: torch.nn.functional.embedding(flags.long(), x.reshape(4, 2)),
    ],
)
def test_indices(function: Callable[..., torch.Tensor]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="albumen", fullgraph=True)
    torch.testing.assert_close(compiled(X, FLAGS), function(X, FLAGS), rtol=0, atol=0)
