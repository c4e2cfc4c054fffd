"""Every ATen overload that can be imported."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..call import Handler
from . import (
    activations,
    attention,
    bessel,
    chebyshev,
    comparison,
    convolution,
    convolution_gradients,
    copying,
    creation,
    dropout,
    fma,
    gamma_functions,
    grouped,
    indexing,
    integers,
    inverses,
    joining,
    masked,
    mathematics,
    matmul,
    memory,
    normalization,
    number_parts,
    ordering,
    pointwise,
    polynomials,
    pooling,
    probability,
    products,
    random,
    reducing_scatters,
    reductions,
    scans,
    scattering,
    softmax,
    views,
)

MODULES = (
    pointwise,  # first: what it takes from the catalogue may be replaced
    activations,
    attention,
    bessel,
    chebyshev,
    comparison,
    convolution,
    convolution_gradients,
    copying,
    creation,
    dropout,
    fma,
    gamma_functions,
    grouped,
    indexing,
    integers,
    inverses,
    joining,
    masked,
    mathematics,
    matmul,
    memory,
    normalization,
    number_parts,
    ordering,
    polynomials,
    pooling,
    probability,
    products,
    random,
    reducing_scatters,
    reductions,
    scans,
    scattering,
    softmax,
    views,
)

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {name: handler for module in MODULES for name, handler in module.HANDLERS.items()}
)
