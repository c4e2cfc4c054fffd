"""Every decomposition of Albumen's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from . import distances, embedding_bags, fractional_pooling, grid_sampling, pooling, products

MODULES = (distances, embedding_bags, fractional_pooling, grid_sampling, pooling, products)

DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {overload: function for module in MODULES for overload, function in module.DECOMPOSITIONS.items()}
)
