"""torch.nn.functional.interpolate where torch's decompositions differ from eager: bytes, and extents that stay.

They run before any table of decompositions is asked, so the call is replaced in the graph that dynamo gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

from .decompositions.resampling import forward
from .decompositions.taps import cubic, linear

eager = torch.nn.functional.interpolate

LINEAR = ("linear", "bilinear", "trilinear")


def _scales(scale_factor: float | Sequence[float] | None, spatial: int) -> list[float] | None:
    if scale_factor is None:
        return None
    return [float(s) for s in scale_factor] if isinstance(scale_factor, Sequence) else [float(scale_factor)] * spatial


def _sizes(x: Tensor, size: int | Sequence[int] | None, scales: Sequence[float] | None) -> list[int]:
    if size is not None:
        return list(size) if isinstance(size, Sequence) else [size] * (x.dim() - 2)
    return [floor(float(n) * s) for n, s in zip(x.shape[2:], scales or (), strict=True)]


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """What eager computes.

    Bytes are averaged with integer weights. An extent that a scale leaves as it is is copied: torch's decomposition
    of the linear modes moves its places.
    """
    scales = _scales(scale_factor, input.dim() - 2)
    arguments: dict[str, Any] = {"size": size, "scale_factor": scale_factor, "mode": mode, "antialias": antialias}
    arguments |= {"align_corners": align_corners, "recompute_scale_factor": recompute_scale_factor}
    static = all(type(n) is int for n in input.shape[2:])
    if antialias or mode not in (*LINEAR, "bicubic") or not static or (size is None) == (scales is None):
        return eager(input, **arguments)
    output = _sizes(input, size, scales)
    stays = mode in LINEAR and scales is not None and any(n == m for n, m in zip(input.shape[2:], output, strict=True))
    if input.dtype == torch.uint8 or (stays and not recompute_scale_factor):
        given = scales if scales is not None and not recompute_scale_factor else [None] * len(output)
        return forward(input, output, linear if mode in LINEAR else cubic, bool(align_corners), given)
    return eager(input, **arguments)


def substitute(graph_module: GraphModule) -> None:
    """Has the graph call `interpolate` above."""
    for node in graph_module.graph.nodes:
        if node.op == "call_function" and node.target is eager:
            node.target = interpolate
    graph_module.recompile()
