"""Gradients of attention on a GPU by its mathematical definition, in f32; nothing but the output's own inputs is
read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, sqrt
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten


def gradients(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, causal: bool, scale: float | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of query, key, value and of the scores that the bias is added to.

    With p = softmax(scale q k^T + bias): dv = p^T g, ds = p (g v^T - sum(p g v^T)), dq = scale ds k, dk = scale ds^T q.
    Heads of key and value that several heads of the query share get the sum over these.
    """
    factor = 1 / sqrt(query.shape[-1]) if scale is None else scale
    shared = query.shape[1] // key.shape[1]
    q, k, v, g = (t.float() for t in (query, key, value, grad))
    k, v = (t.repeat_interleave(shared, 1) if shared > 1 else t for t in (k, v))
    scores = (q * factor) @ k.transpose(-1, -2)
    if bias is not None:
        scores = scores + bias.float()
    if causal:
        rows = torch.arange(scores.shape[-2], device=grad.device).unsqueeze(-1)
        scores = torch.where(torch.arange(scores.shape[-1], device=grad.device) <= rows, scores, -inf)
    # A row without any key has no gradient: its softmax is NaN, eager's kernels give 0.
    p = torch.where((scores == -inf).all(-1, keepdim=True), 0.0, torch.softmax(scores, -1))
    slope = g @ v.transpose(-1, -2)
    ds = p * (slope - (p * slope).sum(-1, keepdim=True))
    dq, dk, dv = factor * (ds @ k), factor * (ds.transpose(-1, -2) @ q), p.transpose(-1, -2) @ g
    if shared > 1:
        dk, dv = (t.reshape(t.shape[0], key.shape[1], shared, *t.shape[2:]).sum(2) for t in (dk, dv))
    return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype), ds


def flash(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    *_: Any,
    scale: float | None = None,
) -> Any:
    """Query, key and value of the flash kernel; with dropout the op stays whole, and is refused."""
    if dropout_p:
        return NotImplemented
    return gradients(grad, query, key, value, None, is_causal, scale)[:3]


def efficient(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    out: Tensor,
    logsumexp: Tensor,
    philox_seed: Tensor,
    philox_offset: Tensor,
    dropout_p: float,
    grad_input_mask: Sequence[bool],
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Any:
    """The same of the memory-efficient kernel, and the bias."""
    if dropout_p:
        return NotImplemented
    dq, dk, dv, ds = gradients(grad, query, key, value, attn_bias, is_causal, scale)
    if attn_bias is None or not grad_input_mask[3]:
        return dq, dk, dv, None
    return dq, dk, dv, ds.sum_to_size(attn_bias.shape).to(attn_bias.dtype)


def cudnn(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    philox_seed: Tensor,
    philox_offset: Tensor,
    attn_bias: Tensor | None,
    cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    *,
    scale: float | None = None,
) -> Any:
    """The same of cuDNN's kernel."""
    if dropout_p:
        return NotImplemented
    return gradients(grad, query, key, value, attn_bias, is_causal, scale)[:3]


DECOMPOSITIONS: Mapping[Any, Callable[..., Any]] = MappingProxyType(
    {
        aten._scaled_dot_product_flash_attention_backward.default: flash,
        aten._scaled_dot_product_efficient_attention_backward.default: efficient,
        aten._scaled_dot_product_cudnn_attention_backward.default: cudnn,
    }
)
