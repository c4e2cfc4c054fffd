"""`torch.compile(backend="albumen")` down to machine code and back: values, training, sizes, mutation, options, the
cache."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed

import albumen.lowering.torch.compilation as compilation
from albumen.dialects.errors import OptionError, UnsupportedError

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.log_softmax(F.gelu(self.layers(x)), -1)


def test_the_backend_is_known_by_its_name() -> None:
    assert "albumen" in torch._dynamo.list_backends()


def test_inference_and_training() -> None:
    model, x = Perceptron(), torch.randn(5, 6)
    run = torch.compile(model, backend="albumen", dynamic=False)
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x))
        first = run(x)
        torch.testing.assert_close(run(x * 2), model(x * 2))
        torch.testing.assert_close(first, model(x))  # earlier results are the caller's
    expected = torch.autograd.grad(model(x)[:, 0].sum(), list(model.parameters()))
    found = torch.autograd.grad(run(x)[:, 0].sum(), list(model.parameters()))
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_gradients_taken_inside() -> None:
    def model(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(x.amax(), x) + torch.autograd.grad((x * x).sum(), x)

    x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
    torch.testing.assert_close(torch.compile(model, backend="albumen")(x), model(x))


def test_one_program_for_many_sizes() -> None:
    model = Perceptron()
    run = torch.compile(model, backend="albumen", dynamic=True)
    with torch.no_grad():
        for rows in (5, 1, 33, 0, 7):
            x = torch.randn(rows, 6)
            torch.testing.assert_close(run(x), model(x))


def test_sizes_as_numbers() -> None:
    def model(x: torch.Tensor, factor: int) -> tuple[torch.Tensor, int]:
        return x.view(-1, 2).sum(1) * factor + x.shape[0], x.shape[0] * factor

    run = torch.compile(model, backend="albumen", dynamic=True)
    for rows, factor in ((6, 3), (10, 4)):
        x = torch.randn(rows)
        found, expected = run(x, factor), model(x, factor)
        torch.testing.assert_close(found[0], expected[0])
        assert found[1] == expected[1]


class Cache(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> tuple[torch.Tensor, ...]:
        self.count += x.sum(0)
        cache[:, 1:3] = x[:, :2]
        y = cache * 2
        return y, y, x.t()


def test_mutation_and_aliases() -> None:
    model, reference, x = Cache(), Cache(), torch.randn(2, 3)
    for cache in (torch.zeros(2, 4), torch.zeros(4, 8)[::2, ::2], torch.zeros(4, 2).t()):
        other = cache.clone()
        run = torch.compile(model, backend="albumen", dynamic=False)
        with torch.no_grad():
            for _ in range(2):
                found, expected = run(x, cache), reference(x, other)
                for a, b in zip(found, expected, strict=True):
                    torch.testing.assert_close(a, b)
        torch.testing.assert_close(cache, other)
        assert found[2].data_ptr() == x.data_ptr()
        assert found[0].data_ptr() != cache.data_ptr()
    torch.testing.assert_close(model.count, reference.count)


def test_memory_that_is_not_row_major() -> None:
    weight = torch.randn(8, 3).t()

    def model(x: torch.Tensor) -> torch.Tensor:
        return (x @ weight).softmax(-1)

    base = torch.randn(6, 8)
    for x in (base[:, ::2][:, :3], base.t()[:6, :3], base[:1, :3].expand(4, 3)):
        torch.testing.assert_close(torch.compile(model, backend="albumen", dynamic=False)(x), model(x))
    image = torch.randn(2, 3, 5, 4).contiguous(memory_format=torch.channels_last)
    found = torch.compile(lambda x: x * 2 + 1, backend="albumen", dynamic=False)(image)
    torch.testing.assert_close(found, image * 2 + 1)
    assert found.stride() == image.stride()


def test_weights_are_read_where_they_lie() -> None:
    model, x = Perceptron(), torch.randn(4, 6)
    run = torch.compile(model, backend="albumen", dynamic=False)
    with torch.no_grad():
        run(x)
        for parameter in model.parameters():
            parameter.mul_(0.5)
        torch.testing.assert_close(run(x), model(x))
        model.layers[0].weight.data = torch.randn(8, 6)
        torch.testing.assert_close(run(x), model(x))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int32, torch.bool], ids=str)
def test_element_types(dtype: torch.dtype) -> None:
    def model(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x + x, x.sum(), x == x[:1], x.to(torch.float32).mean(), x.to(torch.float64).cumsum(0)

    x = (torch.rand(3, 4) * 5).to(dtype)
    torch.testing.assert_close(torch.compile(model, backend="albumen", dynamic=False)(x), model(x))


def test_the_second_compile_comes_from_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ALBUMEN_CACHE_DIR", str(tmp_path / "cache"))
    model, x = Perceptron(), torch.randn(3, 6)
    with torch.no_grad():
        torch.compile(model, backend="albumen", dynamic=False)(x)
        torch._dynamo.reset()

        def refuse(*_: Any) -> None:
            raise AssertionError("compiled again")

        monkeypatch.setattr(compilation, "compile_module", refuse)
        torch.testing.assert_close(torch.compile(model, backend="albumen", dynamic=False)(x), model(x))


def test_the_ir_of_every_graph_is_dumped(tmp_path: Path) -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return x.exp() + 1

    run = torch.compile(model, backend="albumen", dynamic=False, options={"dump_ir": str(tmp_path)})
    run(torch.randn(3))
    run(torch.randn(4))
    for graph in ("graph0", "graph1"):
        names = sorted(path.name for path in (tmp_path / graph).iterdir())
        assert names[0] == "00-import.mlir"
        assert names[-1].endswith("-emit.mlir")


def cause(error: BackendCompilerFailed) -> BaseException:
    return error.inner_exception


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"options": {"tarjet": "c"}}, "did you mean target"),
        ({"options": {"target": "cuda"}}, "does not run where the tensors lie"),
        ({"options": {"numerics": "wild"}}, "no value 'wild'"),
        ({"mode": "max-autotune"}, "max-autotune"),
    ],
)
def test_wrong_options(keywords: dict[str, Any], message: str) -> None:
    run = torch.compile(lambda x: x + 1, backend="albumen", **keywords)
    with pytest.raises(BackendCompilerFailed) as info:
        run(torch.randn(3))
    assert isinstance(cause(info.value), OptionError)
    assert message in str(cause(info.value))


def test_unsupported_calls_reach_the_user() -> None:
    run = torch.compile(lambda x: torch.fft.rfft(x).abs(), backend="albumen")
    with pytest.raises(BackendCompilerFailed) as info:
        run(torch.randn(8))
    assert isinstance(cause(info.value), UnsupportedError)
    assert "aten._fft_r2c.default" in str(cause(info.value))
