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
    STATE = "state"
    """No distribution: the state of the CPU's generator before what is drawn next."""


def _permute(tensor: torch.Tensor) -> torch.Tensor:
    return torch.randperm(tensor.numel(), out=tensor)


def _state(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.copy_(torch.get_rng_state())


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

    @property
    def needs_symbols(self) -> bool:
        """Whether a size or a parameter is known only when the graph is called."""
        sizes = [*self.dims, *self.strides, *(p for p in self.parameters if isinstance(p, Expr))]
        return any(size.as_int() is None for size in sizes)

    def make(self, symbols: Mapping[str, int], state: torch.Tensor | None = None) -> torch.Tensor:
        """The tensor. Numbers are taken from the generator in the order in which tensors are made."""
        if state is None:
            return self._filled(symbols)
        before = torch.get_rng_state()  # states that placeholders hold are those of the CPU's generator
        torch.set_rng_state(state)
        try:
            return self._filled(symbols)
        finally:
            torch.set_rng_state(before)

    def _filled(self, symbols: Mapping[str, int]) -> torch.Tensor:
        sizes, strides = ([evaluate_int(n, symbols) for n in part] for part in (self.dims, self.strides))
        tensor = torch.empty_strided(sizes, strides, dtype=self.dtype, device=self.device)
        numbers = [evaluate_int(p, symbols) if isinstance(p, Expr) else p for p in self.parameters]
        FILL[self.distribution](tensor, *numbers)
        return tensor
