"""Models of sound, and of time series."""

# pyright: basic

from __future__ import annotations

from typing import Any

import torch

from .architecture import DYNAMIC_CACHE, FORWARD, Architecture, Inputs, ids

WAVE: dict[str, Any] = {
    "vocab_size": 32,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "conv_dim": [16, 16, 16],
    "conv_kernel": [8, 3, 3],
    "conv_stride": [4, 2, 2],
    "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 4,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
WHISPER: dict[str, Any] = {
    "vocab_size": 64,
    "num_mel_bins": 8,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_source_positions": 20,
    "max_target_positions": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
SPECTRUM: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "patch_size": 4,
    "frequency_stride": 4,
    "time_stride": 4,
    "max_length": 24,
    "num_mel_bins": 16,
    "num_labels": 5,
}
SERIES: dict[str, Any] = {
    "num_input_channels": 2,
    "context_length": 32,
    "patch_length": 8,
    "patch_stride": 8,
    "prediction_length": 4,
    "d_model": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "ffn_dim": 48,
    "num_layers": 2,
}


def waves() -> dict[str, Any]:
    return {"input_values": torch.randn(2, 400)}


def speech(features: str = "input_features", shape: tuple[int, ...] = (2, 8, 40)) -> Inputs:
    return lambda: {features: torch.randn(shape), "decoder_input_ids": ids(2, 6), "use_cache": False}


def audio(
    name: str,
    config: str,
    model: str,
    base: dict[str, Any],
    inputs: Inputs = waves,
    uses: tuple[str, ...] = (FORWARD,),
    **sizes: Any,
) -> Architecture:
    return Architecture(name, "audio", config, model, {**base, **sizes}, inputs, uses)


MOONSHINE: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "encoder_num_hidden_layers": 2,
    "decoder_num_hidden_layers": 2,
    "encoder_num_attention_heads": 4,
    "decoder_num_attention_heads": 4,
    "encoder_num_key_value_heads": 4,
    "decoder_num_key_value_heads": 4,
    "pad_token_id": 0,
}
SPEECH_TO_TEXT: dict[str, Any] = {**WHISPER, "conv_channels": 32, "input_feat_per_channel": 8, "input_channels": 1}

ARCHITECTURES = (
    audio("whisper", "WhisperConfig", "WhisperForConditionalGeneration", WHISPER, speech(), (FORWARD, DYNAMIC_CACHE)),
    audio("wav2vec2", "Wav2Vec2Config", "Wav2Vec2ForCTC", WAVE),
    audio("hubert", "HubertConfig", "HubertForCTC", WAVE),
    audio("wavlm", "WavLMConfig", "WavLMForCTC", WAVE, num_buckets=8, max_bucket_distance=16),
    audio("unispeech", "UniSpeechConfig", "UniSpeechForCTC", WAVE),
    audio("sew", "SEWConfig", "SEWForCTC", WAVE, squeeze_factor=2),
    audio("data2vec-audio", "Data2VecAudioConfig", "Data2VecAudioForCTC", WAVE, conv_pos_kernel_size=3),
    audio(
        "ast",
        "ASTConfig",
        "ASTForAudioClassification",
        SPECTRUM,
        lambda: {"input_values": torch.randn(2, 24, 16)},
    ),
    audio(
        "speech-to-text",
        "Speech2TextConfig",
        "Speech2TextForConditionalGeneration",
        SPEECH_TO_TEXT,
        speech(shape=(2, 40, 8)),
    ),
    audio(
        "moonshine",
        "MoonshineConfig",
        "MoonshineForConditionalGeneration",
        MOONSHINE,
        speech("input_values", (2, 2000)),
    ),
    audio(
        "patchtst",
        "PatchTSTConfig",
        "PatchTSTForPrediction",
        SERIES,
        lambda: {"past_values": torch.randn(2, 32, 2)},
    ),
    audio(
        "patchtsmixer",
        "PatchTSMixerConfig",
        "PatchTSMixerForPrediction",
        SERIES,
        lambda: {"past_values": torch.randn(2, 32, 2)},
    ),
)
