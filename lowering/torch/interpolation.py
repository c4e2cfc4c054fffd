"""torch.nn.functional.interpolate where torch's decompositions differ from eager: bytes, and extents that a scale
leaves as they are, or doubles.

Under torch.compile they run before any table of decompositions is asked, so the call is replaced in the graph that
dynamo gives. torch.export keeps the ops that the call consists of, and asks the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decompositions as torchs_own
from torch.fx import GraphModule

from ...dialects.errors import UnsupportedError
from .decompositions import resampling
from .decompositions.resampling import Kind, forward
from .decompositions.taps import cubic, linear

aten = torch.ops.aten
decompositions: Any = torchs_own
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


def resized(x: Tensor, output: Sequence[int], kind: Kind, align: bool, scales: Sequence[float] | None) -> Tensor | None:
    """What eager computes where torch's decomposition does not, else None.

    Bytes are averaged with integer weights. An extent that a scale leaves as it is is copied: torch's decomposition
    of the linear modes moves its places.
    """
    stays = kind is linear and scales is not None and any(n == m for n, m in zip(x.shape[2:], output, strict=True))
    if x.dtype == torch.uint8 or stays:
        return forward(x, output, kind, align, scales if scales is not None else [None] * len(output))
    return None


def nearest(x: Tensor, output: Sequence[int], scales: Sequence[float | None]) -> Tensor:
    """The element at floor(i / scale).

    Of eager's kernels on a CPU those for images that are small, or have more than three channels side by side in
    memory, do without the scale where an extent stays or doubles.
    """
    rank = len(output)
    beside = x.is_contiguous(memory_format=torch.channels_last if rank == 2 else torch.channels_last_3d)
    special = (beside and x.size(1) > 3) or (rank == 2 and sum(output) <= 128)
    if x.device.type == "cpu" and special:
        scales = [None if m in (n, 2 * n) else s for n, m, s in zip(x.shape[2:], output, scales, strict=True)]
    return decompositions._upsample_nearest(x, output, scales)


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """What eager computes; see `resized`.

    Raises:
        UnsupportedError: bytes of sizes that are not fixed, whose integer weights no table can hold.
    """
    scales = _scales(scale_factor, input.dim() - 2)
    arguments: dict[str, Any] = {"size": size, "scale_factor": scale_factor, "mode": mode, "antialias": antialias}
    arguments |= {"align_corners": align_corners, "recompute_scale_factor": recompute_scale_factor}
    sizes = size if isinstance(size, Sequence) else [size]
    static = all(type(n) is int for n in (*input.shape[2:], *sizes) if n is not None)
    if static and mode == "nearest" and scales is not None and len(scales) > 1 and not recompute_scale_factor:
        return nearest(input, _sizes(input, size, scales), scales)
    if input.dtype == torch.uint8 and mode in (*LINEAR, "bicubic") and not static:
        reason = f"interpolates bytes of sizes that are not fixed (mode {mode!r})"
        hint = "convert to float before, or compile with dynamic=False"
        raise UnsupportedError("torch.nn.functional.interpolate", [reason], hint=hint, stage="import")
    if antialias or mode not in (*LINEAR, "bicubic") or not static or (size is None) == (scales is None):
        return eager(input, **arguments)
    kind, given = linear if mode in LINEAR else cubic, None if recompute_scale_factor else scales
    found = resized(input, _sizes(input, size, scales), kind, bool(align_corners), given)
    return eager(input, **arguments) if found is None else found


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The function that `interpolate` took the place of."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """`upsample` with the corners' centres kept."""
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


REPLACED: Mapping[Any, Callable[..., Tensor]] = MappingProxyType(
    {
        eager: interpolate,
        torch.nn.functional.upsample: upsample,
        torch.nn.functional.upsample_nearest: upsample,
        torch.nn.functional.upsample_bilinear: upsample_bilinear,
    }
)


def substitute(graph_module: GraphModule) -> None:
    """Has the graph call the functions above."""
    for node in graph_module.graph.nodes:
        if node.op == "call_function" and node.target in REPLACED:
            node.target = REPLACED[node.target]
    graph_module.recompile()


def _of_export(kind: Kind, whole: Any) -> Callable[..., Tensor]:
    """The op of a linear or cubic mode; sizes or factors are given.

    An extent that stays is taken apart without its factor, which would move its places. Of bytes the op is left whole
    and refused: torch.export loses the tables that `resized` makes.
    """

    def resize(
        input: Tensor, output_size: Sequence[int] | None, align_corners: bool, scale_factors: Sequence[float] | None
    ) -> Tensor:
        sizes: Sequence[int] = decompositions.upsample_compute_output_size(input.size(), output_size, scale_factors)
        given = list(scale_factors) if scale_factors is not None else [None] * len(sizes)
        if input.dtype == torch.uint8:
            return whole(input, sizes, align_corners, *given)
        if kind is cubic:
            return decompositions.upsample_bicubic2d_default(input, sizes, align_corners, *given)
        pairs = zip(input.shape[2:], sizes, given, strict=True)
        factors = [None if type(n) is int and n == m else factor for n, m, factor in pairs]
        return decompositions._upsample_linear(input, sizes, align_corners, factors)

    return resize


def _nearest_of_export(
    input: Tensor, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
) -> Tensor:
    if scale_factors is not None and all(type(n) is int for n in input.shape[2:]):
        return nearest(input, _sizes(input, output_size, scale_factors), scale_factors)
    return decompositions._upsample_nearest_vec(input, output_size, scale_factors)


FOR_EXPORT: Mapping[Any, Callable[..., Tensor]] = MappingProxyType(
    {
        aten.upsample_linear1d.vec: _of_export(linear, aten.upsample_linear1d.default),
        aten.upsample_bilinear2d.vec: _of_export(linear, aten.upsample_bilinear2d.default),
        aten.upsample_trilinear3d.vec: _of_export(linear, aten.upsample_trilinear3d.default),
        aten.upsample_bicubic2d.vec: _of_export(cubic, aten.upsample_bicubic2d.default),
        aten.upsample_nearest2d.vec: _nearest_of_export,
        aten.upsample_nearest3d.vec: _nearest_of_export,
    }
)
"""The ops of an exported program."""

WHOLE_IN_EXPORT = (*resampling.DECOMPOSITIONS, aten.upsample_linear1d.default)
"""What torch.export cannot take apart as eager computes it: of bytes, antialiased, and gradients."""
