"""Encoder-decoders of text: the whole forward, decoding with a cache, and greedy generation."""

# pyright: basic

from __future__ import annotations

from typing import Any

from .architecture import DYNAMIC_CACHE, FORWARD, GENERATE, Architecture, Nested, ids, padding_mask

BART: dict[str, Any] = {
    "vocab_size": 64,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
    "forced_eos_token_id": None,
}

T5: dict[str, Any] = {
    "vocab_size": 64,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 16,
    "pad_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 0,
}

CACHED = (FORWARD, DYNAMIC_CACHE)


def translation() -> dict[str, Any]:
    return {
        "input_ids": ids(2, 12),
        "attention_mask": padding_mask(2, 12),
        "decoder_input_ids": ids(2, 7),
        "use_cache": False,
    }


def translator(
    name: str, prefix: str, base: dict[str, Any] = BART, uses: tuple[str, ...] = (FORWARD,), **sizes: Any
) -> Architecture:
    model = f"{prefix}{'MTModel' if prefix == 'Marian' else 'ForConditionalGeneration'}"
    return Architecture(name, "encoder-decoder", f"{prefix}Config", model, {**base, **sizes}, translation, uses)


SWITCH: dict[str, Any] = {
    "num_experts": 4,
    "num_sparse_encoder_layers": 1,
    "num_sparse_decoder_layers": 1,
    "expert_capacity": 64,
    "router_jitter_noise": 0.0,
}
LED: dict[str, Any] = {
    "attention_window": 4,
    "max_encoder_position_embeddings": 64,
    "max_decoder_position_embeddings": 64,
}
GEMMA: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 48,
    "query_pre_attn_scalar": 8,
    "max_position_embeddings": 64,
    "layer_types": ["sliding_attention", "full_attention"],
    "sliding_window": 4,
}

ARCHITECTURES = (
    translator("bart", "Bart", uses=(FORWARD, DYNAMIC_CACHE, GENERATE)),
    translator("mbart", "MBart", uses=CACHED),
    translator("pegasus", "Pegasus"),
    translator("pegasus-x", "PegasusX", block_size=4, num_global_tokens=2),
    translator("marian", "Marian", decoder_vocab_size=64),
    translator("blenderbot", "Blenderbot"),
    translator("blenderbot-small", "BlenderbotSmall"),
    translator("plbart", "PLBart"),
    translator("m2m-100", "M2M100"),
    translator("bigbird-pegasus", "BigBirdPegasus", attention_type="original_full"),
    translator("led", "LED", **LED),
    translator("t5", "T5", T5, (FORWARD, DYNAMIC_CACHE, GENERATE)),
    translator("t5-gated", "T5", T5, feed_forward_proj="gated-gelu"),
    translator("mt5", "MT5", T5),
    translator("umt5", "UMT5", T5),
    translator("longt5", "LongT5", T5, local_radius=4),
    translator("switch-transformers", "SwitchTransformers", T5, **SWITCH),
    translator(
        "t5gemma",
        "T5Gemma",
        {"vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
        encoder=Nested("T5GemmaModuleConfig", GEMMA),
        decoder=Nested("T5GemmaModuleConfig", {**GEMMA, "is_decoder": True}),
    ),
)
