"""Every ATen overload that can be imported."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..call import Handler
from . import (
    activations,
    attention,
    comparison,
    convolution,
    convolution_gradients,
    copying,
    creation,
    dropout,
    indexing,
    inverses,
    joining,
    mathematics,
    matmul,
    normalization,
    ordering,
    pointwise,
    pooling,
    products,
    random,
    reductions,
    scattering,
    softmax,
    views,
)

MODULES = (
    pointwise,  # first: what it takes from the catalogue may be replaced
    activations,
    attention,
    comparison,
    convolution,
    convolution_gradients,
    copying,
    creation,
    dropout,
    indexing,
    inverses,
    joining,
    mathematics,
    matmul,
    normalization,
    ordering,
    pooling,
    products,
    random,
    reductions,
    scattering,
    softmax,
    views,
)

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {name: handler for module in MODULES for name, handler in module.HANDLERS.items()}
)
