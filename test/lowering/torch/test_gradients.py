"""Gradients that Albumen takes apart itself: against the op that eager runs, or autograd through the forward op."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from albumen.lowering.torch.decompositions.attention_gradients import gradients
from albumen.lowering.torch.decompositions.gradients import DECOMPOSITIONS
from albumen.lowering.torch.decompositions.table import DECOMPOSITIONS as TABLE

pytestmark = pytest.mark.torch
aten = torch.ops.aten

CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (aten.replication_pad1d_backward, (torch.randn(2, 3, 9), torch.randn(2, 3, 4), [3, 2])),
    (aten.replication_pad1d_backward, (torch.randn(3, 3), torch.randn(3, 4), [1, -2])),
    (aten.replication_pad2d_backward, (torch.randn(2, 3, 8, 5), torch.randn(2, 3, 4, 5), [1, -1, 2, 2])),
    (aten.replication_pad3d_backward, (torch.randn(1, 2, 4, 6, 5), torch.randn(1, 2, 3, 4, 5), [0, 0, 1, 1, 0, 1])),
    (
        aten.replication_pad2d_backward,
        (torch.randn(1, 1, 8, 9).bfloat16(), torch.randn(1, 1, 4, 5).bfloat16(), [2] * 4),
    ),
    (aten.masked_scatter_backward, (torch.randn(3, 4), torch.rand(3, 4) > 0.5, [2, 8])),
    (aten.masked_scatter_backward, (torch.randn(3, 4), torch.zeros(3, 4, dtype=torch.bool), [12])),
    (aten.masked_scatter_backward, (torch.randn(3, 4), torch.ones(3, 4, dtype=torch.bool), [12])),
    *(
        (
            aten.convolution_backward,
            (
                grad,
                torch.randn(2, 4, 5, 6),
                torch.randn(4, 3, 3, 2),
                [3 * groups],
                *(stride, [1, 0], dilation, True, extra, groups),
                [True, True, True],
            ),
        )
        for stride, dilation, extra, groups in (
            ([2, 3], [1, 1], [1, 2], 1),
            ([1, 1], [2, 1], [0, 0], 2),
            ([2, 2], [1, 2], [0, 1], 4),
        )
        for grad in [
            torch.randn_like(
                aten.convolution(
                    *(torch.randn(2, 4, 5, 6), torch.randn(4, 3, 3, 2), None),
                    *(stride, [1, 0], dilation, True, extra, groups),
                )
            )
        ]
    ),
    (aten.native_dropout_backward, (torch.randn(4, 5), torch.rand(4, 5) > 0.5, 1.5)),
    (aten.native_dropout_backward, (torch.randint(-9, 9, (4, 5)), torch.rand(4, 5) > 0.5, 0.0)),
]


@pytest.mark.parametrize(("op", "args"), CASES, ids=lambda value: str(value)[:40] if callable(value) else "")
def test_gradients_are_those_of_the_op(op: Any, args: tuple[Any, ...]) -> None:
    found, expected = DECOMPOSITIONS[op.default](*args), op.default(*args)
    torch.testing.assert_close(found, expected)
    if isinstance(expected, torch.Tensor):
        assert torch.equal(found.signbit() & (found == 0), expected.signbit() & (expected == 0)) or op is not (
            aten.native_dropout_backward
        )


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize(("mode", "spatial"), [(0, 2), (1, 2), (2, 2), (0, 3), (1, 3)])
def test_grid_sampling(mode: int, spatial: int, padding: int, corners: bool) -> None:
    x = torch.randn(2, 3, *(4, 5, 3)[:spatial])
    grid = torch.rand(2, *(6, 7, 2)[:spatial], spatial) * 3 - 1.5
    grad = torch.randn(2, 3, *grid.shape[1:-1])
    op = getattr(aten, f"grid_sampler_{spatial}d_backward").default
    args = (grad, x, grid, mode, padding, corners, [True, True])
    torch.testing.assert_close(TABLE[op](*args), op(*args), rtol=1e-4, atol=1e-4)


def test_what_eager_has_no_rule_for_is_left_whole() -> None:
    grad, x, weight = torch.randn(1, 1, 3), torch.randn(1, 1, 5), torch.randn(1, 1, 3)
    rest = ([1], [0], [1], False, [0], 1, [True] * 3)
    assert DECOMPOSITIONS[aten.convolution_backward.default](grad, x, weight, [1], *rest) is NotImplemented


@pytest.mark.parametrize("heads", [4, 2])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_attention(heads: int, causal: bool, biased: bool) -> None:
    q = torch.randn(2, 4, 5, 8, requires_grad=True)
    k, v = (torch.randn(2, heads, 7, 8, requires_grad=True) for _ in range(2))
    if biased and causal:
        pytest.skip("eager takes one of the two")
    bias = torch.randn(2, 1, 5, 7, requires_grad=True) if biased else None
    grad = torch.randn(2, 4, 5, 8)
    y = F.scaled_dot_product_attention(q, k, v, bias, is_causal=causal, scale=0.3, enable_gqa=heads != 4)
    expected = torch.autograd.grad(y, [t for t in (q, k, v, bias) if t is not None], grad)
    *found, scores = gradients(grad, q, k, v, bias, causal, 0.3)
    if bias is not None:
        found.append(scores.sum_to_size(bias.shape))
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


FORWARD: dict[str, Callable[..., torch.Tensor]] = {
    "replicate": lambda x: F.pad(x, (2, 1, 0, 3), mode="replicate"),
    "bicubic": lambda x: F.interpolate(x, scale_factor=1.7, mode="bicubic"),
    "transposed": lambda x: F.conv_transpose2d(x, x[:, :, :2, :3].sum(0)[:, None].sin(), stride=2, output_padding=1),
    "masked_scatter": lambda x: torch.zeros_like(x).masked_scatter(x > 0, x * 2),
    "grid": lambda x: F.grid_sample(x, x[:, :2].permute(0, 2, 3, 1), align_corners=False),
    "bags": lambda x: F.embedding_bag(torch.arange(10) % 6, x[0, 0], torch.tensor([0, 3, 3, 8]), mode="mean"),
    "dropout": lambda x: F.dropout(x, 0.3),
    "sgn": lambda x: torch.sgn(x) * x,
}


@pytest.mark.parametrize("name", FORWARD)
def test_compiled_gradients(name: str) -> None:
    torch._dynamo.reset()
    x = torch.randn(2, 3, 6, 5, requires_grad=True)
    grads = []
    for function in (FORWARD[name], torch.compile(FORWARD[name], backend="albumen", fullgraph=True)):
        torch.manual_seed(4)
        y = function(x)
        grads.append(torch.autograd.grad(y, x, torch.linspace(-1, 1, y.numel()).view(y.shape))[0])
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-4, atol=1e-5)
