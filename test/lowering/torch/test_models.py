"""Whole models through torch.export, against eager, with static and dynamic sizes."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

from albumen.dialects.hlir.attention import SdpaOp
from albumen.dialects.hlir.linear import LinearOp
from albumen.dialects.hlir.normalization import LayerNormOp
from albumen.lowering.torch.function import ImportedGraph

Check = Callable[..., ImportedGraph]


def count(imported: ImportedGraph, op_class: type) -> int:
    return sum(isinstance(op, op_class) for op in imported.module.walk())


def bert(attention: str, layers: int = 2) -> nn.Module:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=64,
        vocab_size=100,
        max_position_embeddings=64,
        attn_implementation=attention,  # pyright: ignore[reportCallIssue]
    )
    return BertModel(config, add_pooling_layer=False)


def sentences(batch: int, length: int) -> dict[str, torch.Tensor]:
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[-1, length // 2 :] = 0
    return {"input_ids": torch.randint(0, 100, (batch, length)), "attention_mask": mask}


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_bert(check_model: Check, attention: str) -> None:
    imported = check_model(bert(attention), (), sentences(2, 14))
    assert count(imported, LinearOp) == 12
    assert count(imported, LayerNormOp) == 5
    assert count(imported, SdpaOp) == (2 if attention == "sdpa" else 0)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_bert_with_dynamic_batch_and_length(check_model: Check, attention: str) -> None:
    dynamic = {name: {0: Dim.DYNAMIC, 1: Dim.DYNAMIC} for name in ("input_ids", "attention_mask")}
    more = [((), sentences(3, 9)), ((), sentences(5, 64))]
    imported = check_model(bert(attention, 1), (), sentences(2, 14), dynamic_shapes=dynamic, also=more)
    text = str(imported.module)
    assert "sym.symbol @s0 min 2\n" in text
    assert "sym.symbol @s1 min 2 max 64\n" in text


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.branches = nn.ModuleList([nn.Conv2d(8, 4, 1), nn.Conv2d(8, 4, 3, padding=1, groups=2)])
        self.head = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.pool(F.relu(self.norm(self.stem(x))))
        y = torch.cat([branch(x) for branch in self.branches], 1)
        pooled = torch.cat([torch.flatten(F.adaptive_avg_pool2d(y, 1), 1), x.mean((2, 3))], 1)
        return self.head(pooled), y.amax(dim=(2, 3))


def test_convolutional_network(check_model: Check) -> None:
    model = Convolutional()
    model.norm.running_mean.uniform_(-1, 1)  # pyright: ignore[reportOptionalMemberAccess]
    check_model(model, (torch.randn(2, 3, 16, 12),))


def test_convolutional_network_in_channels_last(check_model: Check) -> None:
    x = torch.randn(2, 3, 16, 12).contiguous(memory_format=torch.channels_last)
    model = Convolutional().to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
    imported = check_model(model, (x,))
    (slot,) = (slot for slot in imported.inputs if slot.role == "input")
    assert slot.order == (0, 2, 3, 1)


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.3), nn.Linear(8, 3), nn.Softmax(-1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_perceptron(check_model: Check, dtype: torch.dtype) -> None:
    limit = {torch.float32: 5e-6, torch.float64: 1e-12, torch.bfloat16: 2e-2}[dtype]
    check_model(Perceptron().to(dtype), (torch.randn(4, 6, dtype=dtype),), tolerance=limit)


def test_perceptron_with_a_declared_range(check_model: Check) -> None:
    rows = {"x": {0: Dim("rows", min=1, max=512)}}
    more = [((torch.randn(1, 6),), {}), ((torch.randn(77, 6),), {})]
    imported = check_model(Perceptron(), (torch.randn(4, 6),), dynamic_shapes=rows, also=more)
    assert "sym.symbol @s0 min 1 max 512" in str(imported.module)


class RmsNorm(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.float32)
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


class LlamaBlock(nn.Module):
    """Grouped-query attention with rotary positions, and a gated feed-forward."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.norms = nn.ModuleList([RmsNorm(32), RmsNorm(32)])
        self.q, self.k, self.v = nn.Linear(32, 32, False), nn.Linear(32, 16, False), nn.Linear(32, 16, False)
        self.o, self.gate, self.up, self.down = (
            nn.Linear(a, b, False) for a, b in ((32, 32), (32, 48), (32, 48), (48, 32))
        )
        self.register_buffer("frequencies", 1.0 / 10000 ** (torch.arange(0, 8, 2) / 8))

    def rotated(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        half = x.shape[-1] // 2
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        batch, length = tokens.shape
        angles = torch.arange(length)[:, None] * self.frequencies[None]  # pyright: ignore[reportIndexIssue]
        angles = torch.cat((angles, angles), -1)
        h = self.norms[0](x)
        heads = [layer(h).view(batch, length, -1, 8).transpose(1, 2) for layer in (self.q, self.k, self.v)]
        q, k = (self.rotated(t, angles.cos(), angles.sin()) for t in heads[:2])
        k, v = (t[:, :, None].expand(batch, 2, 2, length, 8).reshape(batch, 4, length, 8) for t in (k, heads[2]))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).reshape(batch, length, 32))
        h = self.norms[1](x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def test_llama_block(check_model: Check) -> None:
    check_model(LlamaBlock(), (torch.randint(0, 50, (2, 7)),))


def test_llama_block_with_dynamic_sizes(check_model: Check) -> None:
    dynamic = {"tokens": {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}}
    check_model(
        LlamaBlock(),
        (torch.randint(0, 50, (2, 7)),),
        dynamic_shapes=dynamic,
        also=[((torch.randint(0, 50, (3, 11)),), {})],
    )


class Sizes(nn.Module):
    """Sizes that a program computes with: halves, products, remainders."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        rows = x.shape[0]
        pairs = x.view(-1, 4) * y.view(-1, 4)
        padded = F.pad(x, (0, rows % 3))
        return pairs + rows, x[: rows // 2], padded, x.new_full((rows // 4, 2), rows), torch.arange(rows, 0, -1), x[-3:]


def test_arithmetic_of_sizes(check_model: Check) -> None:
    dynamic = {"x": {0: Dim.DYNAMIC}, "y": {0: Dim.DYNAMIC}}
    more = [((torch.randn(12), torch.randn(12)), {}), ((torch.randn(20), torch.randn(20)), {})]
    imported = check_model(Sizes(), (torch.randn(8), torch.randn(8)), dynamic_shapes=dynamic, also=more)
    assert "!hlir.tensor<[s0*4], f32>" in str(imported.module)  # the guard x.shape[0] % 4 == 0, solved
