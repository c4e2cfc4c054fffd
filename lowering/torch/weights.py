"""Values of parameters, buffers and constants inside an artifact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch

from ...runtime.artifact import Artifact, Input, Weight, digest_of
from .element_types import element_type


def with_weights(artifact: Artifact, values: Mapping[str, torch.Tensor]) -> Artifact:
    """The artifact with the values in it, and their digests at the inputs."""
    weights = dict(artifact.weights or {})
    inputs: list[Input] = []
    for item in artifact.program.inputs:
        value = values.get(item.name)
        if value is not None:
            weights[item.name] = _weight(value)
            item = replace(item, digest=digest_of(weights[item.name].data))
        inputs.append(item)
    return replace(artifact, program=replace(artifact.program, inputs=tuple(inputs)), weights=weights)


def _weight(value: torch.Tensor) -> Weight:
    """The bytes of a tensor, dense and row-major, on the host."""
    host = value.detach().cpu().contiguous()
    data = host.reshape(-1).view(torch.uint8).numpy().data
    return Weight(element_type(host.dtype).name, tuple(host.shape), data)
