"""Every decomposition of Albumen's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from . import distances, embedding_bags, fractional_pooling, grid_sampling, pooling, products, resampling, transformers
    attention_gradients,
    distances,
    embedding_bags,
    foreach,
    fractional_pooling,
    gradients,
    grid_sampling,
    order_statistics,
    pooling,
    searching,
    statistics,
    strided_memory,
)

MODULES = (
    distances,
    embedding_bags,
    fractional_pooling,
    grid_sampling,
    pooling,
    products,
    resampling,
    transformers,
)
    attention_gradients,
    distances,
    embedding_bags,
    foreach,
    gradients,
    fractional_pooling,
    grid_sampling,
    order_statistics,
    pooling,
    searching,
    statistics,
    strided_memory,
)

DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {overload: function for module in MODULES for overload, function in module.DECOMPOSITIONS.items()}
)
