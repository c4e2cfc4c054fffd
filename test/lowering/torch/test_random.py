"""Random numbers: eager's own values and generator states, or those of the program under a seed."""

# torch's own types are partly unknown.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed
from torch.utils import _pytree

import albumen
from albumen.dialects.errors import OptionError

pytestmark = pytest.mark.torch

PHILOX: dict[str, Any] = {"random": "philox"}


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


def compiled(function: Callable[..., Any], dynamic: bool = False, **options: Any) -> Callable[..., Any]:
    return torch.compile(function, backend="albumen", fullgraph=True, dynamic=dynamic, options=options)


def assert_as_eager(function: Callable[..., Any], *args: Any, dynamic: bool = False) -> None:
    """Equal values, dtypes, strides and generator states, at two calls in a row."""
    run = compiled(function, dynamic)
    results, states = [], []
    for candidate in (function, run):
        torch.manual_seed(11)
        results.append(_pytree.tree_leaves([candidate(*args), candidate(*args)]))
        states.append(torch.get_rng_state())
    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6, check_stride=True)
    assert torch.equal(*states)


def creations(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        torch.rand(3, 4),
        torch.randn(20),
        torch.rand(5, dtype=torch.bfloat16),
        torch.randn(5, dtype=torch.float64),
        torch.randint(0, 5, (3,)),
        torch.randint(-4, 9, (2, 3), dtype=torch.int32),
        torch.randperm(7),
        torch.rand_like(x),
        torch.randn_like(x.t()),
        torch.randint_like(x, 9),
        torch.normal(0.5, 2.0, (3,)),
        torch.rand(0),
        torch.randn(()),
    ]


def in_place(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        torch.empty(3).uniform_(-1, 2),
        torch.empty(17).normal_(1, 2),
        torch.empty(5, 7).t().normal_(),
        torch.empty(3).exponential_(2.0),
        torch.empty(3).cauchy_(1.0, 2.0),
        torch.empty(3).log_normal_(),
        torch.empty(3, dtype=torch.int64).geometric_(0.2),
        torch.empty(30).bernoulli_(0.3),
        torch.empty(3, 4).bernoulli_(x.sigmoid()),
    ]


def of_tensors(x: torch.Tensor) -> list[torch.Tensor]:
    p = x.sigmoid()
    return [
        torch.bernoulli(p),
        torch.bernoulli(p.double()),
        torch.bernoulli(p, 0.25),
        torch.normal(x, p),
        torch.normal(x, 2.0),
        torch.normal(1.0, p),
        torch.normal(x.bfloat16(), p.bfloat16()),
        torch.multinomial(p, 1),
        torch.multinomial(p, 3),
        torch.multinomial(p, 6, True),
        torch.multinomial(p[0], 2, True),
    ]


def layers(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        F.dropout(x, 0.3),
        F.dropout(x.bfloat16(), 0.1),
        F.dropout(x, 1.0),
        F.dropout(x, 0.0),
        F.dropout(x, 0.3, training=False),
        F.dropout2d(x[None, :, :, None], 0.3),
        F.alpha_dropout(x, 0.3, True),
        F.feature_alpha_dropout(x[None], 0.3, True),
        F.gumbel_softmax(x),
        F.gumbel_softmax(x, hard=True),
        F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.3),
    ]


def unread(x: torch.Tensor) -> torch.Tensor:
    """Draws what nobody reads."""
    torch.rand(3)
    F.dropout(x, 0.5)
    return x + torch.rand(4)


@pytest.mark.parametrize("function", [creations, in_place, of_tensors, layers, unread])
def test_values_and_generator_are_those_of_eager(function: Callable[..., Any]) -> None:
    assert_as_eager(function, torch.randn(3, 4))


def test_nan_and_signed_zero_pass_through_dropout() -> None:
    x = torch.tensor([float("nan"), float("inf"), -0.0, 0.0, -1.0] * 8)
    run = compiled(lambda x: F.dropout(x, 0.5))
    torch.manual_seed(3)
    expected = F.dropout(x, 0.5)
    torch.manual_seed(3)
    found = run(x)
    assert torch.equal(found.view(torch.int32), expected.view(torch.int32))


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("weights", [[1.0, -1.0], [0.0, 0.0], [1.0, float("nan")], [float("inf"), 1.0]])
def test_weights_that_are_none(weights: list[float], replacement: bool) -> None:
    run = compiled(lambda p: torch.multinomial(p, 2, replacement))
    p = torch.tensor([[1.0, 2.0], weights])
    for function in (lambda p: torch.multinomial(p, 2, replacement), run):
        with pytest.raises(RuntimeError):
            function(p)
    assert run(p[:1].expand(2, 2).clone()).shape == (2, 2)


def test_more_samples_than_there_are_without_replacement() -> None:
    with pytest.raises(RuntimeError, match="cannot sample n_sample"):
        compiled(lambda p: torch.multinomial(p, 3))(torch.ones(2))


def test_sizes_that_change() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n = x.shape[0]
        return F.dropout(x, 0.5), torch.rand(n * 2), torch.randint(0, n, (4,)), torch.randperm(n)

    run = compiled(function, dynamic=True)
    for rows in (5, 9, 1, 30):
        x = torch.randn(rows, 4)
        torch.manual_seed(rows)
        expected = function(x)
        torch.manual_seed(rows)
        for a, b in zip(run(x), expected, strict=True):
            assert torch.equal(a, b)


def test_forward_and_backward_see_one_mask() -> None:
    x = torch.randn(40, 8, requires_grad=True)
    options: dict[str, Any]
    for options in ({}, PHILOX):
        torch._dynamo.reset()
        y = compiled(lambda x: F.dropout(x * 2, 0.4), **options)(x)
        (grad,) = torch.autograd.grad(y.sum(), x)
        assert torch.equal(grad != 0, y != 0)
        torch.testing.assert_close(grad[grad != 0].unique(), torch.tensor([2 / 0.6]))


class DrawnInBackward(torch.autograd.Function):
    """Its gradient is noise, drawn in the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        return grads[0] * torch.rand_like(grads[0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.dropout(x, 0.3) * x,  # the product saves x, from which backward could draw again
        lambda x: F.dropout(torch.relu(x) @ x.T, 0.3) @ x,
        lambda x: F.alpha_dropout(x, 0.3) * x,
        lambda x: torch.bernoulli(x.detach().sigmoid()) * x,
        lambda x: DrawnInBackward.apply(x) * x,
    ],
)
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # dynamo's own, of a Function
def test_steps_of_training_leave_eagers_generator(function: Callable[..., Any]) -> None:
    run = compiled(function)
    x = torch.randn(12, 12, requires_grad=True)
    found, expected = [], []
    for called, steps in ((run, found), (function, expected)):
        torch.manual_seed(3)
        for _ in range(2):
            (grad,) = torch.autograd.grad(called(x).sum(), x)
            steps.append((grad, torch.get_rng_state()))
    for (grad, state), (eager_grad, eager_state) in zip(found, expected, strict=True):
        assert torch.equal(state, eager_state)
        torch.testing.assert_close(grad, eager_grad)


@pytest.mark.parametrize("options", [{}, PHILOX], ids=["eager", "philox"])
def test_a_seed_repeats_and_calls_differ(options: dict[str, Any]) -> None:
    run = compiled(lambda: torch.rand(50), **options)
    torch.manual_seed(5)
    first, second = run(), run()
    assert not torch.equal(first, second)
    torch.manual_seed(5)
    assert torch.equal(run(), first)
    assert torch.equal(run(), second)
    torch.manual_seed(6)
    with torch.random.fork_rng():
        inside = run()
    assert torch.equal(run(), inside)


def test_slopes_that_are_drawn_need_philox() -> None:
    with pytest.raises(BackendCompilerFailed, match=r"depends on data.*random='philox'"):
        compiled(lambda x: F.rrelu(x, training=True))(torch.randn(4))
    torch._dynamo.reset()
    x = torch.linspace(-3, 3, 1001, requires_grad=True)
    y = compiled(lambda x: F.rrelu(x, 0.1, 0.3, training=True), **PHILOX)(x)
    (grad,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(y, grad * x)
    assert bool((grad[x > 0] == 1).all())
    slopes = grad[x <= 0]
    assert float(slopes.min()) >= 0.1
    assert float(slopes.max()) <= 0.3
    assert abs(float(slopes.mean()) - 0.2) < 0.02


class Noisy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(x) + 0.001 * torch.randn_like(x)


def test_modules_in_training_mode_and_saved_programs(tmp_path: Path) -> None:
    x = torch.ones(64, 64)
    model = albumen.compile(Noisy().train(), (x,))
    torch.manual_seed(2)
    first, second = model(x), model(x)
    assert not torch.equal(first, second)
    torch.manual_seed(2)
    assert torch.equal(model(x), first)
    assert abs(float(first.mean()) - 1) < 0.1
    model.save(tmp_path / "noisy.alb")
    program = albumen.load(tmp_path / "noisy.alb", device="cpu")
    assert [item.name for item in program.inputs][-1] == "seed"
    seeds = [np.array(seed, np.int64) for seed in (7, 7, 8)]
    results = [program(x.numpy(), seed) for seed in seeds]
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_an_unknown_source_is_an_error() -> None:
    with pytest.raises((BackendCompilerFailed, OptionError), match="random has no value 'dice'"):
        compiled(lambda: torch.rand(3), random="dice")()
