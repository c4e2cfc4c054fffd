"""Decoders of text: with and without a cache, and greedy generation."""

# pyright: basic

from __future__ import annotations

from typing import Any

from .architecture import (
    DYNAMIC_CACHE,
    FORWARD,
    GENERATE,
    STATIC_CACHE,
    Architecture,
    ids,
    padding_mask,
)

SIZES: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
"""What most configs take; those that grew from GPT-2 have names of their own."""

GPT2: dict[str, Any] = {
    "vocab_size": 64,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_inner": 48,
    "n_positions": 64,
    "n_ctx": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}

CACHED = (FORWARD, DYNAMIC_CACHE)
BOTH_CACHES = (FORWARD, DYNAMIC_CACHE, STATIC_CACHE)
ALL_USES = (FORWARD, DYNAMIC_CACHE, STATIC_CACHE, GENERATE)


def prompt() -> dict[str, Any]:
    return {"input_ids": ids(2, 10), "attention_mask": padding_mask(2, 10), "use_cache": False}


def decoder(
    name: str, prefix: str, uses: tuple[str, ...] = CACHED, base: dict[str, Any] = SIZES, **sizes: Any
) -> Architecture:
    model = f"{prefix}{'LMHeadModel' if prefix in HEADED else 'ForCausalLM'}"
    return Architecture(name, "decoder", f"{prefix}Config", model, {**base, **sizes}, prompt, uses)


HEADED = ("GPT2", "OpenAIGPT", "CTRL")

FALCON: dict[str, Any] = {name: size for name, size in SIZES.items() if name != "head_dim"}
PARTLY_ROTARY: dict[str, Any] = {"partial_rotary_factor": 0.5}
OPT: dict[str, Any] = {"ffn_dim": 48, "word_embed_proj_dim": 32}
XGLM: dict[str, Any] = {"d_model": 32, "num_layers": 2, "attention_heads": 4, "ffn_dim": 48}
MPT: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64}
SLIDING: dict[str, Any] = {"sliding_window": 4}
GEMMA3: dict[str, Any] = {**SLIDING, "layer_types": ["sliding_attention", "full_attention"], "query_pre_attn_scalar": 8}
LATENT: dict[str, Any] = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 8,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
}

ARCHITECTURES = (
    decoder("gpt2", "GPT2", ALL_USES, GPT2),
    decoder("openai-gpt", "OpenAIGPT", (FORWARD,), GPT2),
    decoder("ctrl", "CTRL", base=GPT2, dff=48),
    decoder("gpt-bigcode", "GPTBigCode", base=GPT2),
    decoder("gpt-neo", "GPTNeo", num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=4),
    decoder("gpt-neox", "GPTNeoX", BOTH_CACHES),
    decoder("gptj", "GPTJ", base=GPT2, rotary_dim=4),
    decoder("codegen", "CodeGen", base=GPT2, rotary_dim=4),
    decoder("opt", "OPT", BOTH_CACHES, **OPT),
    decoder("xglm", "XGLM", **XGLM),
    decoder("biogpt", "BioGpt"),
    decoder("bloom", "Bloom", base=GPT2, hidden_size=32),
    decoder("mpt", "Mpt", **MPT),
    decoder("falcon", "Falcon", base=FALCON, alibi=False, new_decoder_architecture=False),
    decoder("falcon-alibi", "Falcon", base=FALCON, alibi=True, multi_query=False, new_decoder_architecture=False),
    decoder("llama", "Llama", ALL_USES),
    decoder("mistral", "Mistral", BOTH_CACHES, **SLIDING),
    decoder("qwen2", "Qwen2", ALL_USES),
    decoder("qwen3", "Qwen3", BOTH_CACHES),
    decoder("gemma", "Gemma"),
    decoder("gemma2", "Gemma2", BOTH_CACHES, **GEMMA3),
    Architecture("gemma3", "decoder", "Gemma3TextConfig", "Gemma3ForCausalLM", {**SIZES, **GEMMA3}, prompt, CACHED),
    decoder("phi", "Phi", **PARTLY_ROTARY),
    decoder("phi3", "Phi3"),
    decoder("stablelm", "StableLm", **PARTLY_ROTARY),
    decoder("olmo", "Olmo"),
    decoder("olmo2", "Olmo2"),
    decoder("olmo3", "Olmo3", **SLIDING, layer_types=["sliding_attention", "full_attention"]),
    decoder("cohere", "Cohere", logit_scale=0.5),
    decoder("cohere2", "Cohere2", **SLIDING, layer_types=["sliding_attention", "full_attention"]),
    decoder("granite", "Granite", attention_multiplier=0.3, residual_multiplier=0.5, logits_scaling=2.0),
    decoder("smollm3", "SmolLM3", no_rope_layers=[1, 0]),
    decoder("starcoder2", "Starcoder2"),
    decoder("persimmon", "Persimmon", **PARTLY_ROTARY),
    decoder("nemotron", "Nemotron", **PARTLY_ROTARY),
    decoder("glm", "Glm", **PARTLY_ROTARY),
    decoder("glm4", "Glm4", **PARTLY_ROTARY),
    decoder("helium", "Helium"),
    decoder("exaone4", "Exaone4", **SLIDING, layer_types=["sliding_attention", "full_attention"]),
    decoder("ernie4.5", "Ernie4_5"),
    decoder("arcee", "Arcee"),
    decoder("seed-oss", "SeedOss"),
    decoder("bitnet", "BitNet"),
    decoder("diffllama", "DiffLlama"),
    decoder("hunyuan-dense", "HunYuanDenseV1"),
    decoder("modernbert-decoder", "ModernBertDecoder", local_attention=8),
    decoder("minicpm3", "MiniCPM3", **LATENT),
)
