"""Tensors that torch's default generator fills before a program runs, and hands to it as inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import torch

from ...dialects.sym.expr import Expr
from ...dialects.sym.substitute import evaluate_int


class Distribution(StrEnum):
    """What is drawn; the parameters are those of the torch method that fills a tensor so."""

    BERNOULLI = "bernoulli"
    UNIFORM = "uniform"
    NORMAL = "normal"
    EXPONENTIAL = "exponential"
    CAUCHY = "cauchy"
    LOG_NORMAL = "log_normal"
    GEOMETRIC = "geometric"
    INTEGERS = "integers"
    PERMUTATION = "permutation"
    DROPOUT = "dropout"
    """What dropout keeps, as the kernel of the draw's device chooses it for tensors of dtype `source`."""
    STATE = "state"
    """No distribution: the state of the generator of device `source` before what is drawn next."""


def _permute(tensor: torch.Tensor) -> torch.Tensor:
    return torch.randperm(tensor.numel(), out=tensor)


def _dropout(tensor: torch.Tensor, p: float, source: torch.dtype) -> None:
    if tensor.is_cuda:
        like = torch.empty_strided(tensor.shape, tensor.stride(), dtype=source, device=tensor.device)
        tensor.copy_(torch.native_dropout(like, p, True)[1])
    else:
        tensor.bernoulli_(1 - p)


def _state(tensor: torch.Tensor, source: torch.device) -> None:
    tensor.copy_(generator_state(source))


def generator_state(device: torch.device) -> torch.Tensor:
    """The state of the default generator of a device."""
    return torch.get_rng_state() if device.type == "cpu" else torch.cuda.get_rng_state(device)


def set_generator_state(device: torch.device, state: torch.Tensor) -> None:
    """Sets the state of the default generator of a device."""
    if device.type == "cpu":
        torch.set_rng_state(state)
    else:
        torch.cuda.set_rng_state(state, device)


FILL: Mapping[Distribution, Callable[..., Any]] = MappingProxyType(
    {
        Distribution.BERNOULLI: torch.Tensor.bernoulli_,
        Distribution.UNIFORM: torch.Tensor.uniform_,
        Distribution.NORMAL: torch.Tensor.normal_,
        Distribution.EXPONENTIAL: torch.Tensor.exponential_,
        Distribution.CAUCHY: torch.Tensor.cauchy_,
        Distribution.LOG_NORMAL: torch.Tensor.log_normal_,
        Distribution.GEOMETRIC: torch.Tensor.geometric_,
        Distribution.INTEGERS: torch.Tensor.random_,
        Distribution.PERMUTATION: _permute,
        Distribution.DROPOUT: _dropout,
        Distribution.STATE: _state,
    }
)
"""How a tensor is filled; each call takes from the default generator of the tensor's device what eager takes."""

Parameter = float | int | Expr


@dataclass(frozen=True)
class Draw:
    """A fresh tensor of these sizes and strides, filled from the default generator of its device.

    `state` is the placeholder whose value the generator's state is for this draw alone; None: its own, which goes on.
    """

    distribution: Distribution
    dims: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    dtype: torch.dtype
    device: torch.device
    parameters: tuple[Parameter, ...] = ()
    state: int | None = None
    source: torch.dtype | torch.device | None = None

    @property
    def needs_symbols(self) -> bool:
        """Whether a size or a parameter is known only when the graph is called."""
        sizes = [*self.dims, *self.strides, *(p for p in self.parameters if isinstance(p, Expr))]
        return any(size.as_int() is None for size in sizes)

    def make(self, symbols: Mapping[str, int], state: torch.Tensor | None = None) -> torch.Tensor:
        """The tensor. Numbers are taken from the generator in the order in which tensors are made."""
        if state is None:
            return self._filled(symbols)
        before = generator_state(self.device)
        set_generator_state(self.device, state)
        try:
            return self._filled(symbols)
        finally:
            set_generator_state(self.device, before)

    def _filled(self, symbols: Mapping[str, int]) -> torch.Tensor:
        sizes, strides = ([evaluate_int(n, symbols) for n in part] for part in (self.dims, self.strides))
        tensor = torch.empty_strided(sizes, strides, dtype=self.dtype, device=self.device)
        numbers = [evaluate_int(p, symbols) if isinstance(p, Expr) else p for p in self.parameters]
        more = () if self.source is None else (self.source,)
        FILL[self.distribution](tensor, *numbers, *more)
        return tensor
