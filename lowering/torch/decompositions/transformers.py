"""A whole layer of a transformer encoder, which torch.nn calls where no gradients are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear, relu

from .precision import computed

aten = torch.ops.aten

ATTENTION_MASK, PADDING_MASK = 0, 1


def _wide(mask: Tensor, mask_type: int | None) -> Tensor:
    """A mask at [batch, head, query, key]; what is not 0 is masked out."""
    given = mask if mask.dtype == torch.bool else mask != 0
    if mask_type == PADDING_MASK:
        return given[:, None, None, :]
    return given[None, None] if mask_type == ATTENTION_MASK else given


def self_attention(
    x: Tensor,
    heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    mask: Tensor | None,
    mask_type: int | None,
) -> Tensor:
    """softmax(q k^T / sqrt(d)) v of x[n, t, e], heads side by side. A row with nothing kept gives zeros."""
    n, t, e = x.shape
    joined = linear(x, qkv_weight, qkv_bias).reshape(n, t, 3, heads, e // heads).permute(2, 0, 3, 1, 4)
    q, k, v = joined.unbind(0)
    scores = computed((q * (1 / sqrt(e // heads))) @ k.transpose(-1, -2))
    if mask is not None:
        scores = scores.masked_fill(_wide(mask, mask_type), -torch.inf)
        p = aten._safe_softmax.default(scores, -1)
    else:
        p = scores.softmax(-1)
    return (p.to(x.dtype) @ v).transpose(1, 2).reshape(n, t, e)


def transformer_encoder_layer(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    """Self-attention and two linear layers, each added to its input, with a norm before or after."""

    def first(x: Tensor) -> Tensor:
        return layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)

    def second(x: Tensor) -> Tensor:
        return layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)

    start = first(src) if norm_first else src
    context = self_attention(start, num_heads, qkv_weight, qkv_bias, mask, mask_type)
    x = linear(context, proj_weight, proj_bias) + src
    x = x if norm_first else first(x)
    inner = linear(second(x) if norm_first else x, ffn_weight_1, ffn_bias_1)
    y = linear(gelu(inner) if use_gelu else relu(inner), ffn_weight_2, ffn_bias_2) + x
    return y if norm_first else second(y)


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {aten._transformer_encoder_layer_fwd.default: transformer_encoder_layer}
)
