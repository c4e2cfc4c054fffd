"""Models of text and images together."""

# pyright: basic

from __future__ import annotations

from typing import Any

import torch

from .architecture import Architecture, Inputs, Nested, ids, padding_mask

LAYERS: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
TEXT: dict[str, Any] = {
    **LAYERS,
    "vocab_size": 64,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
VISION: dict[str, Any] = {**LAYERS, "image_size": 16, "patch_size": 4, "num_channels": 3}
LANGUAGE: dict[str, Any] = {**TEXT, "num_key_value_heads": 2, "head_dim": 8}

IMAGE_TOKEN = 3


def captions() -> dict[str, Any]:
    return {
        "input_ids": ids(2, 12),
        "attention_mask": padding_mask(2, 12),
        "pixel_values": torch.randn(2, 3, 16, 16),
    }


def chat(image_tokens: int) -> Inputs:
    """A prompt in which some tokens stand for the image."""

    def inputs() -> dict[str, Any]:
        image = torch.full((2, image_tokens), IMAGE_TOKEN)
        tokens = torch.cat([ids(2, 2), image, ids(2, 5)], 1)
        return {
            "input_ids": tokens,
            "attention_mask": torch.ones_like(tokens),
            "pixel_values": torch.randn(2, 3, 16, 16),
            "use_cache": False,
        }

    return inputs


def model(name: str, config: str, cls: str, sizes: dict[str, Any], inputs: Inputs = captions) -> Architecture:
    return Architecture(name, "multimodal", config, cls, sizes, inputs)


def two_towers(name: str, prefix: str, **sizes: Any) -> Architecture:
    return model(name, f"{prefix}Config", f"{prefix}Model", {"text_config": TEXT, "vision_config": VISION, **sizes})


VILT: dict[str, Any] = {**TEXT, **VISION, "max_image_length": -1}
LLAVA: dict[str, Any] = {
    "text_config": Nested("LlamaConfig", LANGUAGE),
    "vision_config": Nested("CLIPVisionConfig", VISION),
    "image_token_index": IMAGE_TOKEN,
    "image_seq_length": 16,
    "vision_feature_layer": -1,
}
PALIGEMMA: dict[str, Any] = {
    "text_config": Nested("GemmaConfig", LANGUAGE),
    "vision_config": Nested("SiglipVisionConfig", {**VISION, "projection_dim": 32, "vision_use_head": False}),
    "image_token_id": IMAGE_TOKEN,
    "image_token_index": IMAGE_TOKEN,
    "projection_dim": 32,
}
LAYOUT: dict[str, Any] = {
    **TEXT,
    "coordinate_size": 6,
    "shape_size": 4,
    "input_size": 16,
    "patch_size": 4,
    "rel_pos_bins": 8,
    "rel_2d_pos_bins": 8,
    "max_2d_position_embeddings": 1024,
    "num_labels": 5,
}


def documents() -> dict[str, Any]:
    corners = torch.randint(0, 500, (2, 12, 2))
    boxes = torch.cat([corners, corners + torch.randint(1, 400, (2, 12, 2))], -1)
    return {**captions(), "bbox": boxes}


ARCHITECTURES = (
    two_towers("clip", "CLIP", projection_dim=16),
    two_towers("siglip", "Siglip"),
    two_towers("chinese-clip", "ChineseCLIP", projection_dim=16),
    two_towers("groupvit", "GroupViT", projection_dim=16),
    model("blip", "BlipConfig", "BlipForConditionalGeneration", {"text_config": TEXT, "vision_config": VISION}),
    model("vilt", "ViltConfig", "ViltModel", VILT),
    model("git", "GitConfig", "GitForCausalLM", {**TEXT, "vision_config": VISION}),
    model("llava", "LlavaConfig", "LlavaForConditionalGeneration", LLAVA, chat(16)),
    model("paligemma", "PaliGemmaConfig", "PaliGemmaForConditionalGeneration", PALIGEMMA, chat(16)),
    model("layoutlmv3", "LayoutLMv3Config", "LayoutLMv3Model", LAYOUT, documents),
)
