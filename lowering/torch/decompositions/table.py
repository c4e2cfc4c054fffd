"""Every decomposition of Albumen's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from . import embedding_bags, foreach, grid_sampling, products, strided_memory

MODULES = (embedding_bags, foreach, grid_sampling, products, strided_memory)

DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {overload: function for module in MODULES for overload, function in module.DECOMPOSITIONS.items()}
)
