"""Encoders of text: BERT and its descendants."""

# pyright: basic

from __future__ import annotations

from typing import Any

import torch

from .architecture import Architecture, ids, padding_mask

SIZES: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "embedding_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
}


def sentences() -> dict[str, Any]:
    return {"input_ids": ids(2, 12), "attention_mask": padding_mask(2, 12)}


def pairs() -> dict[str, Any]:
    """Two sentences a row, told apart by token types."""
    types = (torch.arange(12) >= 5).to(torch.int64).expand(2, 12).contiguous()
    return {**sentences(), "token_type_ids": types}


def pages() -> dict[str, Any]:
    """Words with the boxes in which they stand on a page."""
    corners = torch.randint(0, 500, (2, 12, 2))
    return {**pairs(), "bbox": torch.cat([corners, corners + torch.randint(1, 400, (2, 12, 2))], -1)}


def quadrilaterals() -> dict[str, Any]:
    return {**sentences(), "bbox": torch.rand(2, 12, 8)}


def unmasked() -> dict[str, Any]:
    return {"input_ids": ids(2, 12)}


def encoder(name: str, prefix: str, head: str = "Model", inputs: Any = sentences, **sizes: Any) -> Architecture:
    return Architecture(name, "text encoder", f"{prefix}Config", f"{prefix}{head}", {**SIZES, **sizes}, inputs)


DISTILBERT: dict[str, Any] = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}
XLM: dict[str, Any] = {"emb_dim": 32, "n_layers": 2, "n_heads": 4}
FUNNEL: dict[str, Any] = {
    "vocab_size": 64,
    "d_model": 32,
    "n_head": 4,
    "d_head": 8,
    "d_inner": 48,
    "block_sizes": [1, 1],
}

ARCHITECTURES = (
    encoder("bert", "Bert", "ForMaskedLM", pairs),
    encoder("roberta", "Roberta", "ForSequenceClassification"),
    encoder("xlm-roberta", "XLMRoberta", "ForTokenClassification"),
    encoder("xlm-roberta-xl", "XLMRobertaXL"),
    encoder("roberta-prelayernorm", "RobertaPreLayerNorm"),
    encoder("camembert", "Camembert", "ForMaskedLM"),
    encoder("distilbert", "DistilBert", "ForQuestionAnswering", **DISTILBERT),
    encoder("albert", "Albert", "ForMaskedLM", pairs, embedding_size=16),
    encoder("electra", "Electra", "ForPreTraining", pairs, embedding_size=16),
    encoder("deberta", "Deberta", relative_attention=True, pos_att_type=["c2p", "p2c"]),
    encoder("deberta-v2", "DebertaV2", relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8),
    encoder("mpnet", "MPNet", "ForMaskedLM"),
    encoder("modernbert", "ModernBert", "ForMaskedLM", local_attention=8, global_attn_every_n_layers=2),
    encoder("mobilebert", "MobileBert", "ForMaskedLM", intra_bottleneck_size=32, embedding_size=16),
    encoder("squeezebert", "SqueezeBert"),
    encoder("convbert", "ConvBert", head_ratio=2, conv_kernel_size=3),
    encoder("rembert", "RemBert", input_embedding_size=16, output_embedding_size=16),
    encoder("roformer", "RoFormer", "ForMaskedLM"),
    encoder("esm", "Esm", "ForMaskedLM", position_embedding_type="rotary", token_dropout=False, mask_token_id=3),
    encoder("ernie", "Ernie", "ForMaskedLM", pairs),
    encoder("megatron-bert", "MegatronBert", "ForMaskedLM", pairs),
    encoder("nystromformer", "Nystromformer", inputs=unmasked, num_landmarks=4, segment_means_seq_len=12),
    encoder("fnet", "FNet", inputs=unmasked),
    encoder("xlm", "XLM", **XLM),
    encoder("flaubert", "Flaubert", **XLM),
    Architecture("funnel", "text encoder", "FunnelConfig", "FunnelModel", FUNNEL, sentences),
    encoder("layoutlm", "LayoutLM", inputs=pages),
    encoder("bros", "Bros", inputs=quadrilaterals, hidden_size=64),
    encoder("canine", "Canine", num_hash_buckets=64, downsampling_rate=4, local_transformer_stride=4),
    encoder("nomic-bert", "NomicBert"),
    encoder("eurobert", "EuroBert", "ForMaskedLM"),
)
