"""torch tensors as the runtime sees them."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import pytest
import torch

from albumen.lowering.torch import adapter as adapters
from albumen.lowering.torch.adapter import TorchAdapter
from albumen.runtime.errors import LaunchError

pytestmark = pytest.mark.torch


def emulated(tensors: list[torch.Tensor], addresses: list[int | None], positions: list[int]) -> bool:
    """What torch._C._tensors_data_ptrs_at_indices_equal of a CUDA build does."""
    return all(tensors[i].data_ptr() == addresses[i] for i in positions)


@pytest.mark.parametrize("positions", [[0], [2], [0, 1, 2], [0, 2]], ids=str)
@pytest.mark.parametrize("fast", [False, True])
def test_moved_memory_is_noticed(monkeypatch: pytest.MonkeyPatch, positions: list[int], fast: bool) -> None:
    monkeypatch.setattr(adapters, "_POINTERS_EQUAL", emulated if fast else None)
    tensors = [torch.randn(3) for _ in range(3)]
    unchanged = TorchAdapter().remember(tensors, positions)
    assert unchanged(tensors)
    assert unchanged([t.view(3) for t in tensors])
    other = [t.clone() if i == positions[-1] else t for i, t in enumerate(tensors)]
    assert not unchanged(other)
    address = tensors[positions[-1]].data_ptr()
    tensors[positions[-1]].data = torch.randn(3)
    assert not unchanged(tensors)
    fresh = [torch.randn(3) for _ in range(50)]
    assert address not in [t.data_ptr() for t in fresh]  # the predicate still holds the old memory


def test_facts_and_fresh_tensors() -> None:
    adapter = TorchAdapter()
    x = torch.randn(2, 3).to(torch.bfloat16).t()
    assert (adapter.shape(x), adapter.strides(x), adapter.dtype(x), adapter.device(x)) == (
        (3, 2),
        (1, 3),
        "bf16",
        "cpu",
    )
    assert adapter.dtype(torch.zeros(1, dtype=torch.complex64)) is None
    assert adapter.signature(x) == adapter.signature(x.clone()) != adapter.signature(x.contiguous())
    assert adapter.pointers([x]) == [adapter.pointer(x)]
    make = adapter.allocator((2, 3, 4), (12, 1, 3), "f64", "cpu")
    y = make()
    assert (y.shape, y.stride(), y.dtype) == ((2, 3, 4), (12, 1, 3), torch.float64)
    assert make().data_ptr() != y.data_ptr()
    view = adapter.viewer((2,), (3,), 1)(x)
    assert view.data_ptr() == x.data_ptr() + 2
    assert adapter.stream_source("cpu")() == 0
    with pytest.raises(LaunchError, match="meta"):
        adapter.stream_source("meta")
