"""Decoders with mixtures of experts, and decoders with a recurrent state in place of attention."""

# pyright: basic

from __future__ import annotations

from typing import Any

from .architecture import DYNAMIC_CACHE, FORWARD, GENERATE, Architecture, ids
from .decoders import LATENT, SIZES, prompt

EXPERTS: dict[str, Any] = {
    **SIZES,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "shared_expert_intermediate_size": 24,
    "router_jitter_noise": 0.0,
}

CACHED = (FORWARD, DYNAMIC_CACHE)


def mixture(name: str, prefix: str, uses: tuple[str, ...] = CACHED, **sizes: Any) -> Architecture:
    return Architecture(
        name, "mixture of experts", f"{prefix}Config", f"{prefix}ForCausalLM", {**EXPERTS, **sizes}, prompt, uses
    )


def recurrent(name: str, prefix: str, inputs: Any = lambda: {"input_ids": ids(2, 10)}, **sizes: Any) -> Architecture:
    sizes = {**SIZES, "use_cache": False, **sizes}
    return Architecture(name, "recurrent", f"{prefix}Config", f"{prefix}ForCausalLM", sizes, inputs)


DEEPSEEK: dict[str, Any] = {**LATENT, "n_group": 2, "topk_group": 1, "n_shared_experts": 1, "first_k_dense_replace": 1}
MAMBA: dict[str, Any] = {"state_size": 4, "expand": 2, "conv_kernel": 4, "time_step_rank": 4}
MAMBA2: dict[str, Any] = {"state_size": 4, "expand": 2, "num_heads": 8, "head_dim": 8, "n_groups": 2, "chunk_size": 4}
RWKV: dict[str, Any] = {"attention_hidden_size": 32, "context_length": 64}

ARCHITECTURES = (
    mixture("mixtral", "Mixtral", (FORWARD, DYNAMIC_CACHE, GENERATE)),
    mixture("qwen2-moe", "Qwen2Moe"),
    mixture("qwen3-moe", "Qwen3Moe"),
    mixture("olmoe", "Olmoe"),
    mixture("deepseek-v2", "DeepseekV2", **{**DEEPSEEK, "q_lora_rank": None}),
    mixture("deepseek-v3", "DeepseekV3", **DEEPSEEK),
    mixture("granitemoe", "GraniteMoe"),
    mixture("jetmoe", "JetMoe", kv_channels=8),
    mixture("phimoe", "Phimoe"),
    mixture("gpt-oss", "GptOss", layer_types=["sliding_attention", "full_attention"], sliding_window=4),
    mixture("glm4-moe", "Glm4Moe", **{**DEEPSEEK, "partial_rotary_factor": 0.5}),
    mixture("ernie4.5-moe", "Ernie4_5_Moe", moe_num_experts=4, moe_k=2, moe_layer_start_index=0),
    mixture("dots1", "Dots1", **DEEPSEEK),
    mixture("minimax-m2", "MiniMaxM2"),
    recurrent("mamba", "Mamba", **MAMBA),
    recurrent("mamba2", "Mamba2", **MAMBA2),
    recurrent("falcon-mamba", "FalconMamba", **MAMBA),
    recurrent("rwkv", "Rwkv", **RWKV),
    recurrent("recurrent-gemma", "RecurrentGemma", lru_width=32, block_types=["recurrent", "attention"]),
    recurrent("lfm2", "Lfm2", layer_types=["conv", "full_attention"], conv_L_cache=3),
)
