"""Low-rank adapters of a model: swapped as tensors, as modules, merged into its weights and taken out again."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import albumen
from albumen.runtime.errors import LaunchError

pytestmark = pytest.mark.torch


class Adapter(nn.Module):
    """x A B, which is added to what a layer makes of x."""

    def __init__(self, inputs: int, outputs: int, rank: int = 2) -> None:
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(inputs, rank)), nn.Parameter(torch.randn(rank, outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.a @ self.b


class Adapted(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.base, self.adapter = nn.Linear(inputs, outputs), Adapter(inputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.adapter(x)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Adapted(4, 4), Adapted(4, 4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x).relu()
        return x


def layers(model: Model) -> list[Any]:
    return list(model.layers)


def swap_tensors(model: Model) -> None:
    for layer in layers(model):
        layer.adapter.a, layer.adapter.b = nn.Parameter(torch.randn(4, 2)), nn.Parameter(torch.randn(2, 4))


def swap_modules(model: Model) -> None:
    for layer in layers(model):
        layer.adapter = Adapter(4, 4)


def swap_layers(model: Model) -> None:
    model.layers[1] = Adapted(4, 4)


def load_adapters(model: Model) -> None:
    state = {name: torch.randn_like(value) for name, value in model.state_dict().items() if "adapter" in name}
    model.load_state_dict(state, strict=False)


def load_by_assignment(model: Model) -> None:
    state = {name: torch.randn_like(value) for name, value in model.state_dict().items() if "adapter" in name}
    model.load_state_dict(state, strict=False, assign=True)


def merge(model: Model) -> None:
    for layer in layers(model):
        layer.base.weight.data += (layer.adapter.a @ layer.adapter.b).t()
        layer.adapter.b.zero_()


def switch_off(model: Model) -> None:
    for layer in layers(model):
        layer.adapter.a.data = torch.zeros(4, 2)


CHANGES = [swap_tensors, load_adapters, load_by_assignment, merge, switch_off, swap_modules, swap_layers, swap_tensors]


def test_albumen_compile() -> None:
    model, x = Model(), torch.randn(3, 4)
    compiled = albumen.compile(model, (x,))
    with torch.no_grad():
        for change in CHANGES:
            change(model)
            for _ in range(2):
                torch.testing.assert_close(compiled(x), model(x), msg=change.__name__)


@pytest.mark.parametrize("change", CHANGES[:-1])
def test_torch_compile_without_a_recompile(change: Callable[[Model], None]) -> None:
    torch._dynamo.reset()
    model, x = Model(), torch.randn(3, 4)
    run = torch.compile(model, backend="albumen", fullgraph=True)
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x))
        change(model)
        with torch.compiler.set_stance("fail_on_recompile"):
            torch.testing.assert_close(run(x), model(x))


def test_another_rank() -> None:
    """torch.compile compiles again for it, and a program refuses it."""
    torch._dynamo.reset()
    model, x = Model(), torch.randn(3, 4)
    run, compiled = torch.compile(model, backend="albumen", fullgraph=True), albumen.compile(model, (x,))
    with torch.no_grad():
        torch.testing.assert_close(run(x), compiled(x))
        layers(model)[0].adapter = Adapter(4, 4, rank=3)
        torch.testing.assert_close(run(x), model(x))
        with pytest.raises(LaunchError, match=r"'layers.0.adapter.a' was replaced by a tensor of shape \[4, 3\]"):
            compiled(x)
