"""The candidates: a model run eagerly, by Inductor and by Albumen."""

# torch's own types are partly unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

import albumen

from .harness import Call

Builder = Callable[[torch.nn.Module, Sequence[Any], Mapping[str, Any]], Callable[..., Any]]


def _eager(model: torch.nn.Module, args: Sequence[Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    return model


def _inductor(mode: str | None) -> Builder:
    def build(model: torch.nn.Module, args: Sequence[Any], options: Mapping[str, Any]) -> Callable[..., Any]:
        return torch.compile(model, backend="inductor", mode=mode, dynamic=False)

    return build


def _torch_compile(model: torch.nn.Module, args: Sequence[Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    return torch.compile(model, backend="albumen", dynamic=False, options=dict(options))


def _program(model: torch.nn.Module, args: Sequence[Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    return albumen.compile(model, args, options=options)


BUILDERS: Mapping[str, Builder] = {
    "eager": _eager,
    "inductor": _inductor(None),
    "inductor-max-autotune": _inductor("max-autotune"),
    "albumen": _program,
    "albumen-torch.compile": _torch_compile,
}
REPLAYING = frozenset({"inductor-max-autotune"})
"""Peers that replay CUDA graphs of their own."""
OURS = ("albumen", "albumen-torch.compile")


def candidates(
    model: torch.nn.Module, args: Sequence[Any], names: Sequence[str], options: Mapping[str, Any]
) -> tuple[dict[str, Call], dict[str, float]]:
    """Calls of the model on `args` by each peer, already called once, and the seconds that took."""
    calls: dict[str, Call] = {}
    seconds: dict[str, float] = {}
    for name in names:
        torch.compiler.reset()
        start = time.perf_counter()
        function = BUILDERS[name](model, args, options)
        call = _bound(function, args)
        call()
        seconds[name] = time.perf_counter() - start
        calls[name] = call
    return calls, seconds


def _bound(function: Callable[..., Any], args: Sequence[Any]) -> Call:
    def call() -> Any:
        with torch.no_grad():
            return function(*args)

    return call
