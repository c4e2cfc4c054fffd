"""The inputs of a pair: up to four samples, each copied with its strides and with what its tensors share."""

from __future__ import annotations

# pyright: basic
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .pairs import entries

SEED = 1
"""Torch's generator is set to it before each call, of eager and of the compiled function."""


def copied(value: Any) -> Any:
    """A deep copy of every tensor in a nest: same strides and offset, and what shared memory shares it again."""
    storages: dict[int, torch.UntypedStorage] = {}

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout is not torch.strided:
            return tensor.detach().clone()
        source = tensor.untyped_storage()
        if source.data_ptr() not in storages:
            storages[source.data_ptr()] = source.clone()
        empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        storage = storages[source.data_ptr()]
        return empty.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())

    return pytree.tree_map_only(torch.Tensor, copy, value)


@dataclass
class Sample:
    """One call `function(*arguments)`: constants stand in `leaves`, tensors at `places` of it."""

    function: Callable[..., Any]
    leaves: list[Any]
    structure: Any
    places: list[int]
    text: str
    expected: Any = None
    expected_inputs: list[torch.Tensor] = field(default_factory=list)

    @staticmethod
    def of(function: Callable[..., Any], sample: Any) -> Sample:
        leaves, structure = pytree.tree_flatten((sample.input, tuple(sample.args), dict(sample.kwargs)))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        return Sample(function, leaves, structure, places, described(sample))

    def tensors(self) -> list[torch.Tensor]:
        """A fresh copy of the call's tensors."""
        return copied([self.leaves[i] for i in self.places])

    def call(self, tensors: Sequence[torch.Tensor]) -> Any:
        """The call with these tensors in their places; dynamo traces through it."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(leaves, self.structure)
        return self.function(first, *args, **kwargs)

    def in_double(self) -> Sample:
        """The same call with every floating tensor and element type in double precision."""
        return self._with([_doubled(leaf) for leaf in self.leaves])

    def in_double_moved(self, draw: int) -> Sample:
        """`in_double` with each floating element moved by at most one unit in the last place of its own type."""
        generator = torch.Generator().manual_seed(draw)
        return self._with([_moved(leaf, generator) for leaf in self.leaves])

    def _with(self, leaves: list[Any]) -> Sample:
        return Sample(self.function, leaves, self.structure, self.places, self.text)


def _doubled(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
        return leaf.detach().double()
    if isinstance(leaf, torch.dtype) and leaf.is_floating_point:
        return torch.float64
    return leaf


def _moved(leaf: Any, generator: torch.Generator) -> Any:
    doubled = _doubled(leaf)
    if not isinstance(leaf, torch.Tensor) or not leaf.is_floating_point():
        return doubled
    steps = torch.randint(-1, 2, leaf.shape, generator=generator).to(leaf.device)
    return doubled * (1 + steps * torch.finfo(leaf.dtype).eps)


def described(sample: Any) -> str:
    """The sample with tensors as their sizes, in a line of bounded length."""
    return str(sample.summary() if hasattr(sample, "summary") else sample)[:300]


def spread(samples: Sequence[Any], count: int) -> list[Any]:
    """`count` of the samples, evenly from first to last."""
    step = max(1, len(samples) // count)
    return list(samples[::step][:count])


def samples_of(name: str, dtype: torch.dtype, device: str, count: int) -> list[Sample]:
    """The samples of a pair on which eager succeeds, each with what eager gives and what it leaves in its inputs."""
    entry = entries()[name]
    torch.manual_seed(0)
    found: list[Sample] = []
    for raw in spread(list(entry.sample_inputs(device, dtype)), count):
        sample = Sample.of(entry.op, raw)
        tensors = sample.tensors()
        torch.manual_seed(SEED)
        try:
            sample.expected = sample.call(tensors)
        except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, AssertionError):
            continue  # the database lists calls that this build of torch cannot do
        sample.expected_inputs = tensors
        found.append(sample)
    return found
