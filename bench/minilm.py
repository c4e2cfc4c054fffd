"""The encoder of all-MiniLM-L6-v2 (its sizes, random weights) on batches of token ids."""

# torch's own types are partly unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from transformers import BertConfig, BertModel

from .harness import Call, Case
from .peers import OURS, REPLAYING, candidates

SIZES = {"cpu": ((8, 14), (8, 128)), "cuda": ((32, 128),)}
TOLERANCE = 1e-4


class Encoder(torch.nn.Module):
    """Token ids and mask to the last hidden states."""

    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
        self.encoder = BertModel(config, add_pooling_layer=False)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def _bound(model: torch.nn.Module, *args: torch.Tensor) -> Call:
    @torch.no_grad()
    def call() -> torch.Tensor:
        return model(*args)

    return call


def cases(device: torch.device, peers: Sequence[str], options: Mapping[str, Any]) -> Iterator[Case]:
    """One case for each size and dtype."""
    dtypes = (torch.float32, torch.bfloat16) if device.type == "cuda" else (torch.float32,)
    for dtype in dtypes:
        torch.manual_seed(0)
        exact = Encoder().eval().to(device)
        model = copy.deepcopy(exact).to(dtype)
        for batch, length in SIZES[device.type]:
            ids = torch.randint(0, 30522, (batch, length), device=device)
            mask = (torch.arange(length) < torch.randint(length // 2, length + 1, (batch, 1))).long().to(device)
            name = str(dtype).removeprefix("torch.")
            calls, seconds = candidates(model, (ids, mask), ["eager", *peers, *OURS], options)
            yield Case(
                f"minilm {name} {batch}x{length}",
                calls,
                tolerance=TOLERANCE,
                replaying=REPLAYING,
                exact=None if dtype is torch.float32 else _bound(exact, ids, mask),
                compile_seconds=seconds,
                facts={"batch": batch, "length": length, "dtype": name, **options},
            )
