"""Every decomposition of Albumen's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from . import (
    attention_gradients,
    distances,
    elimination,
    embedding_bags,
    foreach,
    fractional_pooling,
    gradients,
    grid_gradients,
    grid_sampling,
    losses,
    order_statistics,
    pooling,
    reflections,
    resampling,
    searching,
    statistics,
    strided_memory,
    transformers,
    triangular,
)

MODULES = (
    attention_gradients,
    distances,
    elimination,
    embedding_bags,
    foreach,
    fractional_pooling,
    gradients,
    grid_gradients,
    grid_sampling,
    losses,
    order_statistics,
    pooling,
    reflections,
    resampling,
    searching,
    statistics,
    strided_memory,
    transformers,
    triangular,
)

DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {overload: function for module in MODULES for overload, function in module.DECOMPOSITIONS.items()}
)


def refusal(overload: Any) -> str:
    """Why an overload is refused that no handler takes."""
    if overload not in DECOMPOSITIONS:
        return "has no counterpart"
    factorizations = (elimination, reflections, triangular)
    if any(overload in module.DECOMPOSITIONS for module in factorizations):
        return triangular.LIMIT
    return "is taken for other arguments only"
