"""Models on a CUDA device: values, streams, captured graphs, weights that move."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

import albumen

pytestmark = [pytest.mark.torch, pytest.mark.gpu, pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")]


class Block(nn.Module):
    """A small transformer block."""

    def __init__(self, size: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.norms = nn.ModuleList([nn.LayerNorm(size), nn.LayerNorm(size)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, size = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(batch, length, size))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 5e-2}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_block(dtype: torch.dtype, tmp_path: Path) -> None:
    model, x = Block().eval().to("cuda", dtype), torch.randn(3, 17, 64, device="cuda", dtype=dtype)
    limit = TOLERANCE[dtype]
    with torch.no_grad():
        expected = model(x)
        compiled = albumen.compile(model, (x,))
        torch.testing.assert_close(compiled(x), expected, atol=limit, rtol=limit)
        run = torch.compile(model, backend="albumen", dynamic=False)
        torch.testing.assert_close(run(x), expected, atol=limit, rtol=limit)
    compiled.save(tmp_path / "block.alb")
    torch.testing.assert_close(albumen.load(tmp_path / "block.alb")(x), expected, atol=limit, rtol=limit)


def test_dynamic_sizes() -> None:
    model = Block().eval().cuda()
    sizes = {"x": {0: Dim("batch", min=1, max=16), 1: Dim("length", min=2, max=128)}}
    with torch.no_grad():
        compiled = albumen.compile(model, (torch.randn(2, 8, 64, device="cuda"),), dynamic_shapes=sizes)
        for batch, length in ((1, 2), (5, 33), (16, 128), (5, 33)):
            x = torch.randn(batch, length, 64, device="cuda")
            torch.testing.assert_close(compiled(x), model(x), atol=2e-5, rtol=2e-5)


def test_streams_and_captured_graphs() -> None:
    model, x = Block().eval().cuda(), torch.randn(2, 8, 64, device="cuda")
    with torch.no_grad():
        compiled = albumen.compile(model, (x,))
        expected = model(x)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            found = compiled(x)
        torch.cuda.current_stream().wait_stream(side)
        torch.testing.assert_close(found, expected, atol=2e-5, rtol=2e-5)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = compiled(x)
        x.mul_(0.5)
        graph.replay()
        torch.testing.assert_close(captured, model(x), atol=2e-5, rtol=2e-5)
        y = compiled(compiled(x))
        torch.testing.assert_close(y, model(model(x)), atol=5e-5, rtol=5e-5)


def test_weights_that_move() -> None:
    model, x = Block().eval().cuda(), torch.randn(2, 8, 64, device="cuda")
    with torch.no_grad():
        compiled = albumen.compile(model, (x,))
        compiled(x)
        for parameter in model.parameters():
            parameter.data = torch.randn_like(parameter) * 0.1
        torch.testing.assert_close(compiled(x), model(x), atol=2e-5, rtol=2e-5)


def test_training() -> None:
    model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4)).cuda()
    x = torch.randn(8, 16, device="cuda")
    expected = torch.autograd.grad(model(x).square().sum(), list(model.parameters()))
    found = torch.autograd.grad(torch.compile(model, backend="albumen")(x).square().sum(), list(model.parameters()))
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


def test_matmul_precision() -> None:
    """At "highest" sums of f32 products as in f32; below it operands may have 10 bits after the point, as in eager."""
    model, x = nn.Linear(2048, 2048).eval().cuda(), torch.randn(2048, 2048, device="cuda")
    before = torch.get_float32_matmul_precision()
    with torch.no_grad():
        exact = model.double()(x.double())
        model.float()
        try:
            for precision, most in (("highest", 2e-5), ("high", 5e-3), ("highest", 2e-5)):
                torch.set_float32_matmul_precision(precision)
                for run in (torch.compile(model, backend="albumen", fullgraph=True), albumen.compile(model, (x,))):
                    error = (run(x).double() - exact).abs().max().item()
                    assert error <= most
        finally:
            torch.set_float32_matmul_precision(before)
