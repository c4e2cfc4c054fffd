"""Every ATen overload that can be imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..call import Handler
from . import (
    activations,
    attention,
    comparison,
    convolution,
    copying,
    creation,
    indexing,
    joining,
    mathematics,
    matmul,
    normalization,
    ordering,
    pointwise,
    reductions,
    scattering,
    softmax,
    views,
)


def _merged(tables: Sequence[Mapping[str, Handler]]) -> Mapping[str, Handler]:
    """One table; a later one wins, so that what the catalogue gives can be replaced."""
    merged: dict[str, Handler] = {}
    for table in tables:
        merged.update(table)
    return MappingProxyType(merged)


HANDLERS = _merged(
    [
        module.HANDLERS
        for module in (
            pointwise,
            *(
                activations,
                attention,
                comparison,
                convolution,
                copying,
                creation,
                indexing,
                joining,
                mathematics,
                matmul,
            ),
            *(normalization, ordering, reductions, scattering, softmax, views),
        )
    ]
)
