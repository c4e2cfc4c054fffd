"""The ways in which a model is run. Each returns everything that the user would see: outputs, and caches afterwards."""

# torch's and transformers' own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from .architecture import DYNAMIC_CACHE, FORWARD, GENERATE, STATIC_CACHE

Call = Callable[..., Any]
Use = Callable[[Any, Call, dict[str, Any]], list[torch.Tensor]]

STEPS = ((0, 6), (6, 7), (7, 8), (8, 9))
"""A prompt of six tokens, then one token at a time: the first step has a shape of its own, the next ones a growing
cache."""

NEW_TOKENS = 8


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in a nest of containers, model outputs and caches, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, Mapping):
        return [t for v in value.values() for t in tensors_in(v)]
    if isinstance(value, list | tuple):
        return [t for v in value for t in tensors_in(v)]
    if hasattr(value, "self_attention_cache"):
        return tensors_in([value.self_attention_cache, value.cross_attention_cache])
    if hasattr(value, "layers"):
        return [t for layer in value.layers for t in tensors_in([layer.keys, layer.values])]
    return []


def forward(model: Any, call: Call, inputs: dict[str, Any]) -> list[torch.Tensor]:
    """One call, twice: the second must give the same."""
    first = tensors_in(call(**inputs))
    second = tensors_in(call(**inputs))
    if not all(torch.allclose(a, b, rtol=0, atol=0, equal_nan=True) for a, b in zip(first, second, strict=True)):
        raise AssertionError("the second call gives other values than the first")
    return first


def dynamic_cache(model: Any, call: Call, inputs: dict[str, Any]) -> list[torch.Tensor]:
    """A prompt, then single tokens, with a cache that grows."""
    from transformers import DynamicCache, EncoderDecoderCache

    if "decoder_input_ids" in inputs:
        given = {k: v for k, v in inputs.items() if k not in ("decoder_input_ids", "use_cache")}
        encoded = tensors_in(call(**inputs, return_dict=True).encoder_last_hidden_state)
        caches = EncoderDecoderCache(DynamicCache(config=model.config), DynamicCache(config=model.config))
        tokens = inputs["decoder_input_ids"].repeat(1, 2)
        results = [
            call(**given, decoder_input_ids=tokens[:, a:b], past_key_values=caches, use_cache=True).logits
            for a, b in STEPS
        ]
        return [*encoded, *results, *tensors_in(caches)]
    return steps(call, inputs["input_ids"], DynamicCache(config=model.config))


def static_cache(model: Any, call: Call, inputs: dict[str, Any]) -> list[torch.Tensor]:
    """The same with a cache of fixed size, which the model writes in place."""
    from transformers import StaticCache

    config: Any = model.config.get_text_config()
    tokens = inputs["input_ids"]
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    cache = StaticCache(config=config, max_cache_len=16)
    dtype = next(model.parameters()).dtype
    cache.early_initialization(tokens.shape[0], heads, size, dtype, tokens.device)
    return steps(call, tokens, cache)


def steps(call: Call, tokens: torch.Tensor, cache: Any) -> list[torch.Tensor]:
    """The logits of each step, and the cache after the last."""
    results = [call(input_ids=tokens[:, a:b], past_key_values=cache, use_cache=True).logits for a, b in STEPS]
    return [*results, *tensors_in(cache)]


def generate(model: Any, call: Call, inputs: dict[str, Any]) -> list[torch.Tensor]:
    """Greedy generation by transformers' own loop, which calls the model's forward."""
    given = {k: v for k, v in inputs.items() if k in ("input_ids", "attention_mask")}
    own = model.forward
    model.forward = call
    try:
        return [
            model.generate(  # pyright: ignore[reportCallIssue]
                **given,
                do_sample=False,
                num_beams=1,
                max_new_tokens=NEW_TOKENS,
                min_new_tokens=NEW_TOKENS,
                disable_compile=True,
            )
        ]
    finally:
        model.forward = own


USES: Mapping[str, Use] = {
    FORWARD: forward,
    DYNAMIC_CACHE: dynamic_cache,
    STATIC_CACHE: static_cache,
    GENERATE: generate,
}
