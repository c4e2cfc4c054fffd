"""Graphs of AOTAutograd through the importer and the evaluator, called by torch.compile: values, gradients, mutation,
dynamic sizes."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from albumen.dialects.dtype import dtype_of_numpy
from albumen.dialects.evaluate import evaluate_function
from albumen.lowering.torch.backend import GraphCompiler, aot_functions
from albumen.lowering.torch.binding import SymbolBinding
from albumen.lowering.torch.element_types import TORCH_OF_NAME
from albumen.lowering.torch.function import ImportedGraph
from albumen.lowering.torch.outputs import output_function
from albumen.lowering.torch.traced import import_traced
from albumen.lowering.torch.weight_memory import in_memory_order

pytestmark = pytest.mark.torch


def as_array(x: torch.Tensor) -> np.ndarray:
    return x.numpy() if x.dtype is not torch.bfloat16 else x.float().numpy().astype("bfloat16")


def as_tensor(x: np.ndarray) -> torch.Tensor:
    if x.dtype == np.dtype("bfloat16"):
        return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(np.array(x)).to(TORCH_OF_NAME[dtype_of_numpy(x.dtype).name])


class Evaluator(GraphCompiler):
    """Runs imported graphs on numpy and keeps them for inspection."""

    def __init__(self) -> None:
        super().__init__(None, ())
        self.graphs: list[ImportedGraph] = []

    def compile(self, graph_module: Any, static_inputs: Sequence[int], names: Sequence[str]) -> Any:
        imported = import_traced(graph_module, static_inputs=static_inputs)
        imported.module.verify()
        self.graphs.append(imported)
        binding = SymbolBinding(imported)

        def call(values: list[Any]) -> list[Any]:
            symbols = binding.symbols(values)
            arrays = [
                np.array(values[s.placeholder])
                if s.role == "scalar"
                else as_array(in_memory_order(values[s.placeholder], s).contiguous())
                for s in imported.inputs
            ]
            results = [as_tensor(r) for r in evaluate_function(imported.module, "main", arrays, symbols)]
            count = len(imported.mutated)
            for index, result in zip(imported.mutated, results[:count], strict=True):
                slot = imported.inputs[index]
                values[slot.placeholder].copy_(result.permute([slot.order.index(i) for i in range(len(slot.order))]))
            orders = imported.result_orders
            backs = [[order.index(i) for i in range(len(order))] for order in orders]
            logical = [result.contiguous().permute(back) for result, back in zip(results[count:], backs, strict=True)]
            outputs: list[Any] = []
            for slot in imported.outputs:
                position = None if slot.alias is None else imported.inputs[slot.alias].placeholder
                source = None if position is None else (lambda values, p=position: values[p])
                outputs.append(output_function(slot, source)(values, logical, symbols))
            values.clear()
            return outputs

        call._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
        return call


@pytest.fixture
def evaluator() -> Evaluator:
    torch._dynamo.reset()
    return Evaluator()


def compiled(model: Callable[..., Any], evaluator: Evaluator, **options: Any) -> Callable[..., Any]:
    return torch.compile(model, backend=lambda gm, inputs: aot_functions(gm, inputs, evaluator), **options)


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(6, 8), nn.Linear(8, 3), nn.LayerNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.log_softmax(self.second(F.gelu(self.norm(torch.relu(self.first(x))))), -1)


def test_inference(evaluator: Evaluator) -> None:
    model, x = Perceptron(), torch.randn(4, 6)
    with torch.no_grad():
        torch.testing.assert_close(compiled(model, evaluator)(x), model(x))
    (imported,) = evaluator.graphs
    assert sorted(slot.role for slot in imported.inputs) == ["input"] + ["parameter"] * 6


def test_training(evaluator: Evaluator) -> None:
    model, x = Perceptron(), torch.randn(4, 6, requires_grad=True)
    model(x)[:, 0].sum().backward()
    expected = [p.grad.clone() for p in (x, *model.parameters()) if p.grad is not None]
    for p in (x, *model.parameters()):
        p.grad = None
    compiled(model, evaluator)(x)[:, 0].sum().backward()
    for found, wanted in zip((x, *model.parameters()), expected, strict=True):
        torch.testing.assert_close(found.grad, wanted)
    forward, _ = evaluator.graphs
    kept = [slot for slot in forward.outputs if slot.alias is not None]
    assert kept  # weights that the backward pass reads again
    assert all(slot.result < 0 for slot in kept)  # are not copied


def test_training_of_attention_and_embedding(evaluator: Evaluator) -> None:
    embedding, project = nn.Embedding(20, 16), nn.Linear(16, 48)

    def loss(tokens: torch.Tensor) -> torch.Tensor:
        q, k, v = project(embedding(tokens)).view(2, 5, 3, 2, 8).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.silu(a).softmax(-1).pow(2).sum()

    tokens = torch.randint(0, 20, (2, 5))
    parameters = [*embedding.parameters(), *project.parameters()]
    expected = torch.autograd.grad(loss(tokens), parameters)
    found = torch.autograd.grad(compiled(loss, evaluator)(tokens), parameters)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_training_of_convolution(evaluator: Evaluator) -> None:
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, padding=1, groups=2), nn.Flatten()
    )
    x = torch.randn(2, 2, 9, 9, requires_grad=True)
    expected = torch.autograd.grad(model(x).square().sum(), [x, *model.parameters()])
    found = torch.autograd.grad(compiled(model, evaluator)(x).square().sum(), [x, *model.parameters()])
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


def test_dynamic_sizes(evaluator: Evaluator) -> None:
    def model(x: torch.Tensor, factor: int) -> tuple[torch.Tensor, int]:
        return (x.view(-1, 2).softmax(1) * factor).sum(0, keepdim=True).expand(factor, 2) + x.shape[0], x.shape[
            0
        ] * factor

    run = compiled(model, evaluator, dynamic=True)
    for rows, factor in ((6, 3), (10, 4), (14, 5)):
        x = torch.randn(rows)
        found, expected = run(x, factor), model(x, factor)
        torch.testing.assert_close(found[0], expected[0])
        assert found[1] == expected[1]
    assert len(evaluator.graphs) == 1
    assert "scalar" in [slot.role for slot in evaluator.graphs[0].inputs]


def test_training_with_dynamic_sizes(evaluator: Evaluator) -> None:
    model = Perceptron()
    run = compiled(model, evaluator, dynamic=True)
    for rows in (5, 7):
        x = torch.randn(rows, 6, requires_grad=True)
        (expected,) = torch.autograd.grad(model(x).square().sum(), [x])
        (found,) = torch.autograd.grad(run(x).square().sum(), [x])
        torch.testing.assert_close(found, expected)
    assert len(evaluator.graphs) == 2


class Counter(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.count += x.sum(0)
        cache[:, 1:3] = x[:, :2]
        y = cache * 2
        return y, y


def test_mutation_of_buffers_and_inputs(evaluator: Evaluator) -> None:
    model, reference = Counter(), Counter()
    x, cache = torch.randn(2, 3), torch.zeros(2, 4)
    other = cache.clone()
    run = compiled(model, evaluator)
    with torch.no_grad():
        for _ in range(2):
            found, expected = run(x, cache), reference(x, other)
            torch.testing.assert_close(found, expected)
    torch.testing.assert_close(cache, other)
    torch.testing.assert_close(model.count, reference.count)
    assert len(evaluator.graphs[0].mutated) == 2


def test_constants_inside_the_graph(evaluator: Evaluator) -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return x.index_put((torch.tensor([0, 0, 2]),), torch.tensor([1.0, 2.0, 3.0]), accumulate=True)

    x = torch.zeros(3)
    torch.testing.assert_close(compiled(model, evaluator)(x), model(x))


def test_views_of_inputs_stay_views(evaluator: Evaluator) -> None:
    x = torch.randn(2, 3)
    y, z = compiled(lambda x: (x.t(), x[0] + 1), evaluator)(x)
    assert y.data_ptr() == x.data_ptr()
    torch.testing.assert_close(z, x[0] + 1)


def test_strided_inputs(evaluator: Evaluator) -> None:
    base = torch.randn(4, 6)
    for x in (base.t(), base[:, ::2], base[1:, 1:], base[:1].expand(4, 6)):
        torch.testing.assert_close(compiled(lambda x: x.softmax(0) @ x.t(), evaluator)(x), x.softmax(0) @ x.t())
        torch._dynamo.reset()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.int32, torch.bool], ids=str)
def test_dtypes(evaluator: Evaluator, dtype: torch.dtype) -> None:
    x = (torch.rand(3, 4) * 5).to(dtype)
    torch.testing.assert_close(compiled(lambda x: (x + x, x.sum(), x == x), evaluator)(x), (x + x, x.sum(), x == x))


def test_training_of_batch_norm(evaluator: Evaluator) -> None:
    def build() -> nn.Sequential:
        torch.manual_seed(3)
        return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())

    model, reference, x = build(), build(), torch.randn(3, 2, 6, 6)
    expected = torch.autograd.grad(reference(x).square().sum(), list(reference.parameters()))
    found = torch.autograd.grad(compiled(model, evaluator)(x).square().sum(), list(model.parameters()))
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-3)
    for a, b in zip(model.buffers(), reference.buffers(), strict=True):
        torch.testing.assert_close(a, b)
