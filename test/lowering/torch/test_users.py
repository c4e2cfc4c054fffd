"""What users of torch expect around a compiled model: modes, the profiler, copies, threads, hooks, graph breaks."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed

import albumen
from albumen.dialects.errors import OptionError
from albumen.runtime.errors import LaunchError

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 5), nn.Linear(5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x).relu())

    def half(self, x: torch.Tensor) -> torch.Tensor:
        return self.first(x) * 2


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(function, backend="albumen", **options)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_modes(mode: str) -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    torch.testing.assert_close(compiled(model, mode=mode)(x), model(x))


@pytest.mark.parametrize("mode", ["max-autotune", "max-autotune-no-cudagraphs", "quick"])
def test_a_mode_that_is_never_done_is_an_error(mode: str) -> None:
    with pytest.raises(BackendCompilerFailed, match=f"mode='{mode}' has no counterpart") as info:
        compiled(Perceptron(), mode=mode)(torch.randn(2, 4))
    assert isinstance(info.value.inner_exception, OptionError)


def test_calls_have_names_in_the_profiler() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    run, program = compiled(model), albumen.compile(model, (x,))
    run(x).sum().backward()
    with torch.profiler.profile() as profile:
        run(x).sum().backward()
        program(x)
    names = [event.key for event in profile.key_averages() if event.key.startswith("albumen")]
    assert sorted(names) == ["albumen 0/0 graph 0", "albumen 0/0 graph 1", "albumen Perceptron"]


def test_copies_and_pickles() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    run, program = compiled(model), albumen.compile(model, (x,))
    torch.testing.assert_close(run(x), program(x))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(run)):
        torch.testing.assert_close(other(x), model(x))
    for act in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"save\(path\) writes it to a file"):
            act(program)


def test_inference_mode_and_reset() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    run = compiled(model)
    with torch.inference_mode():
        assert run(x).is_inference()
        torch.testing.assert_close(run(x), model(x))
    torch.compiler.reset()
    run(x).sum().backward()
    assert model.first.weight.grad is not None


def test_a_program_computes_no_gradients() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    program = albumen.compile(model, (x,))
    with torch.no_grad():
        expected = program(x.requires_grad_())
    with pytest.raises(LaunchError, match="requires a gradient"):
        program(x)
    torch.testing.assert_close(program(x.detach()), expected)


def test_methods_lists_and_disabled_parts() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    torch.testing.assert_close(compiled(model.half, fullgraph=True)(x), model.half(x))
    parts = nn.ModuleList([Perceptron(), nn.ReLU()])
    expected = parts[1](parts[0](x))
    parts[0].compile(backend="albumen")
    torch.testing.assert_close(parts[1](parts[0](x)), expected)
    tripled: Any = torch.compiler.disable(lambda y: y * 3)
    torch.testing.assert_close(compiled(lambda y: tripled(y + 1) - 1)(x), (x + 1) * 3 - 1)
    assert torch._dynamo.explain(model)(x).graph_break_count == 0


def test_graph_breaks_of_the_users_own() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2 if y.sum() > 0 else y - 1

    for x in (torch.ones(3), -torch.ones(3) * 5):
        torch.testing.assert_close(compiled(function)(x), function(x))


def test_hooks() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    model.first.register_forward_hook(lambda *call: call[2] * 2)
    model.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    torch.testing.assert_close(compiled(model)(x), model(x))
    model.zero_grad()
    model.second.bias.register_hook(lambda gradient: gradient * 2)
    compiled(model)(x).sum().backward()
    torch.testing.assert_close(model.second.bias.grad, torch.full((3,), 4.0))


def test_threads() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    run, program = compiled(model), albumen.compile(model, (x,))
    expected, failures = model(x), []
    run(x)

    def work() -> None:
        try:
            for _ in range(20):
                torch.testing.assert_close(run(x), expected)
                torch.testing.assert_close(program(x), expected)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("precision", ["highest", "high", "medium"])
def test_matmul_precision_allows_less_and_changes_nothing(precision: str) -> None:
    x = torch.randn(8, 8)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        torch.testing.assert_close(compiled(lambda y: y @ y)(x), x @ x)
    finally:
        torch.set_float32_matmul_precision(before)


def test_functions_of_torch_func() -> None:
    model, x = Perceptron(), torch.randn(2, 4)
    gradient = torch.func.grad(lambda v: model(v).sin().sum())
    torch.testing.assert_close(compiled(gradient)(x), gradient(x))
    mapped = torch.vmap(lambda v: model.first(v).sin())
    torch.testing.assert_close(compiled(mapped)(x), mapped(x))
    weights = {name: value.detach() * 2 for name, value in model.named_parameters()}

    def swapped(state: dict[str, torch.Tensor], v: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(model, state, (v,))

    torch.testing.assert_close(compiled(swapped)(weights, x), swapped(weights, x))
