"""When compiled results are as good as eager's: not further from the exact ones than eager's own rounding allows.

The same model with the same weights runs in float64. Its results are the exact ones; how far eager's lie from them is
what rounding in the model's dtype costs, whatever the depth and the weights. Compiled code adds up in another order, so
its error is another draw of the same size: it may be up to twice eager's, in the root mean square of a tensor, and
in its largest element. A few units in the last place of the tensor's scale are added, without which a result
that eager happens to get exactly could not be rounded at all. Where the model does not run in float64 (some name
float32 in their code), the exact results are those of a float32 run, and for float32 eager's own within a fixed bound.
"""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Sequence

import torch

FACTOR = 2.0
"""How many times eager's error ours may be."""

UNITS = 4.0
"""Units in the last place of the scale (root mean square, largest value) that are always allowed."""

FLOAT32_BOUND = 64.0
"""The same without a float64 run, for float32 against eager float32."""


class Mismatch(Exception):
    """Results that are wrong; the message says how."""


def worst_ratio(
    found: Sequence[torch.Tensor], eager: Sequence[torch.Tensor], exact: Sequence[torch.Tensor] | None
) -> float:
    """The largest error over its bound; above 1 is wrong.

    Raises:
        Mismatch: number, dtype, shape or strides of the results differ, integers differ, or NaN and infinities lie at
            other places than eager's.
    """
    if len(found) != len(eager):
        raise Mismatch(f"{len(found)} tensors, eager gives {len(eager)}")
    worst = 0.0
    for index, (ours, theirs) in enumerate(zip(found, eager, strict=True)):
        try:
            worst = max(worst, ratio(ours, theirs, None if exact is None else exact[index]))
        except Mismatch as error:
            raise Mismatch(f"tensor {index}: {error}") from None
    return worst


def ratio(found: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor | None) -> float:
    """The error of one tensor over its bound."""
    for name, a, b in (
        ("dtype", found.dtype, eager.dtype),
        ("shape", tuple(found.shape), tuple(eager.shape)),
        ("strides", strides(found), strides(eager)),
    ):
        if a != b:
            raise Mismatch(f"{name} {a}, eager has {b}")
    if not eager.is_floating_point():
        if not torch.equal(found, eager):
            raise Mismatch(f"{int((found != eager).sum())} of {eager.numel()} elements differ")
        return 0.0
    finite = torch.isfinite(eager)
    if not torch.equal(finite, torch.isfinite(found)) or not torch.equal(special(found), special(eager)):
        raise Mismatch("NaN or infinities at other places than eager's")
    reference = (eager if exact is None else exact).double()
    finite = finite & torch.isfinite(reference)
    if not finite.any():
        return 0.0
    reference = reference[finite]
    unit = torch.finfo(eager.dtype).eps
    ours, theirs = (found[finite].double() - reference).abs(), (eager[finite].double() - reference).abs()
    units = UNITS if exact is not None else FLOAT32_BOUND
    mean = rms(ours) / max(FACTOR * rms(theirs) + units * unit * rms(reference), 1e-300)
    top = ours.max() / max(FACTOR * theirs.max() + units * unit * reference.abs().max(), 1e-300)
    return float(max(mean, top))


def strides(x: torch.Tensor) -> tuple[int, ...]:
    """The strides that mean something: of dimensions with several elements."""
    return tuple(s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1) if x.numel() > 1 else ()


def special(x: torch.Tensor) -> torch.Tensor:
    """NaN as 2, infinities by their sign, 0 for all else."""
    return torch.where(x.isnan(), 2.0, torch.where(x.isinf(), x.sign().float(), 0.0))


def rms(x: torch.Tensor) -> float:
    """Root mean square."""
    return float(x.square().mean().sqrt())
