"""Weights of a model that change, move or are replaced after it was compiled, in both frontends."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import albumen
from albumen.runtime.errors import LaunchError

pytestmark = pytest.mark.torch


class Perceptron(nn.Module):
    k: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 5), nn.Linear(5, 3)
        self.register_buffer("k", torch.ones(3), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x).relu()) * self.k


def replace_parameter(m: Perceptron) -> None:
    m.first.weight = nn.Parameter(torch.randn(5, 4))


def replace_module(m: Perceptron) -> None:
    m.first = nn.Linear(4, 5)


def replace_buffer(m: Perceptron) -> None:
    m.k = torch.randn(3)


def load(m: Perceptron) -> None:
    m.load_state_dict({name: value * 2 for name, value in m.state_dict().items()})


def load_by_assignment(m: Perceptron) -> None:
    m.load_state_dict({name: value * 2 for name, value in m.state_dict().items()}, assign=True)


def move(m: Perceptron) -> None:
    m.first.weight.data = torch.randn(5, 4)


def move_transposed(m: Perceptron) -> None:
    m.first.weight.data = torch.randn(4, 5).t()


def replace_strided(m: Perceptron) -> None:
    m.first.weight = nn.Parameter(torch.randn(5, 8)[:, ::2])


def in_place(m: Perceptron) -> None:
    with torch.no_grad():
        m.first.weight.mul_(2)


def merge_adapter(m: Perceptron) -> None:
    m.first.weight.data += torch.randn(5, 2) @ torch.randn(2, 4)


CHANGES = [
    replace_parameter,
    replace_module,
    replace_buffer,
    load,
    load_by_assignment,
    move,
    in_place,
    merge_adapter,
    move_transposed,
    in_place,
    replace_strided,
    in_place,
    replace_parameter,
]


def test_albumen_compile(tmp_path: Path) -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    compiled = albumen.compile(model, (x,))
    with torch.no_grad():
        for change in CHANGES:
            change(model)
            torch.testing.assert_close(compiled(x), model(x), msg=change.__name__)
            torch.testing.assert_close(compiled(x), model(x), msg=change.__name__)
        replace_parameter(model)
        compiled.save(tmp_path / "model.alb")
        torch.testing.assert_close(albumen.load(tmp_path / "model.alb")(x), model(x))


@pytest.mark.parametrize("change", [replace_parameter, load, load_by_assignment, move, in_place, merge_adapter])
def test_torch_compile_without_a_recompile(change: Callable[[Perceptron], None]) -> None:
    torch._dynamo.reset()
    model, x = Perceptron(), torch.randn(2, 4)
    run = torch.compile(model, backend="albumen", fullgraph=True)
    with torch.no_grad(), torch.compiler.set_stance("default"):
        torch.testing.assert_close(run(x), model(x))
        change(model)
        with torch.compiler.set_stance("fail_on_recompile"):
            torch.testing.assert_close(run(x), model(x))


def lose_parameter(m: Perceptron) -> None:
    m.first = nn.Linear(4, 5, bias=False)


def other_module(m: Perceptron) -> None:
    m.first = nn.Bilinear(4, 5, 5)  # pyright: ignore[reportAttributeAccessIssue]


def other_type(m: Perceptron) -> None:
    m.first.weight = nn.Parameter(torch.randn(5, 4, dtype=torch.float64))


def other_shape(m: Perceptron) -> None:
    m.first.weight = nn.Parameter(torch.randn(5, 5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lose_parameter, "module 'first' is not what it was"),
        (other_module, "module 'first' is not what it was"),
        (other_type, r"'first.weight' was replaced by a tensor of dtype torch.float64, expected torch.float32"),
        (other_shape, r"'first.weight' was replaced by a tensor of shape \[5, 5\], expected \[5, 4\]"),
        (lambda m: m.double(), r"'first.weight': expected dtype f32, found f64"),
    ],
)
def test_what_cannot_be_used_is_an_error_at_each_call(change: Callable[[Perceptron], Any], message: str) -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    compiled = albumen.compile(model, (x,))
    compiled(x)
    change(model)
    for _ in range(2):
        with pytest.raises(LaunchError, match=message):
            compiled(x)


def test_tied_weights() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    model.first = nn.Linear(4, 4)
    model.second = nn.Linear(4, 4)
    model.second.weight = model.first.weight
    model.k = torch.ones(4)
    compiled = albumen.compile(model, (x,))
    with torch.no_grad():
        model.first.weight.mul_(3)
        torch.testing.assert_close(compiled(x), model(x))
    replace_parameter(model)
    with pytest.raises(LaunchError, match="that were one"):
        compiled(x)


class Regularised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.dropout = nn.Linear(4, 5), nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.first(x))


class Branching(Perceptron):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) if self.training else x.clone()


def test_another_mode_is_an_error_at_each_call() -> None:
    model, x = Regularised().eval(), torch.randn(2, 4)
    compiled = albumen.compile(model, (x,))
    for change in (model.train, model.dropout.train):
        change()
        for _ in range(2):
            with pytest.raises(LaunchError, match=r"'dropout' is in training mode, .* in evaluation mode"):
                compiled(x)
        model.eval()
        torch.testing.assert_close(compiled(x), model(x))
    model.dropout = nn.Dropout(0.5)  # in training mode, as modules are made
    with pytest.raises(LaunchError, match="'dropout' is in training mode"):
        compiled(x)
    model.dropout.eval()
    torch.testing.assert_close(compiled(x), model(x))


def test_modes_count_where_code_reads_them() -> None:
    model, x = Branching(), torch.randn(2, 4)
    compiled = albumen.compile(model, (x,))
    model.eval()
    with pytest.raises(LaunchError, match="the model is in evaluation mode"):
        compiled(x)
    plain = Perceptron()
    compiled = albumen.compile(plain, (x,))
    torch.testing.assert_close(compiled(x), plain.eval()(x))


def test_torch_compile_follows_the_mode() -> None:
    torch._dynamo.reset()
    model, x = Branching(), torch.randn(2, 4)
    run = torch.compile(model, backend="albumen", fullgraph=True)
    for mode in (True, False, True):
        model.train(mode)
        torch.testing.assert_close(run(x), model(x))
