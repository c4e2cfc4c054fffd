"""The entries of the database whose value is random or undefined, and torch's own seeding of them."""

from __future__ import annotations

# pyright: basic
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch.utils import _pytree as pytree

from .samples import Sample

UNDEFINED = (
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
)
"""Memory that nothing wrote: only shape, element type and strides mean anything."""


def _unseeded(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs)


@contextmanager
def without_seeds():
    """Within it, entries call their operator directly.

    Many entries wrap a random operator into a function that saves torch's generator, seeds it and puts it back, so that
    torch's tests see equal values. Dynamo cannot trace that, and here the seed is set outside of the call.
    """
    with patch("torch.testing._internal.common_methods_invocations.wrapper_set_seed", _unseeded):
        yield


SEEDS = range(2, 8)


def is_random(sample: Sample) -> bool:
    """Whether eager draws random numbers in the call, and gives something else under one of several seeds."""
    for seed in SEEDS:
        torch.manual_seed(seed)
        before = _generator_states()
        tensors = sample.tensors()
        again = sample.call(tensors)
        if same_bits(before, _generator_states()):
            return False
        if not same_bits((again, tensors), (sample.expected, sample.expected_inputs)):
            return True
    return False


def _generator_states() -> list[torch.Tensor]:
    states = [torch.get_rng_state()]
    return [*states, torch.cuda.get_rng_state()] if torch.cuda.is_initialized() else states


def same_bits(a: Any, b: Any) -> bool:
    """Equal nests, NaN equal to NaN."""
    flat_a, flat_b = pytree.tree_leaves(a), pytree.tree_leaves(b)
    return len(flat_a) == len(flat_b) and all(_same(x, y) for x, y in zip(flat_a, flat_b, strict=True))


def _same(x: Any, y: Any) -> bool:
    if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor):
        return bool(x == y)
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    return bool(torch.equal(x.nan_to_num(), y.nan_to_num()) and torch.equal(x.isnan(), y.isnan()))
