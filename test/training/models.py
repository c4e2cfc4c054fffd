"""Small models that learn, and their data."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

VOCABULARY, CONTEXT, WIDTH = 17, 8, 16


class Block(nn.Module):
    """Causal attention and a GELU perceptron, each behind a norm, with dropout."""

    def __init__(self, dropout: float):
        super().__init__()
        self.attention_norm, self.norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.dropout, self.attention_dropout = nn.Dropout(dropout), dropout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, length, width = x.shape
        q, k, v = self.qkv(self.attention_norm(x)).view(rows, length, 3, 2, width // 2).permute(2, 0, 3, 1, 4).unbind(0)
        dropout = self.attention_dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout)
        x = x + self.dropout(self.out(heads.transpose(1, 2).reshape(rows, length, width)))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm(x)))))


class Transformer(nn.Module):
    """Embedding, blocks and a head that shares the embedding's weight; returns the loss."""

    def __init__(self, dropout: float = 0.0, layers: int = 1, checkpointed: bool = False):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.randn(CONTEXT, WIDTH) * 0.02)
        self.blocks = nn.ModuleList(Block(dropout) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.embedding.weight
        self.dropout, self.checkpointed = nn.Dropout(dropout), checkpointed

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


class Convolutions(nn.Module):
    """Two convolutions with batch norms, a pool and a linear layer; returns the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.second, self.second_norm = nn.Conv2d(8, 8, 3, stride=2), nn.BatchNorm2d(8)
        self.head = nn.Linear(8 * 9, 5)

    def forward(self, images: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.first_norm(self.first(images))), 2)
        x = F.relu(self.second_norm(self.second(x)))
        return F.cross_entropy(self.head(x.flatten(1)), targets)


def sequences(step: int, rows: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens that count in threes, and the tokens after them."""
    generator = torch.Generator().manual_seed(step)
    tokens = (torch.randint(0, VOCABULARY, (rows, 1), generator=generator) + torch.arange(CONTEXT + 1) * 3) % VOCABULARY
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def images(step: int, rows: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Noise with labels."""
    generator = torch.Generator().manual_seed(step)
    return torch.randn(rows, 3, 14, 14, generator=generator), torch.randint(0, 5, (rows,), generator=generator)


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=3e-3),
    "adamw": lambda p: torch.optim.AdamW(p, lr=3e-3),
}
