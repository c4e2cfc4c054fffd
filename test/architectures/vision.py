"""Models of images: transformers, convolutional networks, detection, segmentation and depth."""

# pyright: basic

from __future__ import annotations

from typing import Any

import torch

from .architecture import Architecture, Inputs, Nested

VIT: dict[str, Any] = {
    "image_size": 16,
    "patch_size": 4,
    "num_channels": 3,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "num_labels": 5,
}
STAGES: dict[str, Any] = {"num_channels": 3, "hidden_sizes": [8, 16], "depths": [1, 1], "num_labels": 5}
SWIN: dict[str, Any] = {
    "image_size": 32,
    "patch_size": 4,
    "embed_dim": 16,
    "depths": [2, 2],
    "num_heads": [2, 4],
    "window_size": 4,
    "num_labels": 5,
}


def images(size: int = 16, channels: int = 3) -> Inputs:
    return lambda: {"pixel_values": torch.randn(2, channels, size, size)}


def vision(name: str, prefix: str, head: str, base: dict[str, Any], size: int = 16, **sizes: Any) -> Architecture:
    return Architecture(name, "vision", f"{prefix}Config", f"{prefix}{head}", {**base, **sizes}, images(size))


CLASSIFY = "ForImageClassification"
MLP: dict[str, Any] = {"mlp_ratio": 2}
RESNET: dict[str, Any] = {"embedding_size": 8, "layer_type": "bottleneck"}
SEGFORMER: dict[str, Any] = {
    "num_encoder_blocks": 2,
    "hidden_sizes": [16, 32],
    "depths": [1, 1],
    "num_attention_heads": [2, 4],
    "sr_ratios": [2, 1],
    "patch_sizes": [7, 3],
    "strides": [4, 2],
    "mlp_ratios": [2, 2],
    "decoder_hidden_size": 16,
    "num_labels": 5,
}
EFFICIENTNET: dict[str, Any] = {
    "image_size": 32,
    "width_coefficient": 0.5,
    "depth_coefficient": 0.5,
    "hidden_dim": 640,
    "num_labels": 5,
}
DETR: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "num_queries": 5,
    "num_labels": 5,
    "use_timm_backbone": False,
    "use_pretrained_backbone": False,
    "backbone": None,
    "backbone_config": Nested("ResNetConfig", {**STAGES, **RESNET, "out_features": ["stage2"]}),
}
DPT: dict[str, Any] = {
    "num_hidden_layers": 4,
    "backbone_out_indices": [0, 1, 2, 3],
    "neck_hidden_sizes": [8, 8, 16, 16],
    "fusion_hidden_size": 8,
    "is_hybrid": False,
}
MOBILEVIT: dict[str, Any] = {
    "hidden_sizes": [16, 24, 32],
    "neck_hidden_sizes": [4, 8, 8, 16, 16, 16, 32],
    "num_attention_heads": 2,
}
PVT: dict[str, Any] = {
    "num_encoder_blocks": 2,
    "depths": [1, 1],
    "hidden_sizes": [16, 32],
    "sequence_reduction_ratios": [2, 1],
    "patch_sizes": [4, 2],
    "strides": [4, 2],
    "num_attention_heads": [2, 4],
    "mlp_ratios": [2, 2],
}
LEVIT: dict[str, Any] = {
    "image_size": 32,
    "hidden_sizes": [16, 24, 32],
    "num_attention_heads": [2, 3, 4],
    "depths": [1, 1, 1],
    "key_dim": [8, 8, 8],
    "mlp_ratio": [2, 2, 2],
    "attention_ratio": [2, 2, 2],
    "num_labels": 5,
}
POOLFORMER: dict[str, Any] = {
    "hidden_sizes": [8, 16],
    "depths": [1, 1],
    "patch_sizes": [7, 3],
    "strides": [4, 2],
    "padding": [2, 1],
    "num_encoder_blocks": 2,
}
CVT: dict[str, Any] = {
    "embed_dim": [8, 16],
    "num_heads": [1, 2],
    "depth": [1, 2],
    "patch_sizes": [7, 3],
    "patch_stride": [4, 2],
    "patch_padding": [2, 1],
    "mlp_ratio": [2.0, 2.0],
    "attention_drop_rate": [0.0, 0.0],
    "drop_rate": [0.0, 0.0],
    "drop_path_rate": [0.0, 0.0],
    "qkv_bias": [True, True],
    "cls_token": [False, True],
    "qkv_projection_method": ["dw_bn", "dw_bn"],
    "kernel_qkv": [3, 3],
    "padding_kv": [1, 1],
    "stride_kv": [2, 2],
    "padding_q": [1, 1],
    "stride_q": [1, 1],
}
FOCAL: dict[str, Any] = {
    "embed_dim": 8,
    "hidden_sizes": [8, 16],
    "depths": [1, 1],
    "focal_levels": [2, 2],
    "focal_windows": [3, 3],
}
HIERA: dict[str, Any] = {
    "image_size": [32, 32],
    "embed_dim": 8,
    "depths": [1, 1, 1],
    "num_heads": [1, 2, 4],
    "patch_stride": [4, 4],
    "patch_kernel": [7, 7],
    "patch_padding": [3, 3],
    "masked_unit_size": [4, 4],
    "query_stride": [2, 2],
    "num_query_pool": 2,
    "masked_unit_attention": [True, True, False],
}
SIGLIP: dict[str, Any] = {**VIT, "vision_use_head": True}

ARCHITECTURES = (
    vision("vit", "ViT", CLASSIFY, VIT),
    vision("deit", "DeiT", CLASSIFY, VIT),
    vision("beit", "Beit", CLASSIFY, VIT, use_relative_position_bias=True, use_mean_pooling=True),
    vision("data2vec-vision", "Data2VecVision", CLASSIFY, VIT, use_shared_relative_position_bias=True),
    vision("dinov2", "Dinov2", CLASSIFY, VIT, **MLP),
    vision("dinov2-registers", "Dinov2WithRegisters", CLASSIFY, VIT, **MLP, num_register_tokens=2),
    vision("dinov3-vit", "DINOv3ViT", "Model", VIT, num_register_tokens=2),
    vision("vit-msn", "ViTMSN", CLASSIFY, VIT),
    vision("ijepa", "IJepa", CLASSIFY, VIT),
    vision("yolos", "Yolos", "ForObjectDetection", VIT, image_size=[16, 16], num_detection_tokens=3),
    vision("swin", "Swin", CLASSIFY, SWIN, 32),
    vision("swinv2", "Swinv2", CLASSIFY, SWIN, 32),
    vision("swin2sr", "Swin2SR", "ForImageSuperResolution", SWIN, 16, image_size=16, patch_size=1, upscale=2),
    vision("convnext", "ConvNext", CLASSIFY, STAGES, num_stages=2),
    vision("convnextv2", "ConvNextV2", CLASSIFY, STAGES, num_stages=2),
    vision("resnet", "ResNet", CLASSIFY, STAGES, **RESNET),
    vision("regnet", "RegNet", CLASSIFY, STAGES, embedding_size=8, groups_width=4),
    vision("bit", "Bit", CLASSIFY, STAGES, embedding_size=8, num_groups=4),
    vision("mobilenet-v1", "MobileNetV1", CLASSIFY, {"image_size": 32, "depth_multiplier": 0.25, "num_labels": 5}, 32),
    vision("mobilenet-v2", "MobileNetV2", CLASSIFY, {"image_size": 32, "depth_multiplier": 0.25, "num_labels": 5}, 32),
    vision("efficientnet", "EfficientNet", CLASSIFY, EFFICIENTNET, 32),
    vision("mobilevit", "MobileViT", CLASSIFY, {**VIT, **MOBILEVIT, "image_size": 32, "patch_size": 2}, 32),
    vision("mobilevitv2", "MobileViTV2", CLASSIFY, {"image_size": 32, "width_multiplier": 0.25, "num_labels": 5}, 64),
    vision("segformer", "Segformer", "ForSemanticSegmentation", SEGFORMER, 32),
    vision("pvt", "Pvt", CLASSIFY, {**PVT, "image_size": 32, "num_labels": 5}, 32),
    vision("levit", "Levit", CLASSIFY, LEVIT, 32),
    vision("poolformer", "PoolFormer", CLASSIFY, POOLFORMER, 32),
    vision("cvt", "Cvt", CLASSIFY, CVT, 32),
    vision("focalnet", "FocalNet", CLASSIFY, {"image_size": 16, "patch_size": 4, **FOCAL}),
    vision("hiera", "Hiera", CLASSIFY, HIERA, 32),
    vision("detr", "Detr", "ForObjectDetection", DETR, 32),
    vision("dpt", "DPT", "ForDepthEstimation", {**VIT, **DPT}),
    vision("vitmae", "ViTMAE", "Model", VIT, mask_ratio=0.0),
    vision("siglip-vision", "SiglipVision", "Model", SIGLIP),
    vision("clip-vision", "CLIPVision", "ModelWithProjection", VIT, projection_dim=16),
)
